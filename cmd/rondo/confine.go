package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rondo-engine/rondo/internal/proc"
	"github.com/rondo-engine/rondo/internal/sandbox"
)

// confinement is how the commands of a run are confined.
type confinement struct {
	on     bool
	policy sandbox.Policy
	// run runs a command that is confined already.
	run func(ctx context.Context, c proc.Cmd) (proc.Result, error)
}

// confine makes the confinement that the settings ask for. What the kernel
// cannot do becomes a note for the user.
func (s *setup) confine(home string) error {
	s.confined = confinement{run: s.commands.run}
	if s.settings.Sandbox == "off" {
		return nil
	}
	if ok, text := sandbox.Confined(sandbox.Version()); !ok {
		s.notes = append(s.notes, text+"; rondo doctor says more, and --sandbox off ends this notice")
		if s.settings.SandboxNetwork {
			return nil
		}
	}
	user := s.env.Getenv("HOME")
	p := sandbox.Workspace(s.workspace.Dir(), user, s.env.Getenv)
	p.Hidden, p.Readable, p.Network = append(p.Hidden, home), []string{s.spill}, s.settings.SandboxNetwork
	switch s.settings.Sandbox {
	case "read-only":
		temp, err := os.MkdirTemp("", "rondo-")
		if err != nil {
			return fmt.Errorf("make a temporary directory for commands: %w", err)
		}
		s.temp, p.Temp, p.Writable = temp, temp, nil
	default:
		for _, dir := range s.settings.SandboxWritable {
			p.Writable = append(p.Writable, expandUser(dir, user))
		}
	}
	s.confined.on, s.confined.policy = true, p
	return nil
}

// expandUser makes ~/x a path below the user's home.
func expandUser(name, home string) string {
	if len(name) > 1 && name[0] == '~' && os.IsPathSeparator(name[1]) {
		return filepath.Join(home, name[2:])
	}
	return name
}

// command runs a command within its confinement.
func (c *confinement) command(ctx context.Context, cmd proc.Cmd) (proc.Result, error) {
	if c.on {
		var err error
		if cmd, err = c.policy.Wrap(cmd); err != nil {
			return proc.Result{}, err
		}
	}
	return c.run(ctx, cmd)
}
