package rondo

import (
	"context"
	"iter"
	"slices"
	"sync"
)

// mergeFrom is how many events may wait for a listener before deltas that
// follow one another are joined into one.
const mergeFrom = 256

// queue carries events from a run to one listener. It never blocks the run and
// loses nothing: when the listener falls behind, deltas that follow one another
// are joined, so that what waits is bounded by what was said.
type queue struct {
	mu     sync.Mutex
	events []Event
	join   []byte // what was joined to the text of the last event
	closed bool
	wake   chan struct{}
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

func (q *queue) put(e Event) {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return
	}
	if n := len(q.events); n >= mergeFrom && joins(&q.events[n-1], &e) {
		if q.join == nil {
			q.join = append(q.join, q.events[n-1].Text...)
		}
		q.join = append(q.join, e.Text...)
		q.events[n-1].Seq = e.Seq
	} else {
		q.flushJoin()
		q.events = append(q.events, e)
	}
	q.mu.Unlock()
	q.signal()
}

func (q *queue) flushJoin() {
	if q.join != nil {
		q.events[len(q.events)-1].Text = string(q.join)
		q.join = nil
	}
}

func joins(a, b *Event) bool {
	return a.Type == b.Type && (a.Type == EventText || a.Type == EventThinking) &&
		a.Round == b.Round && a.Attempt == b.Attempt && slices.Equal(a.Agent, b.Agent)
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
}

// take waits for events and returns all that there are; none when the queue is
// closed and empty, or ctx ended.
func (q *queue) take(ctx context.Context, spare []Event) []Event {
	for {
		q.mu.Lock()
		q.flushJoin()
		if len(q.events) > 0 || q.closed {
			events := q.events
			clear(spare)
			q.events = spare[:0]
			q.mu.Unlock()
			return events
		}
		q.mu.Unlock()
		select {
		case <-q.wake:
		case <-ctx.Done():
			return nil
		}
	}
}

// all yields the events until the queue is closed and empty.
func (q *queue) all(ctx context.Context) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		var events []Event
		for {
			if events = q.take(ctx, events); len(events) == 0 {
				return
			}
			for i := range events {
				if !yield(events[i]) {
					return
				}
			}
		}
	}
}
