package rondo_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/tool"
)

// interruptedRun runs one turn and cancels it after a second of virtual time.
func interruptedRun(t *testing.T, s *rondo.Session, text string) (res rondo.Result, took time.Duration) {
	t.Helper()
	var at time.Time
	time.AfterFunc(time.Second, func() { at = time.Now(); s.Cancel() })
	res, err := s.Run(t.Context(), rondo.Request{Text: text})
	took = time.Since(at)
	if !errors.Is(err, context.Canceled) || res.Reason != loop.UserCancel || res.FinalResponse == "" {
		t.Errorf("the run ended with %s, %q, %v", res.Reason, res.FinalResponse, err)
	}
	return res, took
}

// Scenarios 64, 65 and 71: what was in flight is thrown away, what was seen of
// it stays on record, and the next turn is valid and undisturbed.
func TestInterruptWhileTheModelSpeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.NewMemory()
		m := &fakeModel{steps: []step{stalls("Half a "), says("Whole.")}}
		s := newAgent(t, rondo.Options{Model: m, Store: st}).Session("")
		defer s.Close()
		res, took := interruptedRun(t, s, "one")
		if took > 100*time.Millisecond || shape(res.Messages) != "user:one" {
			t.Errorf("it took %v and left %s", took, shape(res.Messages))
		}
		s.Cancel() // idle: ignored
		res, err := s.Run(t.Context(), rondo.Request{Text: "two"})
		if err != nil || shape(res.Messages) != "user:one\n\ntwo; assistant:Whole." {
			t.Errorf("the next turn left %s, %v", shape(res.Messages), err)
		}
		_, msgs, err := st.Load(t.Context(), s.ID())
		if err != nil || shape(msgs) != "user:one; assistant:Half a ; user:two; assistant:Whole." || msgs[1].Status != message.StatusInterrupted {
			t.Errorf("the record is %s, %v", shape(msgs), err)
		}
	})
}

// Scenario 67: finished results are kept, the rest is answered.
func TestInterruptDuringABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := newTool("wait", true, func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		})
		hangs := newTool("hang", true, func(context.Context, tool.Call) (tool.Result, error) {
			time.Sleep(time.Minute)
			return tool.Result{Text: "late"}, nil
		})
		m := &fakeModel{steps: []step{asks("a look", "b wait", "c hang"), says("Next.")}}
		st := store.NewMemory()
		s := newAgent(t, rondo.Options{Model: m, Store: st, Tools: []*tool.Tool{fixed("look", "seen"), waits, hangs}}).Session("")
		defer s.Close()
		res, took := interruptedRun(t, s, "one")
		if took > 100*time.Millisecond || len(res.Messages) != 5 {
			t.Fatalf("it took %v and left %s", took, shape(res.Messages))
		}
		want := []message.Status{message.StatusOK, message.StatusInterrupted, message.StatusInterrupted}
		for i, m := range res.Messages[2:] {
			if m.Status != want[i] || m.Text() == "" {
				t.Errorf("result %d is %s %q", i, m.Status, m.Text())
			}
		}
		if _, err := s.Run(t.Context(), rondo.Request{Text: "two"}); err != nil {
			t.Fatal(err)
		}
		sent := m.requests[1].History.Messages()
		if n := len(sent); sent[n-1].Text() != "two" || sent[n-2].Role != message.Assistant || sent[n-2].Text() != message.InterruptedText {
			t.Errorf("the next turn sent %s", m.shapes[1])
		}
		time.Sleep(2 * time.Minute) // the tool that ignored the interrupt comes back
	})
}

// Scenario 66: an interrupt before the batch leaves no call without a result.
func TestInterruptBeforeABatch(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ran := false
	look := newTool("look", false, func(context.Context, tool.Call) (tool.Result, error) {
		ran = true
		return tool.Result{}, nil
	})
	ask := asks("a look", "b look")
	m := &fakeModel{steps: []step{ask}}
	a := newAgent(t, rondo.Options{Model: m, Tools: []*tool.Tool{look}, Approve: func(context.Context, rondo.ApprovalRequest) rondo.Approval {
		cancel()
		return rondo.Approval{Allow: true}
	}})
	res, err := a.Run(ctx, rondo.Request{Text: "go"})
	if !errors.Is(err, context.Canceled) || ran || len(res.Messages) != 4 {
		t.Fatalf("ran: %v, left %s, %v", ran, shape(res.Messages), err)
	}
	for _, m := range res.Messages[2:] {
		if m.Status != message.StatusInterrupted {
			t.Errorf("a call was answered with %s", m.Status)
		}
	}
}

func TestDeadlineEndsARunWithASummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &fakeModel{steps: []step{stalls(""), says("So far nothing.")}}
		a := newAgent(t, rondo.Options{Model: m, Limits: loop.Limits{MaxExecution: 5 * time.Second}})
		res, err := a.Run(t.Context(), rondo.Request{Text: "go"})
		if err != nil || res.Reason != loop.Deadline || res.FinalResponse != "So far nothing." || res.Duration != 5*time.Second {
			t.Errorf("ended with %s after %v: %q, %v", res.Reason, res.Duration, res.FinalResponse, err)
		}
	})
}

// Scenario 70.
func TestSteeringReachesTheModelWithTheResults(t *testing.T) {
	var s *rondo.Session
	look := newTool("look", true, func(context.Context, tool.Call) (tool.Result, error) {
		if !s.Steer("mind the tests") {
			return tool.Result{}, errors.New("nobody to steer")
		}
		return tool.Result{Text: "seen"}, nil
	})
	st := store.NewMemory()
	m := &fakeModel{steps: []step{asks("a look"), says("ok")}}
	s = newAgent(t, rondo.Options{Model: m, Store: st, Tools: []*tool.Tool{look}}).Session("")
	defer s.Close()
	if _, err := s.Run(t.Context(), rondo.Request{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	_, msgs, err := st.Load(t.Context(), s.ID())
	if err != nil || !strings.Contains(m.shapes[1], "mind the tests") || !strings.Contains(shape(msgs), "mind the tests") {
		t.Errorf("sent %s, saved %s, %v", m.shapes[1], shape(msgs), err)
	}
	if s.Steer("too late") {
		t.Error("an idle session took a steering message")
	}
}

func TestSecondRunOfABusySessionIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &fakeModel{steps: []step{stalls("")}}
		a := newAgent(t, rondo.Options{Model: m})
		s := a.Session("")
		defer s.Close()
		var wg sync.WaitGroup
		wg.Go(func() { interruptedRun(t, s, "one") })
		synctest.Wait()
		if _, err := a.Run(t.Context(), rondo.Request{Text: "two", SessionID: s.ID()}); !errors.Is(err, rondo.ErrBusy) {
			t.Errorf("the second run gave %v", err)
		}
		wg.Wait()
	})
}

func TestRunGoesOnWhereItBrokeOff(t *testing.T) {
	st := store.NewMemory()
	m := &fakeModel{steps: []step{asks("a look"), fails("overloaded"), says("Done.")}}
	a := newAgent(t, rondo.Options{Model: m, Store: st, Tools: []*tool.Tool{fixed("look", "seen")}})
	first, err := a.Run(t.Context(), rondo.Request{Text: "go"})
	if err == nil || first.Reason != loop.CircuitBreaker {
		t.Fatalf("ended with %s, %v", first.Reason, err)
	}
	again := newAgent(t, rondo.Options{Model: m, Store: st, Tools: []*tool.Tool{fixed("look", "seen")}})
	res, err := again.Run(t.Context(), rondo.Request{SessionID: first.SessionID})
	if err != nil || shape(res.Messages) != "user:go; assistant:<look>; tool:seen; assistant:Done." {
		t.Errorf("resumed to %s, %v", shape(res.Messages), err)
	}
	if _, err := again.Run(t.Context(), rondo.Request{SessionID: first.SessionID}); !errors.Is(err, rondo.ErrNothingToDo) {
		t.Errorf("a finished session resumed without a word: %v", err)
	}
}

func TestStoppingTheIterationStopsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &fakeModel{steps: []step{stalls("Half")}}
		for ev, err := range newAgent(t, rondo.Options{Model: m}).Stream(t.Context(), rondo.Request{Text: "go"}) {
			if err != nil {
				t.Fatal(err)
			}
			if ev.Type == rondo.EventText {
				break
			}
		}
	})
}

// Scenario 29: listeners that panic, block or are slow never harm the run.
func TestBadListenersDoNotHarmTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		block := make(chan struct{})
		var told []string
		good := func(e rondo.Event) {
			if e.Type == rondo.EventStatus {
				told = append(told, e.Text)
			}
		}
		m := &fakeModel{steps: []step{asks("a wait"), says("Fine.")}}
		a := newAgent(t, rondo.Options{Model: m, Tools: []*tool.Tool{settles("wait")}, Listeners: []rondo.Listener{
			func(rondo.Event) { panic("bad listener") }, func(rondo.Event) { <-block }, good,
		}})
		began := time.Now()
		res, err := a.Run(t.Context(), rondo.Request{Text: "go"})
		if err != nil || res.FinalResponse != "Fine." || time.Since(began) > 2*time.Second {
			t.Errorf("got %q, %v, after %v", res.FinalResponse, err, time.Since(began))
		}
		close(block)
		synctest.Wait()
		want := []string{"a listener panicked and is not called again: bad listener"}
		if !slices.Equal(told, want) {
			t.Errorf("told %q", told)
		}
	})
}

// The event that says how the run ended is the last one, whatever a listener
// does with it.
func TestNothingIsToldAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []rondo.EventType
		a := newAgent(t, rondo.Options{Model: &fakeModel{steps: []step{says("Fine.")}}, Listeners: []rondo.Listener{
			func(e rondo.Event) {
				if e.Type == rondo.EventDone {
					panic("bad listener")
				}
			},
			func(e rondo.Event) {
				if e.Type == rondo.EventDone {
					time.Sleep(time.Millisecond) // the other one panics meanwhile
				}
				seen = append(seen, e.Type)
			},
		}})
		if _, err := a.Run(t.Context(), rondo.Request{Text: "go"}); err != nil {
			t.Fatal(err)
		}
		if seen[len(seen)-1] != rondo.EventDone {
			t.Errorf("told %v", seen)
		}
	})
}

// A listener that keeps up has seen all when Run returns, so that what it
// gathered can be read, although another one blocks. The race detector tells.
func TestListenerThatKeepsUpHasSeenAllWhenRunReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		block := make(chan struct{})
		last := rondo.EventType("")
		m := &fakeModel{steps: []step{says("Fine.")}}
		a := newAgent(t, rondo.Options{Model: m, Listeners: []rondo.Listener{
			func(rondo.Event) { <-block }, func(e rondo.Event) { last = e.Type },
		}})
		if _, err := a.Run(t.Context(), rondo.Request{Text: "go"}); err != nil || last != rondo.EventDone {
			t.Errorf("the last event was %s, %v", last, err)
		}
		close(block)
	})
}

func TestCallbacksAreMadeFromEvents(t *testing.T) {
	var mu sync.Mutex
	var got []string
	note := func(s string) { mu.Lock(); got = append(got, s); mu.Unlock() }
	c := rondo.Callbacks{
		Step:        func(int) { note("step") },
		StreamDelta: func(s string, _ bool) { note("text " + s) },
		ToolGen:     func(name string) { note("gen " + name) },
		ToolProgress: func(u *rondo.ToolUse, _ string, r *rondo.ToolResult) {
			if u != nil {
				note("use " + u.Name)
			} else {
				note("result " + r.Content)
			}
		},
	}
	m := &fakeModel{steps: []step{asks("a look"), says("Done.")}}
	a := newAgent(t, rondo.Options{Model: m, Tools: []*tool.Tool{fixed("look", "seen")}})
	if _, err := a.Run(t.Context(), rondo.Request{Text: "go", Listeners: []rondo.Listener{c.Listener()}}); err != nil {
		t.Fatal(err)
	}
	if s := strings.Join(got, ", "); s != "step, gen look, use look, result seen, step, text Done." {
		t.Errorf("callbacks: %s", s)
	}
}
