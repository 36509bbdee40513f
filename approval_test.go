package rondo_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/guard"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/tool"
)

func TestListenersHearThatAPersonIsAsked(t *testing.T) {
	var asked []rondo.Event
	ran := false
	a := newAgent(t, rondo.Options{
		Model: &fakeModel{steps: []step{asks("c1 work"), says("done")}},
		Tools: []*tool.Tool{newTool("work", false, func(context.Context, tool.Call) (tool.Result, error) { ran = true; return tool.Result{}, nil })},
		Approve: func(_ context.Context, r rondo.ApprovalRequest) rondo.Approval {
			r.Asking("it is risky")
			return rondo.Approval{Reason: "the user said no"}
		},
		Listeners: []rondo.Listener{func(e rondo.Event) {
			if e.Type == rondo.EventApproval {
				asked = append(asked, e)
			}
		}},
	})
	res, err := a.Run(t.Context(), rondo.Request{Text: "go"})
	if err != nil || ran {
		t.Fatalf("%v, ran %v", err, ran)
	}
	if len(asked) != 1 || asked[0].Text != "it is risky" || asked[0].ToolUse.ID != "c1" {
		t.Errorf("asked %+v", asked)
	}
	m := res.Messages[2]
	if m.Status != message.StatusDenied || !strings.HasPrefix(m.Text(), "Denied: the user said no. ") || !strings.Contains(m.Text(), "Do not try it again in other words") {
		t.Errorf("the model reads %v %q", m.Status, m.Text())
	}
}

func TestWhatWasAllowedForTheSessionIsForgottenWithIt(t *testing.T) {
	asked := 0
	g := guard.New(guard.Options{Workspace: t.TempDir(), Ask: func(_ context.Context, p guard.Prompt) (guard.Answer, error) {
		asked++
		return p.Answer(guard.Session), nil
	}})
	ran := 0
	shell := newTool("shell", false, func(context.Context, tool.Call) (tool.Result, error) { ran++; return tool.Result{}, nil })
	shell.Toolset, shell.Schema = "shell", json.RawMessage(`{"type":"object"}`)
	push := asks(`c1 shell {"command":"git push --force"}`)
	a := newAgent(t, rondo.Options{
		Model: &fakeModel{steps: []step{push, says("1"), push, says("2"), push, says("3")}}, Tools: []*tool.Tool{shell}, Store: store.NewMemory(),
		Approve: rondo.GuardedBy(g),
	})
	s := a.Session("")
	for range 2 {
		if _, err := s.Run(t.Context(), rondo.Request{Text: "push"}); err != nil {
			t.Fatal(err)
		}
	}
	if asked != 1 || ran != 2 {
		t.Errorf("in one session: asked %d times, ran %d times", asked, ran)
	}
	s.Close()
	if _, err := a.Run(t.Context(), rondo.Request{SessionID: s.ID(), Text: "push"}); err != nil || asked != 2 {
		t.Errorf("after it was given back: asked %d times, %v", asked, err)
	}
}

func TestAnApprovalIsCheckedAgainWhenTheCallRuns(t *testing.T) {
	ran := false
	a := newAgent(t, rondo.Options{
		Model: &fakeModel{steps: []step{asks("c1 first", "c2 work"), says("done")}},
		Tools: []*tool.Tool{
			newTool("first", false, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: "moved"}, nil }),
			newTool("work", false, func(context.Context, tool.Call) (tool.Result, error) { ran = true; return tool.Result{}, nil }),
		},
		Approve: func(_ context.Context, r rondo.ApprovalRequest) rondo.Approval {
			if r.Call.Name != "work" {
				return rondo.Approval{Allow: true}
			}
			return rondo.Approval{Allow: true, Check: func() error { return errors.New("its path leads elsewhere now") }}
		},
	})
	res, err := a.Run(t.Context(), rondo.Request{Text: "go"})
	if err != nil || ran {
		t.Fatalf("%v, ran %v", err, ran)
	}
	if m := res.Messages[3]; m.Status != message.StatusDenied || !strings.HasPrefix(m.Text(), "Denied: its path leads elsewhere now. ") {
		t.Errorf("the model reads %v %q", m.Status, m.Text())
	}
}
