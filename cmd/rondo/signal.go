package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// statusStopped is the exit status of a run that a signal stopped.
const statusStopped = 130

var errSignal = errors.New("stopped by a signal")

// sameStop is how soon a second signal is still part of the first: timeout(1) and
// others signal a process and then its group.
const sameStop = 250 * time.Millisecond

// stopper ends a run by signals.
type stopper struct {
	// listening is closed when signals are listened to; until then they end
	// the program. To begin takes a moment.
	listening chan struct{}
	done      chan struct{}
	cancel    context.CancelCauseFunc
	armed     atomic.Bool
}

// stopOnSignal returns a context that the first signal ends once the stopper is
// armed, so that the run stops cleanly; a second one ends the program at once.
// Until then signals have their usual meaning.
func stopOnSignal(ctx context.Context, env *environment) (context.Context, *stopper) {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &stopper{listening: make(chan struct{}), done: make(chan struct{}), cancel: cancel}
	go func() {
		signals := make(chan os.Signal, 2)
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
		defer signal.Stop(signals)
		close(s.listening)
		s.obey(signals, env.Now)
	}()
	return ctx, s
}

// arm has signals end the context from now on.
func (s *stopper) arm() { s.armed.Store(true) }

// end gives signals their usual meaning back.
func (s *stopper) end() {
	close(s.done)
	s.cancel(nil)
}

func (s *stopper) obey(signals <-chan os.Signal, clock func() time.Time) {
	var first time.Time
	for {
		select {
		case <-s.done:
			return
		case sig := <-signals:
			now := clock()
			if !s.armed.Load() {
				die(sig)
			}
			if !first.IsZero() && now.Sub(first) > sameStop && sig != syscall.SIGPIPE {
				os.Exit(statusStopped)
			}
			if first.IsZero() {
				first = now
			}
			s.cancel(fmt.Errorf("%w: %v", errSignal, sig))
		}
	}
}

// die ends the program as the signal does where nobody listens.
func die(sig os.Signal) {
	signal.Reset(sig)
	if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(sig) == nil {
		time.Sleep(time.Second) // it is on its way
	}
	os.Exit(statusStopped) // some systems know no such signals
}
