package rondo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/hook"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/snapshot"
	"github.com/rondo-engine/rondo/store/sqlite"
	"github.com/rondo-engine/rondo/tool"
	"github.com/rondo-engine/rondo/window"
)

// eager is an engine that is always due and fails as it is told to.
type eager struct {
	window.Compressor
	err   error
	asked int
}

func (*eager) Due(*window.View) bool { return true }

func (e *eager) Compress(ctx context.Context, v *window.View) (window.Pass, error) {
	if e.asked++; e.err != nil {
		return window.Pass{}, e.err
	}
	v.Target = v.Limit // anything that it shrinks will do
	return e.Compressor.Compress(ctx, v)
}

// keptIn are the places in which a session outlives its process.
func keptIn(t *testing.T) map[string]rondo.Options {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "s.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return map[string]rondo.Options{
		"memory": {Store: store.NewMemory()}, "sqlite": {Store: db},
		"snapshot": {Snapshots: snapshot.Dir(t.TempDir())},
	}
}

// lives runs a session as one process after the other, each until its model
// breaks down.
type lives struct {
	t    *testing.T
	o    rondo.Options
	id   string
	now  time.Time
	size int // of the results of the tool, in characters
	// calls counts those of the tool.
	calls int
}

func newLives(t *testing.T, o rondo.Options, e *eager) *lives {
	l := &lives{t: t, o: o, now: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)}
	l.o.Now = func() time.Time { return l.now }
	l.o.Context.Engine = e
	l.o.Tools = []*tool.Tool{newTool("look", true, func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Text: strings.Repeat("line\n", l.size/5)}, nil
	})}
	return l
}

// live runs so many rounds and returns how that ended.
func (l *lives) live(rounds int) (rondo.Result, error) {
	l.t.Helper()
	m := &fakeModel{}
	for i := range rounds {
		m.steps = append(m.steps, uncounted(asks(fmt.Sprintf(`c%d look {"n":%d}`, i, l.calls+i))))
	}
	l.calls += rounds
	m.steps = append(m.steps, fails(model.InvalidRequest))
	o := l.o
	o.Model = m
	req := rondo.Request{SessionID: l.id}
	if l.id == "" {
		req.Text = "go"
	}
	res, err := newAgent(l.t, o).Run(l.t.Context(), req)
	if err == nil {
		l.t.Fatalf("the run ended by %s", res.Reason)
	}
	l.id = res.SessionID
	return res, err
}

// uncounted leaves the provider's count out of a reply.
func uncounted(next step) step {
	return func(ctx context.Context, yield func(model.Delta) bool) (*model.Reply, error) {
		reply, err := next(ctx, yield)
		reply.Usage = model.Usage{}
		return reply, err
	}
}

func TestACompressionThatWaitsForGrowthWaitsAfterARestart(t *testing.T) {
	for place, o := range keptIn(t) {
		t.Run(place, func(t *testing.T) {
			e := &eager{err: errors.New("it was no use")}
			l := newLives(t, o, e)
			for life, want := range []int{1, 1, 1} {
				if l.live(2); e.asked != want {
					t.Fatalf("life %d: asked %d times although nothing grew", life+1, e.asked)
				}
			}
			l.size = 40_000
			if l.live(1); e.asked != 2 {
				t.Errorf("asked %d times after the conversation grew, want 2", e.asked)
			}
		})
	}
}

func TestASummariserThatFailedIsLeftAloneAfterARestart(t *testing.T) {
	for place, o := range keptIn(t) {
		t.Run(place, func(t *testing.T) {
			e := &eager{err: window.ErrSummariser}
			l := newLives(t, o, e)
			for _, life := range []struct {
				wait  time.Duration
				asked int
			}{{0, 1}, {59 * time.Second, 1}, {2 * time.Second, 2}, {4 * time.Minute, 2}, {2 * time.Minute, 3}, {14 * time.Minute, 3}, {2 * time.Minute, 4}} {
				l.now = l.now.Add(life.wait)
				if l.live(2); e.asked != life.asked {
					t.Fatalf("%v later: asked %d times, want %d", life.wait, e.asked, life.asked)
				}
			}
		})
	}
}

func TestFailedPassesAreCountedOverRestarts(t *testing.T) {
	for place, o := range keptIn(t) {
		t.Run(place, func(t *testing.T) {
			e := &eager{err: errors.New("it was no use")}
			l := newLives(t, o, e)
			l.size = 31_000
			if res, _ := l.live(2); e.asked != 3 || res.Reason != loop.FatalError {
				t.Fatalf("asked %d times, %s", e.asked, res.Reason)
			}
			if res, err := l.live(5); res.Reason != loop.CompactionExhausted || e.asked != window.MaxFailed || !errors.Is(err, loop.ErrExhausted) {
				t.Errorf("asked %d times, %s, %v", e.asked, res.Reason, err)
			}
		})
	}
}

func TestACompressionThatWorkedIsNotRepeatedAfterARestart(t *testing.T) {
	for place, o := range keptIn(t) {
		t.Run(place, func(t *testing.T) {
			var told compactions
			o.Listeners = []rondo.Listener{told.listener()}
			e := &eager{}
			e.ProtectLast = 1
			l := newLives(t, o, e)
			l.size = 60_000
			l.live(2)
			if last := told[len(told)-1].Compaction; last.Method != window.Shrunk || last.Parent != "" {
				t.Fatalf("the last pass: %+v", last)
			}
			l.size = 0
			asked := e.asked
			for range 3 {
				if l.live(2); e.asked != asked {
					t.Fatalf("asked %d times, %d before the restart", e.asked, asked)
				}
			}
			l.size = 60_000
			if l.live(2); e.asked != asked+1 {
				t.Errorf("asked %d times after the conversation grew, want %d", e.asked, asked+1)
			}
		})
	}
}

// Shrinking is a note in the session: whoever resumes it sends the same bytes.
func TestShrunkResultsStaySoAfterARestart(t *testing.T) {
	const perLife, size = 14, 3000
	script := func(r *modeltest.Request) modeltest.Reply {
		if r.Number%perLife == 0 {
			return modeltest.Reply{Status: 400}
		}
		return modeltest.Say(modeltest.Call("look", fmt.Sprintf(`{"n":%d}`, r.Number)))
	}
	for place, o := range keptIn(t) {
		t.Run(place, func(t *testing.T) {
			m, srv := pipeModel(t, model.ChatCompletions, 16_000, modeltest.Options{Scripts: []modeltest.Script{{Func: script}}}, model.Quirks{})
			var told compactions
			o.Model, o.System, o.Listeners = m, "Be brief.", []rondo.Listener{told.listener()}
			o.Limits = loop.Limits{MaxRounds: -1}
			o.Hooks = []hook.Hooks{adder()}
			o.ResultLimits = tool.Limits{SpillDir: t.TempDir()}
			o.Tools = []*tool.Tool{newTool("look", true, func(_ context.Context, c tool.Call) (tool.Result, error) {
				return tool.Result{Text: fmt.Sprintf("result %s %s", c.Args, strings.Repeat("line\n", size/5))}, nil
			})}
			id := ""
			for life := range 2 {
				req := rondo.Request{SessionID: id}
				if life == 0 {
					req.Text = "go"
				}
				res, err := newAgent(t, o).Run(t.Context(), req)
				if err == nil || id != "" && res.SessionID != id {
					t.Fatalf("session %s went on as %s, %v", id, res.SessionID, err)
				}
				id = res.SessionID
			}
			if c := told[1].Compaction; c.Method != window.Shrunk || c.MessagesBefore != c.MessagesAfter || c.Parent != "" {
				t.Fatalf("the first pass: %+v", c)
			}
			all := srv.Requests()
			checkPrefixes(t, all[perLife-2:perLife+1])
			if !bytes.Contains(all[perLife].Body, []byte("[An old result, shrunk: look")) {
				t.Error("the results are whole again")
			}
			checkWhole(t, o, id, size)
		})
	}
}

// checkWhole checks that each result is kept as it was.
func checkWhole(t *testing.T, o rondo.Options, id string, size int) {
	t.Helper()
	var msgs []*message.Message
	if o.Store != nil {
		var err error
		if _, msgs, err = o.Store.Load(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	} else {
		snap, err := o.Snapshots.Load(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		msgs = snap.Messages
	}
	for _, m := range msgs {
		if text := m.Text(); m.Role == message.Tool && (len(text) < size || strings.Contains(text, "shrunk")) {
			t.Errorf("the result %s is kept as %q", m.ID, text)
		}
	}
}
