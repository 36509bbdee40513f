package rondo

import (
	"context"

	"github.com/rondo-engine/rondo/guard"
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
	// Grants are what was allowed for as long as the session is in use,
	// whatever ids compressions give it meanwhile. It is never nil.
	Grants *guard.Grants

	// notice tells the user something.
	notice func(text string)
}

// Approval is the answer to an ApprovalRequest. Reason is told to the model
// when the call is denied; it ends without a full stop.
type Approval struct {
	Allow  bool
	Reason string
	// Check, if not nil, is called right before a call that was allowed runs,
	// which is after other calls of the same reply. An error keeps it from
	// running and is its result.
	Check func() error
}

// GuardedBy makes a function for Options.Approve of a guard. What the guard has
// to tell the user beside its answer becomes an EventStatus.
func GuardedBy(g *guard.Guard) func(ctx context.Context, r ApprovalRequest) Approval {
	return func(ctx context.Context, r ApprovalRequest) Approval {
		out := g.Decide(ctx, guard.Request{Tool: r.Tool, Call: r.Call, Alone: len(r.Agent) > 0, Asking: r.Asking, Grants: r.Grants})
		if out.Notice != "" && r.notice != nil {
			r.notice(out.Notice)
		}
		return Approval{Allow: out.Allow, Reason: out.Reason, Check: out.Check}
	}
}

// approve asks whether call i may run, and answers it if it may not.
func (p *toolPhase) approve(ctx context.Context, i int) {
	job := &p.jobs[i]
	approve := p.run.a.opts.Approve
	if approve == nil || job.Answer != nil || ctx.Err() != nil {
		return
	}
	a := approve(ctx, ApprovalRequest{
		Tool: job.Tool, Call: job.Call, Agent: p.run.path, Grants: &p.run.s.grants,
		Asking: func(reason string) {
			p.run.events.emit(Event{Type: EventApproval, Text: p.run.a.opts.Secrets.Hide(reason), ToolUse: p.use(i)})
		},
		notice: func(text string) { p.run.events.emit(Event{Type: EventStatus, Text: p.run.a.opts.Secrets.Hide(text)}) },
	})
	switch {
	case !a.Allow:
		job.Answer = &tool.Result{Text: deniedText(a.Reason), Status: message.StatusDenied}
	case a.Check != nil:
		job.Tool = checked(job.Tool, a.Check)
	}
}

// checked is a tool that calls check right before it runs.
func checked(t *tool.Tool, check func() error) *tool.Tool {
	c := *t
	c.Run = func(ctx context.Context, call tool.Call) (tool.Result, error) {
		if err := check(); err != nil {
			return tool.Result{Text: deniedText(err.Error()), Status: message.StatusDenied}, nil
		}
		return t.Run(ctx, call)
	}
	return &c
}

func deniedText(reason string) string {
	text := "The user's rules do not allow this call. Do not try it again in other words; find another way, or say what you would need."
	if reason != "" {
		text = "Denied: " + reason + ". " + text
	}
	return text
}
