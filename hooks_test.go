package rondo_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/hook"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/tool"
)

// witness is a tool that notes the arguments that it is run with.
type witness struct{ ran []string }

func (w *witness) tool(name string) *tool.Tool {
	return newTool(name, false, func(_ context.Context, c tool.Call) (tool.Result, error) {
		w.ran = append(w.ran, string(c.Args))
		return tool.Result{Text: "worked"}, nil
	})
}

// statusTo is a listener that gathers what people are told.
func statusTo(told *[]string) []rondo.Listener {
	return []rondo.Listener{func(e rondo.Event) {
		if e.Type == rondo.EventStatus {
			*told = append(*told, e.Text)
		}
	}}
}

// Scenario 59.
func TestAHookBlocksACall(t *testing.T) {
	w, after := &witness{}, []string(nil)
	a := newAgent(t, rondo.Options{
		Model: &fakeModel{steps: []step{asks(`c1 work {"n":1}`, `c2 work {"n":2}`), says("done")}}, Tools: []*tool.Tool{w.tool("work")},
		Hooks: []hook.Hooks{{
			PreToolCall: func(_ context.Context, c hook.ToolCall) (hook.Decision, error) {
				return hook.Decision{Block: c.ID == "c1", Reason: "not on Fridays."}, nil
			},
			PostToolCall: func(_ context.Context, c hook.ToolCall, r *hook.Result) error {
				after = append(after, c.ID+" "+string(r.Status))
				return nil
			},
		}, {PreToolCall: func(_ context.Context, c hook.ToolCall) (hook.Decision, error) {
			if c.ID == "c1" {
				t.Error("a hook behind the one that blocked was called")
			}
			return hook.Decision{}, nil
		}}},
	})
	res, err := a.Run(t.Context(), rondo.Request{Text: "go"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(w.ran, []string{`{"n":2}`}) {
		t.Errorf("ran %q", w.ran)
	}
	if m := res.Messages[2]; m.Status != message.StatusDenied || !strings.HasPrefix(m.Text(), "Denied: not on Fridays. ") {
		t.Errorf("the model reads %v %q", m.Status, m.Text())
	}
	if slices.Sort(after); !slices.Equal(after, []string{"c1 denied", "c2 ok"}) {
		t.Errorf("afterwards: %q", after)
	}
}

func TestTheHookAfterACallIsCalledOnceHoweverItEnded(t *testing.T) {
	w, count := &witness{}, map[string]int{}
	a := newAgent(t, rondo.Options{
		Model: &fakeModel{steps: []step{asks(`c1 work {"n":"x"}`, `c2 nothing`, `c3 work`, `c4 todo {"todos":[]}`), says("done")}},
		Tools: []*tool.Tool{w.tool("work"), rondo.TodoTool()},
		Approve: func(_ context.Context, r rondo.ApprovalRequest) rondo.Approval {
			return rondo.Approval{Allow: r.Tool.Name != "work"}
		},
		Hooks: []hook.Hooks{{PostToolCall: func(_ context.Context, c hook.ToolCall, _ *hook.Result) error {
			count[c.ID]++
			return nil
		}}},
	})
	if _, err := a.Run(t.Context(), rondo.Request{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"c1", "c2", "c3", "c4"} {
		if count[id] != 1 {
			t.Errorf("%s: called %d times", id, count[id])
		}
	}
}

func TestHooksRewriteArgumentsAndResults(t *testing.T) {
	w, told := &witness{}, []string(nil)
	rewrites := []string{`{"n":7}`, `{"n":"no number"}`}
	a := newAgent(t, rondo.Options{
		Model: &fakeModel{steps: []step{asks(`c1 work {"n":1}`), asks(`c2 work {"n":2}`), says("done")}}, Tools: []*tool.Tool{w.tool("work")},
		Hooks: []hook.Hooks{{
			PreToolCall: func(context.Context, hook.ToolCall) (hook.Decision, error) {
				d := hook.Decision{Arguments: json.RawMessage(rewrites[0])}
				rewrites = rewrites[1:]
				return d, nil
			},
			PostToolCall: func(_ context.Context, _ hook.ToolCall, r *hook.Result) error { r.Text += " well"; return nil },
		}},
		Listeners: statusTo(&told),
	})
	res, err := a.Run(t.Context(), rondo.Request{Text: "go"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(w.ran, []string{`{"n":7}`, `{"n":2}`}) {
		t.Errorf("ran %q", w.ran)
	}
	if got := res.Messages[2].Text(); got != "worked well" {
		t.Errorf("the model reads %q", got)
	}
	if len(told) != 1 || !strings.Contains(told[0], "do not fit") {
		t.Errorf("told %q", told)
	}
}

func TestHooksAddToARequestAndKeepNothing(t *testing.T) {
	m := &fakeModel{steps: []step{asks("c1 work"), says("done")}}
	var rounds []int
	ended := 0
	a := newAgent(t, rondo.Options{
		Model: m, Tools: []*tool.Tool{fixed("work", "ok")},
		Hooks: []hook.Hooks{{
			SessionStart: func(context.Context, hook.Session) (string, error) { return "It rains.", nil },
			PreModelCall: func(_ context.Context, c hook.ModelCall) (string, error) { return strings.Repeat("!", c.Round), nil },
			PostModelCall: func(_ context.Context, c hook.ModelCall, _ *model.Reply) error {
				rounds = append(rounds, c.Round)
				return nil
			},
			SessionEnd: func(context.Context, hook.Session) error { ended++; return nil },
		}},
	})
	res, err := a.Run(t.Context(), rondo.Request{Text: "go"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"It rains.\n\n!", "!!"} {
		sent := m.requests[i].History.Messages()
		if got := sent[len(sent)-1].InjectedText(); got != want || m.requests[i].Ephemeral != "" {
			t.Errorf("request %d: added %q, want %q; noted %q", i+1, got, want, m.requests[i].Ephemeral)
		}
	}
	if strings.Contains(shape(res.Messages), "rains") || !slices.Equal(rounds, []int{1, 2}) || ended != 1 {
		t.Errorf("kept %s, rounds %v, ended %d times", shape(res.Messages), rounds, ended)
	}
}

func TestACrashOfAHookBreaksNothing(t *testing.T) {
	crash := func() error { panic("hook fell over") }
	var told []string
	var failed error
	w := &witness{}
	a := newAgent(t, rondo.Options{
		Model: &fakeModel{steps: []step{asks("c1 work"), says("done")}}, Tools: []*tool.Tool{w.tool("work")},
		Hooks: []hook.Hooks{{
			PreToolCall:   func(context.Context, hook.ToolCall) (hook.Decision, error) { return hook.Decision{}, crash() },
			PostToolCall:  func(context.Context, hook.ToolCall, *hook.Result) error { return errors.New("hook is ill") },
			PreModelCall:  func(context.Context, hook.ModelCall) (string, error) { return "", crash() },
			PostModelCall: func(context.Context, hook.ModelCall, *model.Reply) error { return crash() },
			SessionStart:  func(context.Context, hook.Session) (string, error) { return "", crash() },
			SessionEnd:    func(context.Context, hook.Session) error { return crash() },
			Failed:        func(err error) { failed = err },
		}},
		Listeners: statusTo(&told),
	})
	answer, err := a.Chat(t.Context(), "go")
	if err != nil || answer != "done" || len(w.ran) != 1 {
		t.Errorf("got %q, %v, ran %q", answer, err, w.ran)
	}
	if all := strings.Join(told, "\n"); strings.Count(all, "panicked: hook fell over") != 6 || !strings.Contains(all, "a post_tool_call hook failed: hook is ill") {
		t.Errorf("told %q", told)
	}
	if failed == nil || !strings.Contains(failed.Error(), "session_end hook panicked: hook fell over") {
		t.Errorf("at the end: %v", failed)
	}
}

func TestHooksSeeChildAgents(t *testing.T) {
	var told []string
	w := &witness{}
	a := newAgent(t, rondo.Options{
		Model: &fakeModel{steps: []step{asks(`c1 delegate_task {"goal":"look"}`), asks("k1 work"), says("seen"), says("done")}},
		Tools: []*tool.Tool{w.tool("work"), rondo.DelegateTool(rondo.Delegation{})},
		Hooks: []hook.Hooks{{
			SubagentStart: func(_ context.Context, s hook.Subagent) error { told = append(told, "start "+s.Goal); return nil },
			SubagentStop:  func(_ context.Context, s hook.Subagent) error { told = append(told, "stop "+s.Reason); return nil },
			PreToolCall: func(_ context.Context, c hook.ToolCall) (hook.Decision, error) {
				told = append(told, c.Name)
				return hook.Decision{Block: len(c.Agent) > 0}, nil
			},
		}},
	})
	if _, err := a.Run(t.Context(), rondo.Request{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(told, []string{"delegate_task", "start look", "work", "stop end_turn"}) || len(w.ran) > 0 {
		t.Errorf("told %q, ran %q", told, w.ran)
	}
}

func TestWhatHooksAddToACutReplyGoesWithItsRequestAlone(t *testing.T) {
	cut := func(context.Context, func(model.Delta) bool) (*model.Reply, error) {
		return &model.Reply{Message: message.NewAssistant(message.Text("one ")), Finish: model.FinishLength}, nil
	}
	m := &fakeModel{steps: []step{cut, says("two"), says("three")}}
	s := newAgent(t, rondo.Options{Model: m, Hooks: []hook.Hooks{{
		PreModelCall: func(_ context.Context, c hook.ModelCall) (string, error) { return strings.Repeat("!", c.Round), nil },
	}}}).Session("")
	defer s.Close()
	for range 2 {
		if _, err := s.Run(t.Context(), rondo.Request{Text: "go"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := m.requests[1].Ephemeral; got != "!!" {
		t.Errorf("the rest of the reply is asked for with the note %q", got)
	}
	for i, r := range m.requests {
		if got := r.History.Messages()[0].InjectedText(); got != "!" {
			t.Errorf("request %d: the first message holds %q", i+1, got)
		}
	}
	if last := m.requests[2].History.Last(); last.InjectedText() != "!" || m.requests[2].Ephemeral != "" {
		t.Errorf("the next turn holds %q and the note %q", last.InjectedText(), m.requests[2].Ephemeral)
	}
}
