package rondo

import (
	"context"
	"sync"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

// saveWithin is how long a reply whose calls only read may wait to be saved
// together with their results.
const saveWithin = 2 * time.Millisecond

// saver makes the messages of a run durable, in order. A transaction costs as
// much as the rest of a round, so a reply that asks for nothing but reading is
// saved with the results if they come soon; if they do not, a timer saves it.
// A reply whose calls have effects is saved before they run.
type saver struct {
	s *Session

	mu     sync.Mutex
	held   *message.Message // waits for its results
	usage  store.Update     // what no save has carried yet
	timer  *time.Timer
	failed error // of a save that nobody waited for
}

// used takes note of what a model call used.
func (v *saver) used(u store.Update) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.usage.Usage = v.usage.Usage.Add(u.Usage)
	v.usage.Calls += u.Calls
	v.usage.CostUSD += u.CostUSD
}

// hold saves m with what is saved next, or soon.
func (v *saver) hold(ctx context.Context, m *message.Message) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.held = m
	if v.timer == nil {
		v.timer = time.AfterFunc(saveWithin, func() {
			v.mu.Lock()
			defer v.mu.Unlock()
			if v.held != nil {
				v.failed = v.write(ctx, nil, store.Update{})
			}
		})
		return
	}
	v.timer.Reset(saveWithin)
}

// save makes msgs durable, after what was held back. u is added to the usage
// that waits.
func (v *saver) save(ctx context.Context, msgs []*message.Message, u store.Update) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.timer != nil {
		v.timer.Stop()
	}
	if err := v.failed; err != nil {
		v.failed = nil
		return err
	}
	return v.write(ctx, msgs, u)
}

func (v *saver) write(ctx context.Context, msgs []*message.Message, u store.Update) error {
	if v.held != nil {
		msgs = append([]*message.Message{v.held}, msgs...)
	}
	u.Usage, u.Calls, u.CostUSD = v.usage.Usage, v.usage.Calls, v.usage.CostUSD
	if err := v.s.save(ctx, msgs, u); err != nil {
		return err
	}
	v.held, v.usage = nil, store.Update{}
	return nil
}
