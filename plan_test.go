package rondo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/hook"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/snapshot"
	"github.com/rondo-engine/rondo/tool"
)

// planBench is an agent with a tool that looks, one that changes something and one
// that may do either, and what happened to them.
type planBench struct {
	model    *fakeModel
	opts     rondo.Options
	ran      []string
	states   []string
	answered []rondo.Plan
}

func newPlanBench(steps ...step) *planBench {
	b := &planBench{model: &fakeModel{steps: steps}}
	add := func(name string, readOnly bool) *tool.Tool {
		return newTool(name, readOnly, func(context.Context, tool.Call) (tool.Result, error) {
			b.ran = append(b.ran, name)
			return tool.Result{Text: name + " ran"}, nil
		})
	}
	either := add("either", false)
	either.Looks = func(args json.RawMessage) bool { return string(args) == `{"n":1}` }
	b.opts = rondo.Options{
		Model: b.model, Store: store.NewMemory(), Tools: []*tool.Tool{add("look", true), add("change", false), either},
		Listeners: []rondo.Listener{func(e rondo.Event) {
			if e.Type == rondo.EventPlan {
				b.states = append(b.states, e.Plan.State)
			}
		}},
	}
	return b
}

// says has Confirm give answers, one after the other.
func (b *planBench) says(answers ...rondo.PlanAnswer) {
	b.opts.Confirm = func(_ context.Context, p rondo.Plan) (rondo.PlanAnswer, error) {
		b.answered = append(b.answered, p)
		a := answers[0]
		answers = answers[1:]
		return a, nil
	}
}

// offered are the names of the tools of request i.
func (b *planBench) offered(i int) string {
	var names []string
	if set := b.model.requests[i].Tools; set != nil {
		for _, s := range set.Specs {
			names = append(names, s.Name)
		}
	}
	return strings.Join(names, " ")
}

func (b *planBench) run(t *testing.T, req rondo.Request) rondo.Result {
	t.Helper()
	res, err := newAgent(t, b.opts).Run(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestAPlanIsConfirmedAndTheSameRunCarriesItOut(t *testing.T) {
	b := newPlanBench(asks("c1 look", "c2 change", `c3 either {"n":1}`, `c4 either {"n":2}`), says("1. Change it."), asks("c5 change"), says("Done."))
	b.says(rondo.PlanAnswer{Decision: rondo.PlanConfirmed})
	res := b.run(t, rondo.Request{Text: "mend it", Mode: rondo.PlanFirst})
	if res.FinalResponse != "Done." || res.Reason != loop.EndTurn || res.Planning || res.Rounds != 4 {
		t.Errorf("got %+v", res)
	}
	if got := strings.Join(b.ran, " "); got != "look either change" {
		t.Errorf("ran %s", got)
	}
	for i, want := range []string{"look either", "look either", "look change either", "look change either"} {
		if got := b.offered(i); got != want {
			t.Errorf("request %d offers %q, want %q", i, got, want)
		}
	}
	if m := res.Messages[3]; m.Status != message.StatusDenied || !strings.Contains(m.Text(), "a plan is being made") {
		t.Errorf("the held call: %v %q", m.Status, m.Text())
	}
	if m := res.Messages[5]; m.Status != message.StatusDenied {
		t.Errorf("the call that does not only look: %v %q", m.Status, m.Text())
	}
	if len(b.answered) != 1 || b.answered[0].Text != "1. Change it." || b.answered[0].Session != res.SessionID {
		t.Errorf("asked %+v", b.answered)
	}
	if got := strings.Join(b.states, " "); got != "begun presented confirmed" {
		t.Errorf("events: %s", got)
	}
	if m := res.Messages[7]; m.Role != message.User || m.Text() != "The plan is approved. Carry it out." {
		t.Errorf("the approval: %v %q", m.Role, m.Text())
	}
}

func TestAnEditedPlanIsCarriedOutAsItWasEdited(t *testing.T) {
	b := newPlanBench(says("1. A."), asks("c1 change"), says("Done."))
	b.says(rondo.PlanAnswer{Decision: rondo.PlanEdited, Text: "1. B."})
	res := b.run(t, rondo.Request{Text: "mend it", Mode: rondo.PlanFirst})
	if m := res.Messages[2]; !strings.HasSuffix(m.Text(), "Carry it out.\n\n1. B.") || len(b.ran) != 1 || res.Planning {
		t.Errorf("said %q, ran %v", m.Text(), b.ran)
	}
	if got := strings.Join(b.states, " "); got != "begun presented edited" {
		t.Errorf("events: %s", got)
	}
}

func TestRemarksLeadToAnotherPlan(t *testing.T) {
	b := newPlanBench(says("1. A."), asks("c1 change"), says("1. B."), asks("c2 change"), says("Done."))
	b.says(rondo.PlanAnswer{Decision: rondo.PlanRevise, Text: "Not A."}, rondo.PlanAnswer{Decision: rondo.PlanConfirmed})
	res := b.run(t, rondo.Request{Text: "mend it", Mode: rondo.PlanFirst})
	if len(b.ran) != 1 || res.FinalResponse != "Done." || len(b.answered) != 2 || b.answered[1].Text != "1. B." {
		t.Errorf("ran %v, asked %+v, %+v", b.ran, b.answered, res)
	}
	if m := res.Messages[2]; !strings.HasPrefix(m.Text(), "Not A.\n\nDo not change anything yet") {
		t.Errorf("said %q", m.Text())
	}
}

func TestWithoutAYesTheRunEndsWithThePlan(t *testing.T) {
	for name, confirm := range map[string]func(context.Context, rondo.Plan) (rondo.PlanAnswer, error){
		"nobody to ask": nil,
		"rejected": func(context.Context, rondo.Plan) (rondo.PlanAnswer, error) {
			return rondo.PlanAnswer{Decision: rondo.PlanRejected}, nil
		},
		"no decision": func(context.Context, rondo.Plan) (rondo.PlanAnswer, error) { return rondo.PlanAnswer{}, nil },
		"an unknown one": func(context.Context, rondo.Plan) (rondo.PlanAnswer, error) {
			return rondo.PlanAnswer{Decision: "sure"}, nil
		},
		"an edit of nothing": func(context.Context, rondo.Plan) (rondo.PlanAnswer, error) {
			return rondo.PlanAnswer{Decision: rondo.PlanEdited}, nil
		},
		"an error": func(context.Context, rondo.Plan) (rondo.PlanAnswer, error) {
			return rondo.PlanAnswer{}, errors.New("no terminal")
		},
	} {
		b := newPlanBench(says("1. A."))
		b.opts.Confirm = confirm
		res := b.run(t, rondo.Request{Text: "mend it", Mode: rondo.PlanFirst})
		if res.FinalResponse != "1. A." || res.Reason != loop.EndTurn || !res.Planning || b.model.calls != 1 {
			t.Errorf("%s: %+v", name, res)
		}
	}
}

func TestACancelWhileThePlanWaitsEndsTheRunAtOnce(t *testing.T) {
	b := newPlanBench(says("1. A."))
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	defer close(release)
	b.opts.Confirm = func(context.Context, rondo.Plan) (rondo.PlanAnswer, error) {
		cancel()
		<-release // one that does not look at the context
		return rondo.PlanAnswer{Decision: rondo.PlanConfirmed}, nil
	}
	res, err := newAgent(t, b.opts).Run(ctx, rondo.Request{Text: "mend it", Mode: rondo.PlanFirst})
	if !errors.Is(err, context.Canceled) || res.Reason != loop.UserCancel || !res.Planning || len(b.ran) > 0 {
		t.Errorf("%v, %+v", err, res)
	}
}

func TestASessionPlansUntilItsPlanIsApproved(t *testing.T) {
	b := newPlanBench(says("1. A."), asks("c1 change"), says("1. B."), asks("c2 change"), says("Done."), asks("c3 change"), says("More."))
	b.opts.Snapshots = snapshot.Dir(t.TempDir())
	id := b.run(t, rondo.Request{Text: "mend it", Mode: rondo.PlanFirst}).SessionID
	if res := b.run(t, rondo.Request{SessionID: id, Text: "Not A."}); !res.Planning || len(b.ran) > 0 { // another process, no mode named
		t.Errorf("%+v, ran %v", res, b.ran)
	}
	if res := b.run(t, rondo.Request{SessionID: id, Mode: rondo.ExecutePlan}); res.Planning || len(b.ran) != 1 || res.FinalResponse != "Done." {
		t.Errorf("%+v, ran %v", res, b.ran)
	}
	if _, err := newAgent(t, b.opts).Run(t.Context(), rondo.Request{SessionID: id, Mode: rondo.ExecutePlan}); !errors.Is(err, rondo.ErrNoPlan) {
		t.Errorf("a plan was carried out twice: %v", err)
	}
	if res := b.run(t, rondo.Request{SessionID: id, Text: "more"}); res.Planning || len(b.ran) != 2 {
		t.Errorf("%+v, ran %v", res, b.ran)
	}
}

func TestWhatIsWrongWithAModeIsToldBeforeAnythingIsSaid(t *testing.T) {
	b := newPlanBench(says("1. A."))
	a := newAgent(t, b.opts)
	for _, req := range []rondo.Request{{Text: "x", Mode: rondo.ExecutePlan}, {Text: "x", Mode: "fast"}} {
		if _, err := a.Run(t.Context(), req); err == nil {
			t.Errorf("mode %q was taken", req.Mode)
		}
	}
	if sessions, err := b.opts.Store.List(t.Context(), store.ListOptions{}); err != nil || len(sessions) > 0 || b.model.calls > 0 {
		t.Errorf("%d sessions, %d calls, %v", len(sessions), b.model.calls, err)
	}
}

func TestAnInterruptedPlanIsTakenUpInPlanMode(t *testing.T) {
	b := newPlanBench(asks("c1 look"), stalls("I think"))
	ctx, cancel := context.WithCancel(t.Context())
	b.opts.Listeners = append(b.opts.Listeners, func(e rondo.Event) {
		if e.Type == rondo.EventText {
			cancel()
		}
	})
	res, _ := newAgent(t, b.opts).Run(ctx, rondo.Request{Text: "mend it", Mode: rondo.PlanFirst})
	if _, err := newAgent(t, b.opts).Run(t.Context(), rondo.Request{SessionID: res.SessionID, Mode: rondo.ExecutePlan}); !errors.Is(err, rondo.ErrNoPlan) {
		t.Errorf("a plan that is not there was approved: %v", err)
	}
	b.model.steps = []step{asks("c2 change"), says("1. A.")}
	b.model.calls, b.model.requests = 0, nil
	res = b.run(t, rondo.Request{SessionID: res.SessionID})
	if !res.Planning || res.FinalResponse != "1. A." || slices.Contains(b.ran, "change") || b.offered(0) != "look either" {
		t.Errorf("%+v, ran %v, offered %q", res, b.ran, b.offered(0))
	}
}

func TestChildrenOfAPlanOnlyLook(t *testing.T) {
	b := newPlanBench(asks(`c1 delegate_task {"goal":"look around"}`), asks("c2 change", "c3 look"), says("I saw it."), says("1. A."), asks(`c4 delegate_task {"goal":"do it"}`),
		asks("c5 change"), says("I did it."), says("Done."))
	b.opts.Tools = append(b.opts.Tools, rondo.DelegateTool(rondo.Delegation{}))
	b.says(rondo.PlanAnswer{Decision: rondo.PlanConfirmed})
	res := b.run(t, rondo.Request{Text: "mend it", Mode: rondo.PlanFirst})
	if got := strings.Join(b.ran, " "); got != "look change" || res.FinalResponse != "Done." {
		t.Errorf("ran %s: %+v", got, res)
	}
	if got := b.offered(1); got != "look either" {
		t.Errorf("the child is offered %q", got)
	}
	if !strings.Contains(b.model.shapes[1], "nothing may be changed yet") || strings.Contains(b.model.shapes[5], "nothing may be changed") {
		t.Errorf("children are told %q, then %q", b.model.shapes[1], b.model.shapes[5])
	}
}

// A hook may rewrite a call: what counts is what would run. It sees each held
// call once, before and after.
func TestHooksCannotLeadAroundAPlan(t *testing.T) {
	b := newPlanBench(asks(`c1 either {"n":1}`), says("1. A."))
	var seen []string
	b.opts.Hooks = []hook.Hooks{{
		PreToolCall: func(_ context.Context, c hook.ToolCall) (hook.Decision, error) {
			seen = append(seen, "pre "+c.ID)
			return hook.Decision{Arguments: json.RawMessage(`{"n":2}`)}, nil
		},
		PostToolCall: func(_ context.Context, c hook.ToolCall, r *hook.Result) error {
			seen = append(seen, fmt.Sprintf("post %s %s", c.ID, r.Status))
			return nil
		},
	}}
	if b.run(t, rondo.Request{Text: "mend it", Mode: rondo.PlanFirst}); len(b.ran) > 0 || strings.Join(seen, ", ") != "pre c1, post c1 denied" {
		t.Errorf("ran %v, hooks saw %v", b.ran, seen)
	}
}

func TestWhatIsSaidToAPlanningRunIsPlannedWith(t *testing.T) {
	b := newPlanBench(says("1. A."), says("1. B."))
	s := newAgent(t, b.opts).Session("")
	defer s.Close()
	b.model.steps[0] = func(ctx context.Context, yield func(model.Delta) bool) (*model.Reply, error) {
		s.FollowUp("B, too.")
		return says("1. A.")(ctx, yield)
	}
	res, err := s.Run(t.Context(), rondo.Request{Text: "mend it", Mode: rondo.PlanFirst})
	if err != nil || !res.Planning || res.FinalResponse != "1. B." {
		t.Errorf("%v, %+v", err, res)
	}
	if m := res.Messages[2]; !strings.HasPrefix(m.Text(), "B, too.\n\nDo not change anything yet") {
		t.Errorf("said %q", m.Text())
	}
}

// A compression leaves the mode as it is, whatever becomes of the messages.
func TestAPlanOutlivesCompressions(t *testing.T) {
	steps := make([]step, 0, 40)
	for i := range 30 {
		steps = append(steps, asks(fmt.Sprintf(`c%d look {"n":%d}`, i, i)))
	}
	b := newPlanBench(append(steps, says("1. A."))...)
	b.opts.Limits.MaxRounds = 100
	s := newAgent(t, b.opts).Session("")
	if _, err := s.Run(t.Context(), rondo.Request{Text: "mend it", Mode: rondo.PlanFirst}); err != nil {
		t.Fatal(err)
	}
	b.model.steps = []step{says("A summary.")}
	told, err := s.Compress(t.Context(), rondo.CompressRequest{})
	if err != nil || told.Failure != "" || told.Parent == "" {
		t.Fatalf("%+v, %v", told, err)
	}
	id := s.ID()
	s.Close()
	b.model.steps = []step{asks("d1 change"), says("1. B.")}
	b.model.calls = 0
	if res := b.run(t, rondo.Request{SessionID: id, Text: "Not A."}); !res.Planning || slices.Contains(b.ran, "change") {
		t.Errorf("%+v, ran %v", res, b.ran)
	}
	b.model.steps = []step{asks("d2 change"), says("Done.")}
	b.model.calls = 0
	if res := b.run(t, rondo.Request{SessionID: id, Mode: rondo.ExecutePlan}); res.Planning || !slices.Contains(b.ran, "change") {
		t.Errorf("%+v, ran %v", res, b.ran)
	}
}

func TestAPersonWhoSaysNothingIsNotWaitedForForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		b := newPlanBench(asks(`c1 clarify {"question":"Which?"}`), says("1. A."))
		b.opts.Tools = append(b.opts.Tools, rondo.ClarifyTool())
		b.opts.AskTimeout = 3 * time.Minute
		b.opts.Ask = func(context.Context, rondo.Question) (string, error) { <-release; return "late", nil }
		b.opts.Confirm = func(context.Context, rondo.Plan) (rondo.PlanAnswer, error) {
			<-release
			return rondo.PlanAnswer{Decision: rondo.PlanConfirmed}, nil
		}
		begun := time.Now()
		res := b.run(t, rondo.Request{Text: "mend it", Mode: rondo.PlanFirst})
		if took := time.Since(begun); took != 6*time.Minute || !res.Planning || res.Reason != loop.EndTurn {
			t.Errorf("after %v: %+v", took, res)
		}
		if m := res.Messages[2]; m.Status != message.StatusError || m.Text() != rondo.ErrNoAnswer.Error() {
			t.Errorf("the model reads %v %q", m.Status, m.Text())
		}
	})
}
