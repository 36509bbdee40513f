package main

import (
	"context"

	"github.com/rondo-engine/rondo/internal/proc"
	"github.com/rondo-engine/rondo/tool/builtin"
	"github.com/rondo-engine/rondo/window"
)

// openProcesses makes what the shell's processes in the background are kept by.
func (s *setup) openProcesses() *builtin.Processes {
	s.processes = builtin.NewProcesses(builtin.ProcessesOptions{Start: s.confined.start})
	s.hooks = append(s.hooks, s.processes.Hooks())
	return s.processes
}

// start starts a command in the background within its confinement.
func (c *confinement) start(cmd proc.Cmd, terminal *proc.Terminal) (*proc.Background, error) {
	if c.on {
		var err error
		if cmd, err = c.policy.Wrap(cmd); err != nil {
			return nil, err
		}
	}
	return proc.Start(cmd, terminal)
}

// endProcesses ends what runs in the background.
func (s *setup) endProcesses() {
	if s.processes == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), commandsWait)
	defer cancel()
	s.processes.Close(ctx)
}

// carryProcesses carries over a compression which processes a session has running.
func (s *setup) carryProcesses(session string) []window.Section {
	if text := s.processes.Carried(session); text != "" {
		return []window.Section{{Title: "Processes in the background", Text: text}}
	}
	return nil
}
