package rondo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// Busy says what becomes of a request whose session is busy with another run.
type Busy string

// What can be done. Requests that wait are served in the order in which they
// came, but for those that interrupt: they are next.
const (
	// BusyReject refuses the request with ErrBusy. The empty value is the same.
	BusyReject Busy = "reject"
	// BusyQueue waits until the session is free.
	BusyQueue Busy = "queue"
	// BusyInterrupt stops the other run and begins when that has ended.
	BusyInterrupt Busy = "interrupt"
	// BusySteer says the request's text to the other run, as Session.Steer
	// does, and returns ErrSteered. It is for text alone.
	BusySteer Busy = "steer"
)

var (
	// ErrBusy says that a session cannot begin a run because another goes on.
	// Steer the run, cancel it, or wait for its end.
	ErrBusy = errors.New("the session is busy with another run")
	// ErrSteered says that a request began no run of its own: its text went
	// into the one that goes on.
	ErrSteered = errors.New("the text went into the run that goes on")
)

// The causes of a run's end by Cancel and by a request that interrupts it.
var (
	errStopped  = errors.New("the user stopped the run")
	errReplaced = errors.New("the user sent another message")
)

// desk is where others leave word for the run of a session, and where runs wait
// for their turn. Who holds the turn is who set cancel.
type desk struct {
	mu sync.Mutex
	// cancel ends the run that goes on; nil when none does.
	cancel context.CancelCauseFunc
	// closed says that the run has stopped listening, though not yet ended.
	closed    bool
	steering  []string
	following []string
	waiting   []*waiter
}

// waiter is a run that waits for its turn.
type waiter struct {
	cancel context.CancelCauseFunc
	ready  chan struct{}
}

// enter claims the turn for a run. The context that it returns ends with ctx,
// with Cancel, and when leave is called.
func (d *desk) enter(ctx context.Context, req *Request) (runCtx context.Context, leave func(), err error) {
	runCtx, cancel := context.WithCancelCause(ctx)
	w, err := d.claim(cancel, req)
	if err == nil && w != nil {
		err = d.wait(ctx, w)
	}
	if err != nil {
		cancel(err)
		return nil, nil, err
	}
	return runCtx, func() { d.pass(); cancel(nil) }, nil
}

// claim takes the turn if it is free, else what req says about that. It returns
// a waiter if the turn has to be waited for.
func (d *desk) claim(cancel context.CancelCauseFunc, req *Request) (*waiter, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cancel == nil {
		d.cancel = cancel
		return nil, nil
	}
	w := &waiter{cancel, make(chan struct{})}
	switch req.Busy {
	case BusyReject, "":
		return nil, ErrBusy
	case BusyInterrupt:
		d.cancel(errReplaced)
		d.waiting = slices.Insert(d.waiting, 0, w)
		return w, nil
	case BusySteer:
		if len(req.Attachments) > 0 || req.Text == "" {
			return nil, fmt.Errorf("%w: only text can be said to it", ErrBusy)
		}
		if !d.closed {
			d.steering = append(d.steering, req.Text)
			return nil, ErrSteered
		}
	case BusyQueue:
	default:
		return nil, fmt.Errorf("unknown Request.Busy %q: it is one of reject, queue, interrupt, steer", req.Busy)
	}
	d.waiting = append(d.waiting, w)
	return w, nil
}

// wait returns when w has the turn, or with ctx's error.
func (d *desk) wait(ctx context.Context, w *waiter) error {
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.Index(d.waiting, w)
	if i < 0 {
		return nil // the turn came at the same moment: the run sees that ctx ended
	}
	d.waiting = slices.Delete(d.waiting, i, i+1)
	return context.Cause(ctx)
}

// pass gives the turn to who waits for it, if anybody does.
func (d *desk) pass() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cancel, d.closed = nil, false
	if len(d.waiting) > 0 {
		next := d.waiting[0]
		d.waiting = slices.Delete(d.waiting, 0, 1)
		d.cancel = next.cancel
		close(next.ready)
	}
}

// stop ends the run that goes on, if one does.
func (d *desk) stop(cause error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cancel != nil {
		d.cancel(cause)
	}
}

// leave leaves word for the run that goes on in box, one of the desk's. It
// reports whether there is a run that listens.
func (d *desk) leave(box *[]string, text string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cancel == nil || d.closed {
		return false
	}
	*box = append(*box, text)
	return true
}

// takeSteering returns what was said to the run since the last time.
func (d *desk) takeSteering() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	said := d.steering
	d.steering = nil
	return said
}

// takeNext returns what the next user message of the run says: what it has not
// read yet of the steering, else the first of what is to follow. If there is
// nothing, the run is over and listens no more.
func (d *desk) takeNext() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	said := d.next()
	d.closed = len(said) == 0
	return said
}

// takeSaid is takeNext for a run that is not over if there is nothing.
func (d *desk) takeSaid() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.next()
}

// next takes what is said next. The caller holds the lock.
func (d *desk) next() []string {
	said := d.steering
	d.steering = nil
	if len(said) == 0 && len(d.following) > 0 {
		said, d.following = d.following[:1:1], d.following[1:]
	}
	return said
}

// close says that the run listens no more, and returns what it has not read.
func (d *desk) close() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	unread := slices.Concat(d.steering, d.following)
	d.steering, d.following, d.closed = nil, nil, true
	return unread
}
