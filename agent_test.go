package rondo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/tool"
)

// Scenario 1.
func TestOneTextReply(t *testing.T) {
	m := &fakeModel{steps: []step{says("Hello there.")}}
	res, err := newAgent(t, rondo.Options{Model: m}).Run(t.Context(), rondo.Request{Text: "hi"})
	if err != nil || res.FinalResponse != "Hello there." || res.Reason != loop.EndTurn || res.APICalls != 1 {
		t.Errorf("got %q, %s, %d calls, %v", res.FinalResponse, res.Reason, res.APICalls, err)
	}
	if got := shape(res.Messages); got != "user:hi; assistant:Hello there." {
		t.Errorf("history is %s", got)
	}
	if want := (model.Usage{Input: 10, Output: 5}); res.Usage != want || res.UsageByModel["fake/m"] != want {
		t.Errorf("usage is %+v, by model %+v", res.Usage, res.UsageByModel)
	}
}

// Scenario 2.
func TestToolCallThenText(t *testing.T) {
	m := &fakeModel{steps: []step{asks("c1 look"), says("Found.")}}
	a := newAgent(t, rondo.Options{Model: m, Tools: []*tool.Tool{fixed("look", "a file")}})
	res, err := a.Run(t.Context(), rondo.Request{Text: "go"})
	if err != nil {
		t.Fatal(err)
	}
	if got := shape(res.Messages); got != "user:go; assistant:<look>; tool:a file; assistant:Found." {
		t.Errorf("history is %s", got)
	}
	if res.Messages[1].Calls()[0].ID != "c1" || res.Messages[2].ToolCallID != "c1" || res.APICalls != 2 {
		t.Errorf("call %q, result for %q, %d calls", res.Messages[1].Calls()[0].ID, res.Messages[2].ToolCallID, res.APICalls)
	}
}

// Scenario 3.
func TestChatIsTheFinalResponseOfRun(t *testing.T) {
	m := &fakeModel{steps: []step{says("same")}}
	a := newAgent(t, rondo.Options{Model: m})
	text, err := a.Chat(t.Context(), "x")
	res, _ := a.Run(t.Context(), rondo.Request{Text: "x"})
	if err != nil || text != res.FinalResponse {
		t.Errorf("Chat gave %q (%v), Run %q", text, err, res.FinalResponse)
	}
}

// Scenario 4.
func TestCallersHistoryIsNotChanged(t *testing.T) {
	history := []*message.Message{message.NewUser("a"), message.NewAssistant(message.Text("b"))}
	before := fmt.Sprintf("%+v %+v", *history[0], *history[1])
	m := &fakeModel{steps: []step{asks("c1 look"), says("done")}}
	a := newAgent(t, rondo.Options{Model: m, Tools: []*tool.Tool{fixed("look", "x")}, Store: store.NewMemory()})
	res, err := a.Run(t.Context(), rondo.Request{Text: "go", History: history})
	if err != nil {
		t.Fatal(err)
	}
	if after := fmt.Sprintf("%+v %+v", *history[0], *history[1]); len(history) != 2 || before != after {
		t.Errorf("the caller's history is now %s", shape(history))
	}
	if got := shape(res.Messages); got != "user:a; assistant:b; user:go; assistant:<look>; tool:x; assistant:done" {
		t.Errorf("history is %s", got)
	}
}

// Scenario 5.
func TestUserMessagesInARowAreSentAsOne(t *testing.T) {
	m := &fakeModel{steps: []step{says("ok")}}
	history := []*message.Message{message.NewUser("a"), message.NewAssistant(message.Text("b")), message.NewUser("c")}
	if _, err := newAgent(t, rondo.Options{Model: m}).Run(t.Context(), rondo.Request{Text: "go", History: history}); err != nil {
		t.Fatal(err)
	}
	if m.shapes[0] != "user:a; assistant:b; user:c\n\ngo" {
		t.Errorf("sent %q", m.shapes[0])
	}
}

// Scenario 11.
func TestInvalidUTF8IsReplaced(t *testing.T) {
	m := &fakeModel{steps: []step{asks("c1 look"), says("ok")}}
	a := newAgent(t, rondo.Options{Model: m, Tools: []*tool.Tool{fixed("look", "bad \xff byte")}})
	if _, err := a.Run(t.Context(), rondo.Request{Text: "lone \xed\xa0\x80 surrogate"}); err != nil {
		t.Fatal(err)
	}
	if got := m.shapes[1]; strings.ToValidUTF8(got, "?") != got || !strings.Contains(got, "\uFFFD surrogate") || !strings.Contains(got, "bad \uFFFD byte") {
		t.Errorf("sent %q", got)
	}
}

// Scenario 13.
func TestReasoningIsThatOfThisTurn(t *testing.T) {
	thinks := func(context.Context, func(model.Delta) bool) (*model.Reply, error) {
		return &model.Reply{Message: message.NewAssistant(message.Reasoning("hm"), message.Text("a")), Finish: model.FinishStop}, nil
	}
	m := &fakeModel{steps: []step{thinks, says("b")}}
	s := newAgent(t, rondo.Options{Model: m}).Session("")
	defer s.Close()
	first, _ := s.Run(t.Context(), rondo.Request{Text: "1"})
	second, _ := s.Run(t.Context(), rondo.Request{Text: "2"})
	if first.Reasoning != "hm" || second.Reasoning != "" {
		t.Errorf("reasoning is %q, then %q", first.Reasoning, second.Reasoning)
	}
}

// Scenario 17.
func TestResumedSessionKeepsItsSystemPrompt(t *testing.T) {
	st := store.NewMemory()
	m := &fakeModel{steps: []step{says("ok")}}
	first, err := newAgent(t, rondo.Options{Model: m, Store: st, System: "made on Monday"}).Run(t.Context(), rondo.Request{Text: "1"})
	if err != nil {
		t.Fatal(err)
	}
	again := newAgent(t, rondo.Options{Model: m, Store: st, System: "made on Tuesday"})
	if _, err := again.Run(t.Context(), rondo.Request{Text: "2", SessionID: first.SessionID}); err != nil {
		t.Fatal(err)
	}
	if got := m.requests[1].System; got != "made on Monday" {
		t.Errorf("the resumed session was sent %q", got)
	}
	other := &otherModel{fakeModel{steps: []step{says("ok")}}}
	changed := newAgent(t, rondo.Options{Model: other, Store: st, System: "made for another model"})
	if _, err := changed.Run(t.Context(), rondo.Request{Text: "3", SessionID: first.SessionID}); err != nil {
		t.Fatal(err)
	}
	if got := other.requests[0].System; got != "made for another model" {
		t.Errorf("the session with another model was sent %q", got)
	}
}

type otherModel struct{ fakeModel }

func (o *otherModel) Profile() *model.Profile {
	return &model.Profile{Provider: "fake", Model: "other"}
}

// Scenarios 42 and 44: unknown tools are answered each time, and it ends.
func TestToolsThatDoNotExistAreAnsweredAndEnd(t *testing.T) {
	var steps []step
	for i := range 3 {
		steps = append(steps, asks(fmt.Sprintf("c%d fly", i)))
	}
	m := &fakeModel{steps: append(steps, says("I cannot fly."))}
	a := newAgent(t, rondo.Options{Model: m, Tools: []*tool.Tool{fixed("look", "x")}})
	res, _ := a.Run(t.Context(), rondo.Request{Text: "go"})
	if res.Reason != loop.LoopDetected || res.FinalResponse != "I cannot fly." || res.Rounds != 3 {
		t.Errorf("ended with %s after %d rounds: %q", res.Reason, res.Rounds, res.FinalResponse)
	}
	for _, m := range res.Messages {
		if m.Role == message.Tool && (m.Status != message.StatusError || !strings.Contains(m.Text(), "fly")) {
			t.Errorf("an unknown tool was answered with %s %q", m.Status, m.Text())
		}
	}
}

// Scenarios 43, 52 and 53: one unknown, one that panics, two good ones; every
// call is answered, in the order of the calls.
func TestMixedBatchIsAnsweredInOrder(t *testing.T) {
	panics := newTool("panics", true, func(context.Context, tool.Call) (tool.Result, error) { panic("boom") })
	m := &fakeModel{steps: []step{asks("a look", "b nothing_like_it", "c panics", "d see"), says("ok")}}
	a := newAgent(t, rondo.Options{Model: m, Tools: []*tool.Tool{fixed("look", "L"), panics, fixed("see", "S")}})
	res, err := a.Run(t.Context(), rondo.Request{Text: "go"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range res.Messages[2:6] {
		got = append(got, m.ToolCallID+" "+string(m.Status))
	}
	if diff := cmp.Diff([]string{"a ok", "b error", "c error", "d ok"}, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// Scenario 105.
func TestMaxRoundsEndsWithASummaryWithoutTools(t *testing.T) {
	m := &fakeModel{steps: []step{asks("a look"), asks("b look"), says("Looked twice.")}}
	a := newAgent(t, rondo.Options{Model: m, Tools: []*tool.Tool{fixed("look", "x")}, Limits: loop.Limits{MaxRounds: 2}})
	res, err := a.Run(t.Context(), rondo.Request{Text: "go"})
	if err != nil || res.Reason != loop.MaxRounds || res.FinalResponse != "Looked twice." || res.Rounds != 2 || res.APICalls != 3 {
		t.Errorf("ended with %s, %q, %d rounds, %d calls, %v", res.Reason, res.FinalResponse, res.Rounds, res.APICalls, err)
	}
	if m.requests[1].Tools == nil || m.requests[2].Tools != nil {
		t.Error("the summary was asked for with tools, or a round without")
	}
}

func TestFailureIsAnErrorWithItsClass(t *testing.T) {
	m := &fakeModel{steps: []step{fails(model.Auth)}}
	res, err := newAgent(t, rondo.Options{Model: m}).Run(t.Context(), rondo.Request{Text: "go"})
	re, ok := errors.AsType[*rondo.RunError](err)
	if !ok || re.Reason != loop.FatalError || res.Reason != loop.FatalError || model.ClassOf(err) != model.Auth {
		t.Errorf("got %v, result %s", err, res.Reason)
	}
}

// Every message is saved when it is final: the user's before the first call,
// results before the next.
func TestMessagesAreSavedBeforeTheNextCall(t *testing.T) {
	st := store.NewMemory()
	var saved []string
	seen := func(s step) step {
		return func(ctx context.Context, yield func(model.Delta) bool) (*model.Reply, error) {
			list, err := st.List(ctx, store.ListOptions{})
			if err != nil || len(list) != 1 {
				return nil, fmt.Errorf("sessions: %d, %w", len(list), err)
			}
			_, msgs, err := st.Load(ctx, list[0].ID)
			saved = append(saved, shape(msgs))
			if err != nil {
				return nil, err
			}
			return s(ctx, yield)
		}
	}
	m := &fakeModel{steps: []step{seen(asks("a look", "b look")), seen(says("ok"))}}
	a := newAgent(t, rondo.Options{Model: m, Store: st, Tools: []*tool.Tool{fixed("look", "x")}})
	res, err := a.Run(t.Context(), rondo.Request{Text: "go"})
	if err != nil {
		t.Fatal(err)
	}
	if saved[0] != "user:go" || !strings.HasPrefix(saved[1], "user:go; assistant:<look><look>; tool:x; tool:") {
		t.Errorf("saved before the calls: %q", saved)
	}
	meta, msgs, err := st.Load(t.Context(), res.SessionID)
	if err != nil || shape(msgs) != shape(res.Messages) || meta.EndReason != "end_turn" || meta.Calls != 2 || meta.Usage.Input != 20 {
		t.Errorf("the store has %s, %+v, %v", shape(msgs), meta, err)
	}
}

// A reply whose calls only read is saved soon, even if they take their time.
func TestReplyIsSavedWhileASlowReadGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.NewMemory()
		var seen string
		slow := newTool("slow", true, func(ctx context.Context, c tool.Call) (tool.Result, error) {
			time.Sleep(time.Second)
			_, msgs, err := st.Load(ctx, c.Session)
			seen = shape(msgs)
			return tool.Result{Text: "read"}, err
		})
		m := &fakeModel{steps: []step{asks("a slow"), says("ok")}}
		res, err := newAgent(t, rondo.Options{Model: m, Store: st, Tools: []*tool.Tool{slow}}).Run(t.Context(), rondo.Request{Text: "go"})
		if err != nil || seen != "user:go; assistant:<slow>" {
			t.Errorf("while the tool ran the store had %s, %v", seen, err)
		}
		_, msgs, err := st.Load(t.Context(), res.SessionID)
		if err != nil || shape(msgs) != shape(res.Messages) {
			t.Errorf("the store has %s, %v", shape(msgs), err)
		}
	})
}

// Scenario 63.
func TestFailingStoreEndsTheRunWithAClearReason(t *testing.T) {
	st := &failingStore{Memory: store.NewMemory(), after: 2}
	m := &fakeModel{steps: []step{asks("a look"), says("never")}}
	res, err := newAgent(t, rondo.Options{Model: m, Store: st, Tools: []*tool.Tool{fixed("look", "x")}}).Run(t.Context(), rondo.Request{Text: "go"})
	if res.Reason != loop.FatalError || !errors.Is(err, errDiskFull) || res.APICalls != 1 {
		t.Errorf("ended with %s after %d calls: %v", res.Reason, res.APICalls, err)
	}
}

var errDiskFull = errors.New("disk full")

// failingStore fails from the given write on.
type failingStore struct {
	*store.Memory
	writes, after int
}

func (f *failingStore) Append(ctx context.Context, id string, msgs []*message.Message, u store.Update) error {
	if f.writes++; f.writes >= f.after {
		return errDiskFull
	}
	return f.Memory.Append(ctx, id, msgs, u)
}

// Scenario 62: a result with effects is there before the next tool runs.
func TestResultWithEffectsIsSavedBeforeTheNextTool(t *testing.T) {
	st := store.NewMemory()
	var seen string
	write := newTool("write", false, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: "written"}, nil })
	check := newTool("check", false, func(ctx context.Context, c tool.Call) (tool.Result, error) {
		_, msgs, err := st.Load(ctx, c.Session)
		seen = shape(msgs)
		return tool.Result{Text: "checked"}, err
	})
	m := &fakeModel{steps: []step{asks("a write", "b check"), says("ok")}}
	if _, err := newAgent(t, rondo.Options{Model: m, Store: st, Tools: []*tool.Tool{write, check}}).Run(t.Context(), rondo.Request{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(seen, "tool:written") {
		t.Errorf("when the second tool ran the store had %s", seen)
	}
}

func TestDeniedCallIsAnsweredAndNotRun(t *testing.T) {
	ran := false
	danger := newTool("danger", false, func(context.Context, tool.Call) (tool.Result, error) {
		ran = true
		return tool.Result{}, nil
	})
	m := &fakeModel{steps: []step{asks("a danger"), says("ok")}}
	a := newAgent(t, rondo.Options{Model: m, Tools: []*tool.Tool{danger}, Approve: func(context.Context, rondo.ApprovalRequest) rondo.Approval {
		return rondo.Approval{Reason: "not on a Monday"}
	}})
	res, err := a.Run(t.Context(), rondo.Request{Text: "go"})
	if err != nil || ran || res.Messages[2].Status != message.StatusDenied || !strings.Contains(res.Messages[2].Text(), "not on a Monday") {
		t.Errorf("ran: %v, result %s %q, %v", ran, res.Messages[2].Status, res.Messages[2].Text(), err)
	}
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	m := &fakeModel{steps: []step{says("ok")}}
	for name, o := range map[string]rondo.Options{
		"no model":              {},
		"two tools of one name": {Model: m, Tools: []*tool.Tool{fixed("look", ""), fixed("look", "")}},
		"a tool without a name": {Model: m, Tools: []*tool.Tool{fixed("", "")}},
		"a tool without a run":  {Model: m, Tools: []*tool.Tool{newTool("x", true, nil)}},
	} {
		if _, err := rondo.New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestEventsComeInOrderAndDoneIsLast(t *testing.T) {
	m := &fakeModel{steps: []step{asks("a look"), says("All good.")}}
	a := newAgent(t, rondo.Options{Model: m, Tools: []*tool.Tool{fixed("look", "x")}})
	var types []string
	var text strings.Builder
	last := int64(0)
	for ev, err := range a.Stream(t.Context(), rondo.Request{Text: "go"}) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Seq != last+1 {
			t.Errorf("event %d follows %d", ev.Seq, last)
		}
		last = ev.Seq
		types = append(types, string(ev.Type))
		text.WriteString(map[bool]string{true: ev.Text}[ev.Type == rondo.EventText])
	}
	want := []string{"step", "tool_gen", "usage", "tool_use_start", "tool_result", "step", "text_delta", "text_delta", "usage", "done"}
	if diff := cmp.Diff(want, types); diff != "" || text.String() != "All good." {
		t.Errorf("text %q, events (-want +got):\n%s", text.String(), diff)
	}
	if slices.Index(types, "done") != len(types)-1 {
		t.Error("done is not the last event, or not the only one")
	}
}
