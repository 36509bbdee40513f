package rondo_test

import (
	"context"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/message"
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
