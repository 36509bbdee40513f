package rondo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

// saveWithin is how long a reply that asks for tools may wait to be saved
// together with what follows it.
const saveWithin = 2 * time.Millisecond

// saver makes the messages of a run durable, in order. A transaction costs as
// much as the rest of a round, so a reply that asks for tools is saved with the
// results if they only read and come soon, or with the word that they begin if
// they have effects; if neither comes, a timer saves it. No call with effects
// runs before it and the reply that asks for it are durable.
type saver struct {
	s *Session

	mu     sync.Mutex
	held   *message.Message // waits for what follows
	usage  store.Update     // what no save has carried yet
	ends   []effect         // the same for effects that ended
	timer  *time.Timer
	failed error // of a save that nobody waited for
}

// effect is an entry of the journal; the message that asked for it has its id
// only when both are saved.
type effect struct {
	store.Effect
	asked *message.Message
}

// journalled gives effects the ids of their messages.
func journalled(effects []effect) []store.Effect {
	if len(effects) == 0 {
		return nil
	}
	list := make([]store.Effect, len(effects))
	for i, e := range effects {
		list[i] = e.Effect
		list[i].MessageID = e.asked.ID
	}
	return list
}

// digest tells arguments of a call apart.
func digest(args []byte) string {
	sum := sha256.Sum256(args)
	return hex.EncodeToString(sum[:12])
}

// used takes note of what a model call used.
func (v *saver) used(u store.Update) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.usage.Usage = v.usage.Usage.Add(u.Usage)
	v.usage.Calls += u.Calls
	v.usage.CostUSD += u.CostUSD
}

// ended takes note of the end of an effect, which is saved with its result.
func (v *saver) ended(e effect) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ends = append(v.ends, e)
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
				v.failed = v.write(ctx, nil, store.Update{}, nil)
			}
		})
		return
	}
	v.timer.Reset(saveWithin)
}

// fail has the next save fail with err.
func (v *saver) fail(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failed = err
}

// save makes msgs durable, after what was held back, and with them that effects
// begin. u is added to the usage that waits.
func (v *saver) save(ctx context.Context, msgs []*message.Message, u store.Update, begin ...effect) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.timer != nil {
		v.timer.Stop()
	}
	if err := v.failed; err != nil {
		v.failed = nil
		return err
	}
	return v.write(ctx, msgs, u, begin)
}

func (v *saver) write(ctx context.Context, msgs []*message.Message, u store.Update, begin []effect) error {
	if v.held != nil {
		msgs = append([]*message.Message{v.held}, msgs...)
	}
	u.Usage, u.Calls, u.CostUSD = v.usage.Usage, v.usage.Calls, v.usage.CostUSD
	if err := v.s.record(ctx, msgs, u, append(v.ends, begin...)); err != nil {
		return err
	}
	v.held, v.usage, v.ends = nil, store.Update{}, v.ends[:0]
	return nil
}

// titleLength bounds the title that a session has from its first message, in
// characters.
const titleLength = 60

// titleOf makes a title of the first words of the user.
func titleOf(msgs []*message.Message) string {
	for _, m := range msgs {
		if m.Role != message.User {
			continue
		}
		line, _, _ := strings.Cut(strings.TrimSpace(m.Text()), "\n")
		title := strings.Join(strings.Fields(line), " ")
		if utf8.RuneCountInString(title) <= titleLength {
			return title
		}
		short := string([]rune(title)[:titleLength])
		if i := strings.LastIndexByte(short, ' '); i > len(short)/2 {
			short = short[:i]
		}
		return short + "…"
	}
	return ""
}
