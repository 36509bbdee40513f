package rondo

import (
	"context"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/tool"
)

// ApprovalRequest is a tool call that wants to run.
type ApprovalRequest struct {
	Tool *tool.Tool
	Call tool.Call
	// Agent is the path of task ids to the child agent whose call it is; empty
	// for the run itself. For a child nobody is to be asked.
	Agent []string
	// Asking tells the listeners, with an EventApproval, that a person is
	// asked and why. Whoever asks calls it before waiting. It is never nil.
	Asking func(reason string)
}

// Approval is the answer to an ApprovalRequest. Reason is told to the model
// when the call is denied; it ends without a full stop.
type Approval struct {
	Allow  bool
	Reason string
}

// approve asks whether call i may run, and answers it if it may not.
func (p *toolPhase) approve(ctx context.Context, i int) {
	job := &p.jobs[i]
	approve := p.run.a.opts.Approve
	if approve == nil || job.Answer != nil || ctx.Err() != nil {
		return
	}
	a := approve(ctx, ApprovalRequest{Tool: job.Tool, Call: job.Call, Agent: p.run.path, Asking: func(reason string) {
		p.run.events.emit(Event{Type: EventApproval, Text: p.run.a.opts.Secrets.Hide(reason), ToolUse: p.use(i)})
	}})
	if !a.Allow {
		job.Answer = &tool.Result{Text: deniedText(a.Reason), Status: message.StatusDenied}
	}
}

func deniedText(reason string) string {
	text := "The user's rules do not allow this call. Do not try it again in other words; find another way, or say what you would need."
	if reason != "" {
		text = "Denied: " + reason + ". " + text
	}
	return text
}
