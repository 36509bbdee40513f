package rondo_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/snapshot"
	"github.com/rondo-engine/rondo/tool"
)

// ledger is a tool with effects that writes down its arguments.
type ledger struct {
	mu    sync.Mutex
	lines []string
}

func (l *ledger) tool(name string, readOnly bool) *tool.Tool {
	return newTool(name, readOnly, func(_ context.Context, c tool.Call) (tool.Result, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lines = append(l.lines, name+string(c.Args))
		return tool.Result{Text: "did " + string(c.Args)}, nil
	})
}

// brokenOff is a store with a session that broke off among its calls: the first
// has a result, the second was begun, the others were not.
func brokenOff(t *testing.T) *store.Memory {
	t.Helper()
	st := store.NewMemory()
	if err := st.Create(t.Context(), store.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	user := message.NewUser("go")
	asks := message.NewAssistant(
		message.Call("a", "write", `{"n":1}`), message.Call("b", "write", `{"n":2}`),
		message.Call("c", "write", `{"n":3}`), message.Call("d", "look", `{"n":4}`))
	result := message.NewResult(asks.Calls()[0], message.StatusOK, "did 1")
	for i, m := range []*message.Message{user, asks, result} {
		m.ID = fmt.Sprint("m", i+1)
	}
	begun := []store.Effect{{MessageID: "m2", Index: 0, Tool: "write"}, {MessageID: "m2", Index: 1, Tool: "write"}}
	if err := st.Record(t.Context(), "s", []*message.Message{user, asks}, store.Update{}, begun); err != nil {
		t.Fatal(err)
	}
	begun[0].FinishedAt = time.Now()
	if err := st.Record(t.Context(), "s", []*message.Message{result}, store.Update{}, begun[:1]); err != nil {
		t.Fatal(err)
	}
	return st
}

func TestResumeRunsOnlyWhatWasNotBegun(t *testing.T) {
	st := brokenOff(t)
	m := &fakeModel{steps: []step{says("done")}}
	var l ledger
	o := rondo.Options{Model: m, Store: st, Tools: []*tool.Tool{l.tool("write", false), l.tool("look", true)}}
	res, err := newAgent(t, o).Run(t.Context(), rondo.Request{SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	want := "user:go; assistant:<write><write><write><look>; tool:did 1; " +
		"tool:[interrupted while it ran: the outcome is unknown. It may have taken effect, in whole or in part: check before repeating it]; " +
		`tool:did {"n":3}; tool:did {"n":4}`
	if m.shapes[0] != want {
		t.Errorf("the model saw %s", m.shapes[0])
	}
	if got := strings.Join(l.lines, " "); got != `write{"n":3} look{"n":4}` {
		t.Errorf("run were %s", got)
	}
	if res.Rounds != 2 {
		t.Errorf("%d rounds, want 2 with the one before", res.Rounds)
	}
	_, msgs, err := st.Load(t.Context(), "s")
	h, _ := message.Normalise(msgs)
	if err != nil || shape(h.Messages()) != want+"; assistant:done" {
		t.Errorf("stored: %s, %v", shape(msgs), err)
	}
	if effects, _ := st.Effects(t.Context(), "s", "m2"); len(effects) != 3 || effects[2].FinishedAt.IsZero() || !effects[1].FinishedAt.IsZero() {
		t.Errorf("journal %+v", effects)
	}
}

func TestSomethingElseIsSaidAfterACrash(t *testing.T) {
	st := brokenOff(t)
	m := &fakeModel{steps: []step{says("done")}}
	var l ledger
	o := rondo.Options{Model: m, Store: st, Tools: []*tool.Tool{l.tool("write", false), l.tool("look", true)}}
	if _, err := newAgent(t, o).Run(t.Context(), rondo.Request{SessionID: "s", Text: "stop that"}); err != nil {
		t.Fatal(err)
	}
	want := "user:go; assistant:<write><write><write><look>; tool:did 1; " +
		"tool:[interrupted while it ran: the outcome is unknown. It may have taken effect, in whole or in part: check before repeating it]; " +
		"tool:[interrupted before it was run]; tool:[interrupted before it was run]; assistant:[interrupted]; user:stop that"
	if m.shapes[0] != want || len(l.lines) > 0 {
		t.Errorf("the model saw %s; run were %v", m.shapes[0], l.lines)
	}
	_, msgs, _ := st.Load(t.Context(), "s")
	if shape(msgs) != want+"; assistant:done" {
		t.Errorf("stored: %s", shape(msgs))
	}
}

// Without a journal nobody knows what was begun.
func TestResumeWithoutAJournalRepeatsNoEffect(t *testing.T) {
	st := struct{ store.Store }{brokenOff(t)}
	m := &fakeModel{steps: []step{says("done")}}
	var l ledger
	o := rondo.Options{Model: m, Store: st, Tools: []*tool.Tool{l.tool("write", false), l.tool("look", true)}}
	if _, err := newAgent(t, o).Run(t.Context(), rondo.Request{SessionID: "s"}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(l.lines, " "); got != `look{"n":4}` || strings.Count(m.shapes[0], "outcome is unknown") != 2 {
		t.Errorf("run were %s; the model saw %s", got, m.shapes[0])
	}
}

func TestEffectsAreDurableBeforeTheyRunAndResultsBeforeTheNext(t *testing.T) {
	st := store.NewMemory()
	var seen []string
	write := newTool("write", false, func(ctx context.Context, c tool.Call) (tool.Result, error) {
		session, msgs, err := st.Load(ctx, c.Session)
		if err != nil {
			return tool.Result{}, err
		}
		asked := msgs[1]
		effects, err := st.Effects(ctx, session.ID, asked.ID)
		open := 0
		for _, e := range effects {
			if e.FinishedAt.IsZero() {
				open++
			}
		}
		seen = append(seen, fmt.Sprintf("%d messages, %d effects, %d open", len(msgs), len(effects), open))
		return tool.Result{Text: "ok"}, err
	})
	m := &fakeModel{steps: []step{asks(`a write {"n":1}`, `b write {"n":2}`, `c write {"n":3}`), says("done")}}
	if _, err := newAgent(t, rondo.Options{Model: m, Store: st, Tools: []*tool.Tool{write}}).Run(t.Context(), rondo.Request{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	want := []string{"2 messages, 1 effects, 1 open", "3 messages, 2 effects, 1 open", "4 messages, 3 effects, 1 open"}
	if d := cmp.Diff(want, seen); d != "" {
		t.Error(d)
	}
}

// failing is a store that fails each n-th write.
type failing struct {
	*store.Memory
	mu       sync.Mutex
	n, count int
}

var errFull = errors.New("no space left on device")

func (f *failing) fails() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	return f.n > 0 && f.count == f.n
}

func (f *failing) Append(ctx context.Context, id string, msgs []*message.Message, u store.Update) error {
	return f.Record(ctx, id, msgs, u, nil)
}

func (f *failing) Record(ctx context.Context, id string, msgs []*message.Message, u store.Update, e []store.Effect) error {
	if f.fails() {
		return errFull
	}
	return f.Memory.Record(ctx, id, msgs, u, e)
}

// Scenario 63, and what comes after it.
func TestAnyFailedWriteEndsTheRunAndItGoesOnLater(t *testing.T) {
	for n := 1; ; n++ {
		st := &failing{Memory: store.NewMemory(), n: n}
		var l ledger
		m := &fakeModel{steps: []step{
			asks(`a write {"n":1}`, `b write {"n":2}`), asks(`c look {"n":3}`), asks(`d write {"n":4}`), says("done"),
		}}
		o := rondo.Options{
			Model: m, Store: st, Tools: []*tool.Tool{l.tool("write", false), l.tool("look", true)},
			NewID: func() string { return "s" },
		}
		res, err := newAgent(t, o).Run(t.Context(), rondo.Request{Text: "go"})
		if err == nil {
			if n < 5 {
				t.Errorf("only %d writes", n)
			}
			break
		}
		if errors.Is(err, errFull) && res.Reason == loop.EndTurn {
			continue // only that it ended could not be saved
		}
		if !errors.Is(err, errFull) || n > 1 && res.Reason != loop.FatalError {
			t.Fatalf("write %d failed: %v, %s", n, err, res.Reason)
		}
		request := rondo.Request{SessionID: "s"}
		_, msgs, _ := st.Load(t.Context(), "s")
		if len(msgs) == 0 {
			request.Text = "go"
		}
		m.calls = replies(msgs)
		res, err = newAgent(t, o).Run(t.Context(), request)
		if err != nil || res.FinalResponse != "done" {
			t.Fatalf("after write %d failed: %v, %+v", n, err, res)
		}
		counts := map[string]int{}
		for _, line := range l.lines {
			counts[line]++
		}
		for _, effect := range []string{`write{"n":1}`, `write{"n":2}`, `write{"n":4}`} {
			_, msgs, _ := st.Load(t.Context(), "s")
			unknown := strings.Contains(shape(msgs), "outcome is unknown")
			if c := counts[effect]; c > 1 || c == 0 && !unknown || strings.Contains(shape(msgs), "Not run") {
				t.Errorf("write %d failed: %s ran %d times; stored: %s", n, effect, c, shape(msgs))
			}
		}
	}
}

func replies(msgs []*message.Message) int {
	n := 0
	for _, m := range msgs {
		if m.Role == message.Assistant && m.Status == "" {
			n++
		}
	}
	return n
}

func TestRoundsAndLimitsGoOnWhereTheyStood(t *testing.T) {
	for _, strategy := range []snapshot.Strategy{snapshot.EveryToolRound, snapshot.EveryRound, snapshot.Manual} {
		t.Run(string(strategy), func(t *testing.T) {
			st, dir := store.NewMemory(), snapshot.Dir(t.TempDir())
			var l ledger
			m := &fakeModel{steps: []step{asks(`a write {"n":1}`), asks(`b write {"n":2}`), stalls("half"), asks(`c write {"n":3}`), says("sum")}}
			o := rondo.Options{
				Model: m, Store: st, Snapshots: dir, Snapshot: strategy, Tools: []*tool.Tool{l.tool("write", false)},
				Limits: loop.Limits{MaxRounds: 4},
			}
			ctx, cancel := context.WithCancel(t.Context())
			o.Listeners = []rondo.Listener{func(e rondo.Event) {
				if e.Type == rondo.EventText && e.Text == "half" {
					cancel()
				}
			}}
			res, err := newAgent(t, o).Run(ctx, rondo.Request{Text: "go", TaskID: "task"})
			if err == nil || res.Reason != loop.UserCancel {
				t.Fatalf("%s, %v", res.Reason, err)
			}
			snap, err := dir.Load(t.Context(), res.SessionID)
			if strategy == snapshot.Manual {
				if !errors.Is(err, snapshot.ErrNotFound) {
					t.Errorf("manual wrote a snapshot: %v", err)
				}
			} else if err != nil || snap.TaskID != "task" || snap.Reason != "user_cancel" || snap.System != "" || len(snap.Messages) < 5 {
				t.Errorf("snapshot %+v, %v", snap, err)
			}
			res, err = newAgent(t, o).Run(t.Context(), rondo.Request{SessionID: res.SessionID})
			want := 4
			if err != nil || res.Reason != loop.MaxRounds && strategy != snapshot.Manual || res.Rounds != want {
				t.Errorf("resumed: %s after %d rounds, %v", res.Reason, res.Rounds, err)
			}
			if strategy != snapshot.Manual && res.TaskID != "task" {
				t.Errorf("the run is now called %s", res.TaskID)
			}
			if len(l.lines) != 3 {
				t.Errorf("run were %v", l.lines)
			}
		})
	}
}

func TestASnapshotIsEnough(t *testing.T) {
	dir := snapshot.Dir(t.TempDir())
	m := &fakeModel{steps: []step{asks(`a look {"n":1}`), says("one"), says("two")}}
	o := rondo.Options{Model: m, Snapshots: dir, Tools: []*tool.Tool{fixed("look", "seen")}, System: "Be brief."}
	res, err := newAgent(t, o).Run(t.Context(), rondo.Request{Text: "go"})
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range []store.Store{nil, store.NewMemory()} {
		o.Store, o.System = st, "Another."
		m.calls = 2
		if _, err := newAgent(t, o).Run(t.Context(), rondo.Request{SessionID: res.SessionID, Text: "and?"}); err != nil {
			t.Fatal(err)
		}
		last := m.requests[len(m.requests)-1]
		if got := m.shapes[len(m.shapes)-1]; got != "user:go; assistant:<look>; tool:seen; assistant:one; user:and?" || last.System != "Be brief." {
			t.Errorf("the model saw %s under %q", got, last.System)
		}
		if st == nil {
			continue
		}
		if _, msgs, err := st.Load(t.Context(), res.SessionID); err != nil || len(msgs) != 6 {
			t.Errorf("the store has %d messages, %v", len(msgs), err)
		}
	}
}

func TestWhatIsMendedIsMendedOnce(t *testing.T) {
	st := store.NewMemory()
	if err := st.Create(t.Context(), store.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	ask := message.NewAssistant(message.Call("a", "look", "{}"), message.Call("b", "look", "{}"))
	msgs := []*message.Message{
		message.NewUser("one"), message.NewUser("two"), ask, message.NewResult(ask.Calls()[1], message.StatusOK, "B"),
		message.NewResult(ask.Calls()[0], message.StatusOK, "A"), message.NewResult(ask.Calls()[0], message.StatusOK, "again"),
		message.NewAssistant(message.Text("so")),
	}
	for i, m := range msgs {
		m.ID = fmt.Sprint("m", i+1)
	}
	if err := st.Append(t.Context(), "s", msgs, store.Update{}); err != nil {
		t.Fatal(err)
	}
	m := &fakeModel{steps: []step{says("yes")}}
	var told []string
	for i := range 3 {
		o := rondo.Options{Model: m, Store: st, Listeners: []rondo.Listener{func(e rondo.Event) {
			if e.Type == rondo.EventStatus {
				told = append(told, e.Text)
			}
		}}}
		if _, err := newAgent(t, o).Run(t.Context(), rondo.Request{SessionID: "s", Text: fmt.Sprint("q", i)}); err != nil {
			t.Fatal(err)
		}
	}
	want := "user:one\n\ntwo; assistant:<look><look>; tool:A; tool:B; assistant:so; user:q0; assistant:yes; user:q1; assistant:yes; user:q2"
	if got := m.shapes[2]; got != want {
		t.Errorf("the model saw %s", got)
	}
	if repairs, err := st.Repairs(t.Context(), "s"); len(repairs) != 1 || err != nil || len(told) != 1 {
		t.Errorf("%d repairs, %v; told %v", len(repairs), err, told)
	}
	if _, stored, _ := st.Load(t.Context(), "s"); len(stored) != 13 || stored[1].Text() != "two" {
		t.Errorf("stored: %s", shape(stored))
	}
}

func TestALockedSessionSaysWhoHoldsIt(t *testing.T) {
	st := store.NewMemory()
	m := &fakeModel{steps: []step{says("yes")}}
	first := newAgent(t, rondo.Options{Model: m, Store: st}).Session("")
	if _, err := first.Run(t.Context(), rondo.Request{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	other := newAgent(t, rondo.Options{Model: m, Store: st})
	_, err := other.Run(t.Context(), rondo.Request{SessionID: first.ID(), Text: "me too"})
	if _, ok := errors.AsType[*store.LockedError](err); !ok || !strings.Contains(err.Error(), "in use by process") {
		t.Errorf("a session in use: %v", err)
	}
	first.Close()
	if _, err := other.Run(t.Context(), rondo.Request{SessionID: first.ID(), Text: "and now?"}); err != nil {
		t.Errorf("after it was closed: %v", err)
	}
}

func TestSaveSnapshot(t *testing.T) {
	dir := snapshot.Dir(t.TempDir())
	m := &fakeModel{steps: []step{says("yes")}}
	a := newAgent(t, rondo.Options{Model: m, Store: store.NewMemory(), Snapshots: dir, Snapshot: snapshot.Manual})
	s := a.Session("")
	defer s.Close()
	if err := s.SaveSnapshot(t.Context()); !errors.Is(err, rondo.ErrNothingToDo) {
		t.Errorf("before the first message: %v", err)
	}
	if _, err := s.Run(t.Context(), rondo.Request{Text: "Why does it fail?\nLook."}); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveSnapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	snap, err := dir.Load(t.Context(), s.ID())
	if err != nil || len(snap.Messages) != 2 || snap.Session.Title != "Why does it fail?" || snap.Strategy != snapshot.Manual {
		t.Errorf("%+v, %v", snap, err)
	}
}
