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
// stops cleanly; a second one ends the program at once. To begin to listen takes
// a moment, and until listening is closed a signal ends the program, too.
func stopOnSignal(ctx context.Context, env *environment) (_ context.Context, listening <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	begun, done := make(chan struct{}), make(chan struct{})
	go func() {
		signals := make(chan os.Signal, 2)
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
		defer signal.Stop(signals)
		close(begun)
		obey(signals, done, env.Now, cancel)
	}()
	return ctx, begun, func() {
		close(done)
		cancel(nil)
	}
}

// obey calls cancel with each signal until done is closed.
func obey(signals <-chan os.Signal, done <-chan struct{}, clock func() time.Time, cancel context.CancelCauseFunc) {
	var first time.Time
	for {
		select {
		case <-done:
			return
		case s := <-signals:
			now := clock()
			if !first.IsZero() && now.Sub(first) > sameStop && s != syscall.SIGPIPE {
				os.Exit(statusStopped)
			}
			if first.IsZero() {
				first = now
			}
			cancel(fmt.Errorf("%w: %v", errSignal, s))
		}
	}
}
