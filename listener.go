package rondo

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Listener takes the events of a run, one at a time, in order. It runs in a
// goroutine of its own: a listener that is slow, blocks or panics never holds
// up or harms the run. One that panics is not called again; the other
// listeners are told with a status event.
type Listener func(Event)

// drainFor is how long the end of a run waits for listeners to take what is left.
const drainFor = time.Second

// emitter numbers the events of a session and hands them to its listeners. The
// events of a child agent go to the emitter of its parent.
type emitter struct {
	up     *uplink // nil but for a child
	queues []*queue
	// ended has for each listener a channel that is closed when it has taken
	// its last event.
	ended []chan struct{}

	mu      sync.Mutex
	session string
	seq     int64
	over    bool // the session's own last event is out
}

// quiet reports whether nobody listens, so that events need not be made.
func (e *emitter) quiet() bool { return len(e.queues) == 0 && e.up == nil }

// emit tells an event of the session itself. After the last one, which says how
// the run ended, nothing more is told.
func (e *emitter) emit(ev Event) {
	if e.quiet() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return
	}
	e.over = ev.Type == EventDone
	ev.SessionID = e.session
	e.hand(ev)
}

// pass hands on an event of a child.
func (e *emitter) pass(ev Event) {
	if e.quiet() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.over {
		e.hand(ev)
	}
}

// hand gives an event its number and leaves it with each listener. The caller
// holds the lock.
func (e *emitter) hand(ev Event) {
	e.seq++
	ev.Seq = e.seq
	if e.up != nil {
		e.up.pass(ev)
	}
	for _, q := range e.queues {
		q.put(ev)
	}
}

// last returns the number of the last event.
func (e *emitter) last() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.seq
}

// rename names another session in what follows.
func (e *emitter) rename(session string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.session = session
}

// listen starts a goroutine that calls l until the emitter is closed. It must
// not be called after the first event.
func (e *emitter) listen(l Listener) {
	q := newQueue()
	e.queues = append(e.queues, q)
	ended := make(chan struct{})
	e.ended = append(e.ended, ended)
	go func() {
		defer close(ended)
		defer func() {
			if p := recover(); p != nil {
				q.close()
				e.emit(Event{Type: EventStatus, Text: fmt.Sprintf("a listener panicked and is not called again: %v", p)})
			}
		}()
		for ev := range q.all(context.Background()) {
			l(ev)
		}
	}()
}

// close lets the listeners take what is left and waits for them a little. What a
// listener that kept up has done is done when close returns, whatever the others
// do.
func (e *emitter) close() {
	for _, q := range e.queues {
		q.close()
	}
	if len(e.ended) == 0 {
		return
	}
	late := make(chan struct{})
	timer := time.AfterFunc(drainFor, func() { close(late) })
	defer timer.Stop()
	for _, ended := range e.ended {
		select {
		case <-ended:
			continue
		default:
		}
		select {
		case <-ended:
		case <-late:
		}
	}
}
