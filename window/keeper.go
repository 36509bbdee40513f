package window

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rondo-engine/rondo/message"
)

// MaxFailed is how many passes may fail before ErrExhausted.
const MaxFailed = 5

// The errors of Keeper.Compress that end a run.
var (
	// ErrExhausted says that MaxFailed passes did not bring enough.
	ErrExhausted = errors.New("compressing the conversation did not help often enough")
	// ErrNoRoom says that what stands in front of the history leaves no room.
	ErrNoRoom = errors.New("system prompt and tools leave no room for the conversation")
)

// coolings are how long no model is asked for a summary after it failed once,
// twice and more often in a row.
var coolings = [...]time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}

// State is what is kept of the compressions of a session. The zero value is
// that of a new one.
type State struct {
	// Passes counts the compressions, Failed those that failed since the last
	// that did not, or since the user spoke.
	Passes int `json:"passes,omitzero"`
	Failed int `json:"failed,omitzero"`
	// Floor is the size in tokens after the last pass; the next one waits
	// until Grow more are there.
	Floor int `json:"floor,omitzero"`
	Grow  int `json:"grow,omitzero"`
	// Rough says that Floor is an estimate which no provider has confirmed.
	Rough bool `json:"rough,omitzero"`
	// Until is when a model may be asked for a summary again, after it failed
	// so many times in a row.
	Until        time.Time `json:"until,omitzero"`
	Unsummarised int       `json:"unsummarised,omitzero"`
}

// Phase names where the state machine stands at a size: "ok", "cooling" after
// the summariser failed, "blocked" until the conversation has grown.
func (s *State) Phase(tokens int, now time.Time) string {
	switch {
	case now.Before(s.Until):
		return "cooling"
	case s.Floor > 0 && tokens < s.Floor+s.Grow:
		return "blocked"
	}
	return "ok"
}

// Keeper has an engine compress the conversation of one session, and holds it to
// what is promised: a pass counts only if its history is valid, holds the user's
// last message word for word and is smaller by a tenth of the window; else
// nothing changes. It is not safe for concurrent use.
type Keeper struct {
	Engine Engine
	State  State
	// called says that the model was called since the last pass.
	called bool
}

// Outcome is how a pass ended.
type Outcome struct {
	// History is what to go on with, the old one if the pass failed.
	History message.History
	// Failure says why the pass failed; nil if it did not.
	Failure error
	Method  Method
	// Before and After are the sizes of the prompt in tokens, MessagesBefore
	// and MessagesAfter those of the history.
	Before, After                 int
	MessagesBefore, MessagesAfter int
}

// Said takes note that the user spoke: what failed before may be tried again.
func (k *Keeper) Said() { k.State.Failed = 0 }

// Wait lets the next pass wait until the conversation has grown by a fifth of the
// window: the result of the last one could not be used.
func (k *Keeper) Wait(v *View) {
	k.State.Floor, k.State.Grow, k.State.Rough = v.Tokens, int(growth*float64(v.Room)), false
}

// Called takes note that the model was called.
func (k *Keeper) Called() { k.called = true }

// Due reports whether a pass is to be made before the next call, and whether it
// cannot wait.
func (k *Keeper) Due(v *View, now time.Time) (due, urgent bool) {
	s := &k.State
	if s.Rough && k.called {
		s.Floor, s.Rough = v.Tokens, false
	}
	if !k.Engine.Due(v) {
		return false, false
	}
	if v.Tokens >= int(urgentFrom*float64(v.Room)) {
		return true, true
	}
	return !s.Rough && s.Phase(v.Tokens, now) == "ok", false
}

// Compress makes a pass. The error is that of ctx, or wraps ErrExhausted or
// ErrNoRoom; a pass that failed and may be repeated is in Outcome.Failure.
func (k *Keeper) Compress(ctx context.Context, v *View, now time.Time) (Outcome, error) {
	o := Outcome{
		History: v.History, Before: v.Tokens, After: v.Tokens,
		MessagesBefore: v.History.Len(), MessagesAfter: v.History.Len(),
	}
	if v.Fixed >= int(hopelessFrom*float64(v.Room)) {
		return o, fmt.Errorf("%w: they take %d of %d tokens", ErrNoRoom, v.Fixed, v.Room)
	}
	v.NoModel = now.Before(k.State.Until) && !v.Asked
	pass, err := k.Engine.Compress(ctx, v)
	if ctx.Err() != nil {
		return o, context.Cause(ctx)
	}
	var history message.History
	after := 0
	if err == nil {
		history, after, err = judge(v, pass)
	}
	if err != nil {
		return k.fail(o, v, err, now)
	}
	k.called = false
	k.State = State{Passes: k.State.Passes + 1, Floor: after, Grow: int(growth * float64(v.Room)), Rough: true}
	if pass.NoModel {
		k.State.Until = now.Add(coolings[0])
	}
	o.History, o.Method, o.After, o.MessagesAfter = history, pass.Method, after, history.Len()
	return o, nil
}

// fail takes note of a pass that failed for the reason err.
func (k *Keeper) fail(o Outcome, v *View, err error, now time.Time) (Outcome, error) {
	o.Failure = err
	s := &k.State
	if errors.Is(err, ErrSummariser) {
		s.Until = now.Add(coolings[min(s.Unsummarised, len(coolings)-1)])
		s.Unsummarised++
		return o, nil
	}
	s.Failed++
	s.Floor, s.Grow, s.Rough = v.Tokens, int(leastSaved*float64(v.Room)), false
	if s.Failed >= MaxFailed {
		return o, fmt.Errorf("%w: %d passes in a row failed, the last because: %w; system prompt and tools take %d of %d tokens",
			ErrExhausted, s.Failed, err, v.Fixed, v.Room)
	}
	return o, nil
}

// judge returns the history that a pass brought and the size of its prompt, or
// why it is not taken.
func judge(v *View, p Pass) (message.History, int, error) {
	history, changes := message.Normalise(p.Messages)
	switch {
	case history.Len() == 0:
		return history, 0, errors.New("the compressed conversation is empty")
	case len(changes) > 0:
		return history, 0, fmt.Errorf("the compressed conversation is not valid: %s", changes[0].Detail)
	case !sameRequest(v.History.Messages(), history.Messages()):
		return history, 0, errors.New("the compressed conversation lacks the user's last message")
	}
	before, after := v.Fixed+v.Estimate(v.History.Messages()...), v.Fixed+v.Estimate(history.Messages()...)
	if need := least(v, before); before-after < need {
		return history, 0, fmt.Errorf("compressing saved %d tokens of %d, and at least %d are wanted", before-after, before, need)
	}
	return history, after, nil
}

// least is how much a pass has to save: a tenth of the window, or of what there
// is where the user or the provider wants it smaller.
func least(v *View, before int) int {
	of := v.Room
	if v.Hard || v.Asked {
		of = min(of, before-v.Fixed)
	}
	return max(1, int(leastSaved*float64(of)))
}

// sameRequest reports whether two histories end on the same words of the user.
func sameRequest(a, b []*message.Message) bool {
	i, j := lastUser(a), lastUser(b)
	if i < 0 || j < 0 {
		return i < 0
	}
	return slices.EqualFunc(a[i].Parts, b[j].Parts, func(x, y message.Part) bool {
		return x.Kind == y.Kind && x.Text == y.Text && x.Media == y.Media
	})
}

// lastUser returns the index of the last user message, or -1.
func lastUser(msgs []*message.Message) int {
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role == message.User {
			return i
		}
	}
	return -1
}
