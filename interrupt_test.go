package rondo_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/tool"
)

// stopWithin bounds a stop. It is meant to take 100 ms; machines that run tests
// are busy.
const stopWithin = 500 * time.Millisecond

// stopAt runs a turn and cancels it at the first event that at picks.
func stopAt(t *testing.T, s *rondo.Session, text string, at func(rondo.Event) bool) rondo.Result {
	t.Helper()
	var stopped time.Time
	var res rondo.Result
	for e, err := range s.Stream(t.Context(), rondo.Request{Text: text}) {
		if err != nil {
			t.Fatal(err)
		}
		if stopped.IsZero() && at(e) {
			stopped = time.Now()
			s.Cancel()
		}
		if e.Type == rondo.EventDone {
			res = *e.Done
		}
	}
	if took := time.Since(stopped); stopped.IsZero() || took > stopWithin {
		t.Errorf("the stop took %v", took)
	}
	if res.Reason != loop.UserCancel || res.FinalResponse == "" {
		t.Errorf("the run ended with %s, %q", res.Reason, res.FinalResponse)
	}
	return res
}

// next runs the turn after a stop, behind a stop that comes too late.
func next(t *testing.T, s *rondo.Session) rondo.Result {
	t.Helper()
	s.Cancel()
	res, err := s.Run(t.Context(), rondo.Request{Text: "two"})
	if err != nil || res.FinalResponse != "Whole." {
		t.Errorf("the next turn ended with %q, %v", res.FinalResponse, err)
	}
	return res
}

func wantShape(t *testing.T, what string, msgs []*message.Message, want string) {
	t.Helper()
	if got := shape(msgs); got != want {
		t.Errorf("%s is\n%s\nwant\n%s", what, got, want)
	}
}

// Scenarios 64, 65 and 71: the connection is closed, nothing of the reply is in
// the history, and the next turn is undisturbed. The text that was seen is kept
// in the record alone.
func TestStoppedStreamIsClosedAndForgotten(t *testing.T) {
	overTheWire(t, scripted(t, "reply\n  text Half a\n  stall\nreply\n  words Whole.\n"),
		func(t *testing.T, srv *modeltest.Server, m model.Model, st store.Store) {
			s := newAgent(t, rondo.Options{Model: m, Store: st}).Session("")
			defer s.Close()
			res := stopAt(t, s, "one", func(e rondo.Event) bool { return e.Type == rondo.EventText })
			wantShape(t, "the history", res.Messages, "user:one")
			if !srv.Requests()[0].Left() {
				t.Error("the connection stayed open")
			}
			wantShape(t, "the next history", next(t, s).Messages, "user:one\n\ntwo; assistant:Whole.")
			wantShape(t, "the second request", srv.Requests()[1].Messages, "user:one\n\ntwo")
			_, msgs, err := st.Load(t.Context(), s.ID())
			if err != nil {
				t.Fatal(err)
			}
			wantShape(t, "the record", msgs, "user:one; assistant:Half a; user:two; assistant:Whole.")
		})
}

// Scenarios 64 and 65, with nothing visible yet.
func TestStopBeforeTheFirstByteLeavesNothing(t *testing.T) {
	overTheWire(t, scripted(t, "reply\n  stall\nreply\n  words Whole.\n"),
		func(t *testing.T, srv *modeltest.Server, m model.Model, st store.Store) {
			s := newAgent(t, rondo.Options{Model: m, Store: st}).Session("")
			defer s.Close()
			stopAt(t, s, "one", func(e rondo.Event) bool {
				for e.Type == rondo.EventStep && len(srv.Requests()) == 0 {
					time.Sleep(time.Millisecond)
				}
				return e.Type == rondo.EventStep
			})
			_, msgs, err := st.Load(t.Context(), s.ID())
			if err != nil {
				t.Fatal(err)
			}
			wantShape(t, "the record", msgs, "user:one")
			next(t, s)
		})
}

// Scenario 66: a stop before a batch: every call is answered, and an assistant
// message stands between the results and what the user says next.
func TestStopBeforeABatchAnswersEveryCall(t *testing.T) {
	overTheWire(t, scripted(t, "reply\n  call look#a {\"n\":1}\n  call look#b {\"n\":2}\nreply\n  words Whole.\n"),
		func(t *testing.T, srv *modeltest.Server, m model.Model, st store.Store) {
			var s *rondo.Session
			ran := 0
			look := newTool("look", false, func(context.Context, tool.Call) (tool.Result, error) { ran++; return tool.Result{}, nil })
			s = newAgent(t, rondo.Options{Model: m, Store: st, Tools: []*tool.Tool{look}, Approve: func(context.Context, rondo.ApprovalRequest) rondo.Approval {
				s.Cancel()
				return rondo.Approval{Allow: true}
			}}).Session("")
			defer s.Close()
			res, err := s.Run(t.Context(), rondo.Request{Text: "one"})
			if !errors.Is(err, context.Canceled) || ran > 0 || res.FinalResponse == "" || len(res.Messages) != 4 {
				t.Fatalf("ran %d times, %q, %s, %v", ran, res.FinalResponse, shape(res.Messages), err)
			}
			for _, m := range res.Messages[2:] {
				if m.Status != message.StatusInterrupted || m.Text() == "" {
					t.Errorf("%s was answered with %s %q", m.ToolCallID, m.Status, m.Text())
				}
			}
			next(t, s)
			sent := srv.Requests()[1].Messages
			if n := len(sent); n != 6 || sent[4].Role != message.Assistant || sent[5].Text() != "two" {
				t.Errorf("the next turn sent %s", shape(sent))
			}
		})
}

// Scenario 67: a stop during a parallel batch keeps what is finished and cuts
// off the rest.
func TestStopDuringABatchKeepsWhatIsFinished(t *testing.T) {
	overTheWire(t, scripted(t, "reply\n  call look#a {}\n  call wait#b {}\n  call wait#c {\"n\":2}\nreply\n  words Whole.\n"),
		func(t *testing.T, srv *modeltest.Server, m model.Model, st store.Store) {
			waits := newTool("wait", true, func(ctx context.Context, _ tool.Call) (tool.Result, error) {
				<-ctx.Done()
				return tool.Result{}, ctx.Err()
			})
			s := newAgent(t, rondo.Options{Model: m, Store: st, Tools: []*tool.Tool{fixed("look", "seen"), waits}}).Session("")
			defer s.Close()
			res := stopAt(t, s, "one", func(e rondo.Event) bool { return e.Type == rondo.EventToolResult })
			want := []message.Status{message.StatusOK, message.StatusInterrupted, message.StatusInterrupted}
			for i, m := range res.Messages[2:] {
				if m.Status != want[i] {
					t.Errorf("%s is %s %q", m.ToolCallID, m.Status, m.Text())
				}
			}
			next(t, s)
			if sent := srv.Requests()[1].Messages; len(sent) != 7 || sent[2].Text() != "seen" || sent[5].Role != message.Assistant {
				t.Errorf("the next turn sent %s", shape(sent))
			}
		})
}
