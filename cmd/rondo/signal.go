package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// statusStopped is the exit status of a run that a signal stopped.
const statusStopped = 130

var errSignal = errors.New("stopped by a signal")

// sameStop is how soon a second signal is still part of the first: timeout(1) and
// others signal a process and then its group.
const sameStop = 250 * time.Millisecond

// stopOnSignal returns a context that the first signal ends, so that the run
// stops cleanly; a second one ends the program at once.
func stopOnSignal(ctx context.Context, env *environment) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		var first time.Time
		for {
			select {
			case <-done:
				return
			case s := <-signals:
				now := env.Now()
				if !first.IsZero() && now.Sub(first) > sameStop && s != syscall.SIGPIPE {
					os.Exit(statusStopped)
				}
				if first.IsZero() {
					first = now
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
