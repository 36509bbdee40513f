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

// emitter numbers the events of a session and hands them to its listeners.
type emitter struct {
	session string
	mu      sync.Mutex
	seq     int64
	queues  []*queue
	wg      sync.WaitGroup
}

// quiet reports whether nobody listens, so that events need not be made.
func (e *emitter) quiet() bool { return len(e.queues) == 0 }

func (e *emitter) emit(ev Event) {
	if e.quiet() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seq++
	ev.SessionID, ev.Seq = e.session, e.seq
	for _, q := range e.queues {
		q.put(ev)
	}
}

// listen starts a goroutine that calls l until the emitter is closed. It must
// not be called after the first event.
func (e *emitter) listen(l Listener) {
	q := newQueue()
	e.queues = append(e.queues, q)
	e.wg.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				q.close()
				e.emit(Event{Type: EventStatus, Text: fmt.Sprintf("a listener panicked and is not called again: %v", p)})
			}
		}()
		for ev := range q.all(context.Background()) {
			l(ev)
		}
	})
}

// close lets the listeners take what is left and waits for them a little.
func (e *emitter) close() {
	for _, q := range e.queues {
		q.close()
	}
	if len(e.queues) == 0 {
		return
	}
	drained := make(chan struct{})
	go func() {
		e.wg.Wait()
		close(drained)
	}()
	timer := time.NewTimer(drainFor)
	defer timer.Stop()
	select {
	case <-drained:
	case <-timer.C:
	}
}
