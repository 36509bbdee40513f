package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// statusStopped is the exit status of a run that a signal stopped.
const statusStopped = 130

var errSignal = errors.New("stopped by a signal")

// stopOnSignal returns a context that the first signal ends, so that the run
// stops cleanly; the second ends the program at once.
func stopOnSignal(ctx context.Context, env *environment) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case s := <-signals:
				if n > 0 && s != syscall.SIGPIPE {
					os.Exit(statusStopped)
				}
				cancel(fmt.Errorf("%w: %v", errSignal, s))
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}
