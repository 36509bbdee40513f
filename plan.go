package rondo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/tool"
)

// Mode says whether a turn plans or carries out.
//
// A session that plans stays so until a plan is approved: every message that it
// is given asks for a plan, only tools that look are offered and run, and those
// of child agents, too. Whether it plans is said by its last user message, so
// that whoever resumes it, after a crash or in another process, goes on in the
// same mode.
type Mode string

// The modes of a Request. The empty one goes on as the session does.
const (
	// PlanFirst has the turn plan.
	PlanFirst Mode = "plan"
	// ExecutePlan approves the plan that the session's last turn ended with.
	// The request's text, if there is any, says what is to be different.
	ExecutePlan Mode = "execute"
)

// ErrNoPlan says that there is no plan to carry out.
var ErrNoPlan = errors.New("no plan waits to be carried out")

// What a person's message says besides in plan mode, and that a plan is approved.
const (
	planText = "Do not change anything yet: look at what you need with the tools you have, then reply with a plan, as a numbered list of steps that can be checked, and stop."
	goText   = "The plan is approved. Carry it out."
	goByText = "The plan is approved as it is changed here. Carry it out."
)

// Plan is what an agent means to do.
type Plan struct {
	Session, Task string
	Text          string
}

// PlanDecision is what a person says to a plan.
type PlanDecision string

// The decisions. Whatever else is said is a rejection.
const (
	// PlanConfirmed has the same run carry the plan out.
	PlanConfirmed PlanDecision = "confirmed"
	// PlanEdited has it carry out PlanAnswer.Text, the plan as it was edited.
	PlanEdited PlanDecision = "edited"
	// PlanRevise has the agent make another plan after the remarks in
	// PlanAnswer.Text.
	PlanRevise PlanDecision = "revise"
	// PlanRejected ends the run. The session still plans.
	PlanRejected PlanDecision = "rejected"
)

// PlanAnswer is a person's answer to a Plan.
type PlanAnswer struct {
	Decision PlanDecision
	Text     string
}

// PlanEvent tells where a plan stands: "begun", "presented", or what was decided.
type PlanEvent struct {
	State string
	// Text is the plan that is presented, or what the person said.
	Text string
}

func (r *run) tellPlan(state, text string) {
	r.events.emit(Event{Type: EventPlan, Plan: &PlanEvent{state, r.a.opts.Secrets.Hide(text)}})
}

// planning reports whether a conversation is in plan mode: by the last of the
// user's words that say anything about it, in the last message.
func planning(h message.History) bool {
	msgs := h.Messages()
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role == message.User {
			return asksForPlan(msgs[i].Clean())
		}
	}
	return false
}

func asksForPlan(m *message.Message) bool {
	for _, p := range slices.Backward(m.Parts) {
		switch {
		case p.Kind != message.KindText:
		case strings.HasSuffix(p.Text, planText):
			return true
		case strings.HasPrefix(p.Text, goText), strings.HasPrefix(p.Text, goByText):
			return false
		}
	}
	return false
}

// chooseMode finds out the mode of the turn and returns what the user says in it.
func (r *run) chooseMode() (string, error) {
	text, now := strings.ToValidUTF8(r.req.Text, "\uFFFD"), planning(r.s.history)
	switch r.req.Mode {
	case "":
		r.planning = now
	case PlanFirst:
		r.planning = true
	case ExecutePlan:
		if last := r.s.history.Last(); !now || last.Role != message.Assistant || r.s.open != nil {
			return "", fmt.Errorf("session %s: %w", r.s.id, ErrNoPlan)
		}
		if text != "" {
			r.tellPlan(string(PlanEdited), text)
			return goByText + "\n\n" + text, nil
		}
		r.tellPlan(string(PlanConfirmed), "")
		return goText, nil
	default:
		return "", fmt.Errorf("unknown Request.Mode %q: it is one of plan, execute", r.req.Mode)
	}
	if r.planning {
		r.tellPlan("begun", "")
	}
	if r.planning && (text != "" || len(r.req.Attachments) > 0 || !now) {
		text = asPlan(text)
	}
	return text, nil
}

// asPlan is what the user says in plan mode.
func asPlan(text string) string { return strings.TrimPrefix(text+"\n\n"+planText, "\n\n") }

// FollowUp returns what the next user message of the run says. In plan mode that
// may be a person's word on the plan that the model ended with.
func (r *run) FollowUp() []string {
	if !r.planning {
		return r.s.desk.takeNext()
	}
	if said := r.s.desk.takeSaid(); len(said) > 0 {
		return []string{asPlan(strings.Join(said, "\n\n"))}
	}
	if said := r.present(r.state.History.Last().Text()); said != "" {
		return []string{said}
	}
	if said := r.s.desk.takeNext(); len(said) > 0 {
		return []string{asPlan(strings.Join(said, "\n\n"))}
	}
	return nil
}

// present puts a plan to a person, if there is one, and returns what that says
// to the agent; empty ends the run.
func (r *run) present(text string) string {
	r.tellPlan("presented", text)
	if r.a.opts.Confirm == nil {
		return ""
	}
	a, err := await(r.users, r.a.opts.AskTimeout, func(ctx context.Context) (PlanAnswer, error) {
		return r.a.opts.Confirm(ctx, Plan{Session: r.s.id, Task: r.taskID, Text: text})
	})
	switch {
	case r.users.Err() != nil:
		r.stoppedAtPlan = true
		return ""
	case err != nil:
		text := "nobody answered to the plan, which is a no"
		if !errors.Is(err, ErrNoAnswer) {
			text += ": " + err.Error()
		}
		r.events.emit(Event{Type: EventStatus, Text: r.a.opts.Secrets.Hide(text)})
		return ""
	}
	a.Text = strings.ToValidUTF8(strings.TrimSpace(a.Text), "\uFFFD")
	if a.Text == "" && (a.Decision == PlanEdited || a.Decision == PlanRevise) {
		a.Decision = PlanRejected
	}
	switch a.Decision {
	case PlanConfirmed:
		r.planning = false
		a.Text, text = "", goText
	case PlanEdited:
		r.planning = false
		text = goByText + "\n\n" + a.Text
	case PlanRevise:
		text = asPlan(a.Text)
	default:
		a.Decision, text = PlanRejected, ""
	}
	r.tellPlan(string(a.Decision), a.Text)
	return text
}

// planEnd is the outcome of a run that was stopped while its plan waited: the
// model had finished, the run had not.
func (r *run) planEnd(o loop.Outcome) loop.Outcome {
	if r.stoppedAtPlan && o.Reason == loop.EndTurn {
		o.Reason, o.Detail = loop.UserCancel, "stopped: "+context.Cause(r.users).Error()
	}
	return o
}

// looking reports whether only tools that look may run.
func (r *run) looking() bool { return r.planning || r.req.up != nil && r.req.up.looking }

// looks reports whether a call may run in plan mode.
func looks(t *tool.Tool, args []byte) bool { return t.ReadOnly || t.Looks != nil && t.Looks(args) }

// hold answers call i if it may not run because the run only looks.
func (p *toolPhase) hold(i int) {
	job := &p.jobs[i]
	if job.Answer != nil || !p.run.looking() || looks(job.Tool, job.Call.Args) {
		return
	}
	job.Answer = &tool.Result{Text: heldText, Status: message.StatusDenied}
}

const heldText = "Not run: a plan is being made, and until it is approved nothing may be changed. " +
	"Look with the tools that you are offered, and do not try to make changes in other ways; put what this call was to do into the plan."

// offered are the tools that the model is told of.
func (r *run) offered() *model.ToolSet {
	if r.looking() {
		return r.a.lookers()
	}
	return r.a.tools
}

// lookersOf makes the set of the tools that may run in plan mode; nil for none.
func lookersOf(registry *tool.Registry) *model.ToolSet {
	var names []string
	for _, t := range registry.Tools() {
		if t.ReadOnly || t.Looks != nil {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	some, err := registry.Select(names, nil)
	if err != nil {
		panic("rondo: " + err.Error()) // the names are the registry's own
	}
	return some.Set()
}
