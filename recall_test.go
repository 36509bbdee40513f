package rondo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/guard"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/snapshot"
	"github.com/rondo-engine/rondo/tool"
	"github.com/rondo-engine/rondo/window"
)

// A session of a rondo that kept no journal may have begun any of its calls.
func TestCallsThatNoJournalKnowsAreNotRunAgain(t *testing.T) {
	for messages, want := range map[int]string{2: `look{"n":4}`, 1: `write{"n":3} look{"n":4}`} {
		st := brokenOff(t)
		body := fmt.Appendf(nil, `{"messages":%d}`, messages)
		if err := st.Note(t.Context(), "s", store.Note{Kind: store.NoteUnjournalled, Body: body}); err != nil {
			t.Fatal(err)
		}
		m := &fakeModel{steps: []step{says("done")}}
		var l ledger
		o := rondo.Options{Model: m, Store: st, Tools: []*tool.Tool{l.tool("write", false), l.tool("look", true)}}
		if _, err := newAgent(t, o).Run(t.Context(), rondo.Request{SessionID: "s"}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(l.lines, " "); got != want {
			t.Errorf("without a journal of %d messages, run were %s", messages, got)
		}
	}
}

// A store that was lost took its journal with it.
func TestASessionFromItsSnapshotRepeatsNoEffect(t *testing.T) {
	dir := snapshot.Dir(t.TempDir())
	st := brokenOff(t)
	session, msgs, err := st.Load(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	snap := &snapshot.Snapshot{SavedAt: time.Now(), Session: snapshot.SessionOf(session), Messages: msgs}
	if err := dir.Writer("s").Write(t.Context(), snap); err != nil {
		t.Fatal(err)
	}
	broken := store.NewMemory() // where giving it back was killed half way
	if err := broken.Create(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	for _, lost := range []*store.Memory{store.NewMemory(), broken} {
		m := &fakeModel{steps: []step{says("done")}}
		var l ledger
		o := rondo.Options{Model: m, Store: lost, Snapshots: dir, Tools: []*tool.Tool{l.tool("write", false), l.tool("look", true)}}
		if _, err := newAgent(t, o).Run(t.Context(), rondo.Request{SessionID: "s"}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(l.lines, " "); got != `look{"n":4}` || strings.Count(m.shapes[0], "outcome is unknown") != 2 {
			t.Errorf("run were %s; the model saw %s", got, m.shapes[0])
		}
		if _, got, err := lost.Load(t.Context(), "s"); err != nil || len(got) != len(msgs)+4 {
			t.Errorf("the store has %d messages, %v", len(got), err)
		}
	}
}

// costs has a reply's prompt count so many tokens.
func costs(input int64, next step) step {
	return func(ctx context.Context, yield func(model.Delta) bool) (*model.Reply, error) {
		reply, err := next(ctx, yield)
		reply.Usage.Input = input
		return reply, err
	}
}

func TestASnapshotBringsBackTheListAndHowTheModelCounts(t *testing.T) {
	dir, st := snapshot.Dir(t.TempDir()), store.NewMemory()
	m := &fakeModel{steps: []step{
		asks(`a todo {"todos":[{"id":"1","content":"read"},{"id":"2","content":"write"}]}`),
		costs(300, asks(`b todo {"merge":true,"todos":[{"id":"1","status":"completed"}]}`)), says("done"),
	}}
	o := rondo.Options{Model: m, Store: st, Snapshots: dir, Snapshot: snapshot.EveryRound, Tools: []*tool.Tool{rondo.TodoTool()}}
	s := newAgent(t, o).Session("")
	if _, err := s.Run(t.Context(), rondo.Request{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	s.SetTodo(append(s.Todo(), rondo.Todo{ID: "x", Content: "set from outside", Status: rondo.TodoPending}))
	if err := s.SaveSnapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := s.Todo()
	s.Close()
	snap, err := dir.LoadHead(t.Context(), s.ID())
	if err != nil || !strings.Contains(string(snap.Calibration), `"fake/m"`) {
		t.Fatalf("calibration %s, %v", snap.Calibration, err)
	}
	known := &ratios{}
	o.Context.Ratios = known
	again := newAgent(t, o).Session(s.ID())
	defer again.Close()
	if _, err := again.Run(t.Context(), rondo.Request{Text: "and?"}); err != nil {
		t.Fatal(err)
	}
	if got := again.Todo(); !slices.Equal(got, want) || len(got) != 3 || got[0].Status != rondo.TodoCompleted {
		t.Errorf("the list is %v, want %v", got, want)
	}
	if known.first.Seen == 0 {
		t.Errorf("nothing is known of the model: %+v", known.first)
	}
}

// ratios keep the first ratio that they are given.
type ratios struct{ first, now window.Ratio }

func (r *ratios) Ratio(string) window.Ratio { return r.now }

func (r *ratios) SetRatio(_ string, now window.Ratio) {
	if r.now == (window.Ratio{}) {
		r.first = now
	}
	r.now = now
}

// Time and tokens that were used up before a run broke off stay used up.
func TestTimeAndTokensGoOnWhereTheyStood(t *testing.T) {
	for _, strategy := range []snapshot.Strategy{snapshot.EveryToolRound, snapshot.Manual} {
		for _, l := range []struct {
			limits loop.Limits
			want   loop.Reason
		}{
			{loop.Limits{MaxRounds: -1, MaxExecution: 20 * time.Minute}, loop.Deadline},
			{loop.Limits{MaxRounds: -1, MaxInputTokens: 45}, loop.MaxBudget},
		} {
			t.Run(fmt.Sprintf("%s/%s", strategy, l.want), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { goesOn(t, strategy, l.limits, l.want) })
			})
		}
	}
}

func goesOn(t *testing.T, strategy snapshot.Strategy, limits loop.Limits, want loop.Reason) {
	st, dir := store.NewMemory(), snapshot.Dir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	slow := newTool("work", true, func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		select {
		case <-time.After(5 * time.Minute):
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		}
		if n++; n == 3 {
			cancel()
		}
		return tool.Result{Text: fmt.Sprint("worked ", n)}, nil
	})
	m := &fakeModel{}
	for i := range 9 {
		m.steps = append(m.steps, asks(fmt.Sprintf(`c%d work {"n":%d}`, i, i)))
	}
	o := rondo.Options{Model: m, Store: st, Snapshots: dir, Snapshot: strategy, Tools: []*tool.Tool{slow}, Limits: limits}
	res, _ := newAgent(t, o).Run(ctx, rondo.Request{Text: "go"})
	if res.Reason != loop.UserCancel {
		t.Fatalf("%+v", res)
	}
	began := time.Now()
	res, _ = newAgent(t, o).Run(t.Context(), rondo.Request{SessionID: res.SessionID})
	if res.Reason != want || time.Since(began) > 11*time.Minute {
		t.Errorf("the rest ended with %s after %v and %d rounds", res.Reason, time.Since(began), res.Rounds)
	}
}

// What a person allowed is told by the snapshot and allowed to nobody by it.
func TestApprovalsOfASessionEndWithTheProcess(t *testing.T) {
	dir, st, asked := snapshot.Dir(t.TempDir()), store.NewMemory(), 0
	g := func() *guard.Guard {
		return guard.New(guard.Options{Workspace: t.TempDir(), Mode: guard.AskMode, Ask: func(_ context.Context, p guard.Prompt) (guard.Answer, error) {
			asked++
			return p.Answer(guard.Session), nil
		}})
	}
	shell := newTool("shell", false, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: "ran"}, nil })
	shell.Toolset, shell.Schema = "shell", json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}}}`)
	m := &fakeModel{steps: []step{
		asks(`a shell {"command":"git push --force"}`), asks(`b shell {"command":"git push --force"}`), says("done"),
		asks(`c shell {"command":"git push --force"}`), says("done"),
	}}
	o := rondo.Options{Model: m, Store: st, Snapshots: dir, Tools: []*tool.Tool{shell}, Approve: rondo.GuardedBy(g())}
	res, err := newAgent(t, o).Run(t.Context(), rondo.Request{Text: "go"})
	if err != nil || asked != 1 {
		t.Fatalf("asked %d times, %v", asked, err)
	}
	snap, err := dir.LoadHead(t.Context(), res.SessionID)
	if err != nil || !strings.Contains(string(snap.Approvals), "push") {
		t.Errorf("the snapshot says %s, %v", snap.Approvals, err)
	}
	o.Approve = rondo.GuardedBy(g())
	if _, err := newAgent(t, o).Run(t.Context(), rondo.Request{SessionID: res.SessionID, Text: "again"}); err != nil || asked != 2 {
		t.Errorf("after a restart: asked %d times, %v", asked, err)
	}
}
