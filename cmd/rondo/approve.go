package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/guard"
	"github.com/rondo-engine/rondo/internal/config"
	"github.com/rondo-engine/rondo/internal/sandbox"
)

// newGuard makes the guard that the settings ask for. ask asks a person; nil
// where there is none. What is allowed for always goes into the user's own
// settings.
func (s *setup) newGuard(ask func(context.Context, guard.Prompt) (guard.Answer, error)) (*guard.Guard, error) {
	home, err := s.env.home()
	if err != nil {
		return nil, err
	}
	user := s.env.Getenv("HOME")
	return guard.New(guard.Options{
		Workspace: s.workspace.Dir(), Home: user, Temp: s.env.tempDirs(),
		Secrets: append(sandbox.Secrets(user), filepath.Join(home, "config.yaml")),
		Getenv:  func(name string) (string, bool) { v := s.env.Getenv(name); return v, v != "" },
		Allow:   s.settings.Approvals.Allow, Deny: s.settings.Approvals.Deny,
		Mode: guard.Mode(s.settings.Approve), Ask: ask, Timeout: s.settings.Approvals.Timeout,
		Persist: func(rules []string) error { return config.AllowCommands(s.settings.HomeFile, rules) },
	}), nil
}

// tempDirs are the directories for temporary files.
func (e *environment) tempDirs() []string {
	dirs := []string{"/tmp", "/var/tmp"}
	if dir := e.Getenv("TMPDIR"); filepath.IsAbs(dir) {
		dirs = append([]string{filepath.Clean(dir)}, dirs...)
	}
	for _, dir := range dirs[:len(dirs):len(dirs)] {
		if r, err := filepath.EvalSymlinks(dir); err == nil && r != dir {
			dirs = append(dirs, r)
		}
	}
	return dirs
}

// approval answers rondo.Options.Approve. denied is told of each call that is
// not run; nil tells nobody.
func approval(g *guard.Guard, denied func(text string)) func(context.Context, rondo.ApprovalRequest) rondo.Approval {
	decide := rondo.GuardedBy(g)
	return func(ctx context.Context, r rondo.ApprovalRequest) rondo.Approval {
		a := decide(ctx, r)
		if !a.Allow && denied != nil {
			denied(fmt.Sprintf("not run: %s: %s", brief(callText(r), 100), a.Reason))
		}
		return a
	}
}

// callText is a call in a line: its command, else its tool and what it is about.
func callText(r rondo.ApprovalRequest) string {
	var args struct {
		Command string `json:"command"`
		Input   string `json:"input"`
		Path    string `json:"path"`
	}
	_ = json.Unmarshal(r.Call.Args, &args) // arguments of another form name none of these
	switch {
	case args.Command != "":
		return args.Command
	case args.Path != "":
		return r.Tool.Name + " " + args.Path
	case args.Input != "":
		return r.Tool.Name + " " + args.Input
	}
	return r.Tool.Name
}
