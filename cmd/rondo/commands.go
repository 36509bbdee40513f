package main

import (
	"context"
	"sync"
	"time"

	"github.com/rondo-engine/rondo/internal/proc"
)

// commandsWait bounds the wait for commands that are being ended. It is more
// than ending one takes, and fits into the second that a stop may take.
const commandsWait = 500 * time.Millisecond

// commands are the commands of the shell tool that run. A run does not wait for
// a call that takes long to be stopped; the program does, so that no process
// outlives it.
type commands struct{ running sync.WaitGroup }

func (c *commands) run(ctx context.Context, cmd proc.Cmd) (proc.Result, error) {
	c.running.Add(1)
	defer c.running.Done()
	return proc.Run(ctx, cmd)
}

// wait returns when no command runs any more, and soon in any case.
func (c *commands) wait() {
	ended := make(chan struct{})
	go func() {
		c.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(commandsWait):
	}
}
