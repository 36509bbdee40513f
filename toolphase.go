package rondo

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/tool"
)

// noOutput is the result of a tool that had nothing to say: providers refuse
// empty results.
const noOutput = "(no output)"

// toolPhase is the tool calls of one reply on their way through three steps:
// prepare in the order of the calls, execute together as far as they do not
// disturb each other, finalise.
type toolPhase struct {
	run     *run
	calls   []*message.ToolCall
	jobs    []tool.Job
	unknown []bool
	started []bool
	results []*message.Message
	limits  *tool.Round
}

// Tools runs the calls and returns one result for each, in their order.
func (r *run) Tools(ctx context.Context, calls []*message.ToolCall) []loop.Result {
	began := r.a.opts.Now()
	defer func() { r.result.ToolTime += r.a.opts.Now().Sub(began) }()
	n := len(calls)
	p := &toolPhase{
		run: r, calls: calls, jobs: make([]tool.Job, n), unknown: make([]bool, n), started: make([]bool, n),
		results: make([]*message.Message, n), limits: r.a.opts.ResultLimits.NewRound(n),
	}
	for i := range calls {
		p.prepare(ctx, i)
	}
	tool.Execute(withTurn(ctx, p), p.jobs, tool.Options{
		Workers: r.a.opts.Workers, Timeout: r.a.opts.ToolTimeout, Started: p.start, Ended: p.end,
	})
	r.family.account(&r.result)
	out := make([]loop.Result, n)
	for i, m := range p.results {
		out[i] = loop.Result{Message: m, Unknown: p.unknown[i]}
	}
	return out
}

// prepare finds the tool of call i, checks its arguments and asks for approval.
func (p *toolPhase) prepare(ctx context.Context, i int) {
	c, job := p.calls[i], &p.jobs[i]
	job.Call = tool.Call{
		ID: c.ID, Name: c.Name, Session: p.run.s.id, Task: p.run.taskID, Progress: p.progress(i),
	}
	t, args, err := p.run.a.registry.Prepare(c.Name, c.Arguments, false)
	job.Tool, job.Call.Args = t, args
	if err != nil {
		_, p.unknown[i] = errors.AsType[*tool.UnknownError](err)
		job.Answer = &tool.Result{Text: err.Error(), Status: message.StatusError}
		return
	}
	p.approve(ctx, i)
}

func (p *toolPhase) progress(i int) func(string) {
	if p.run.events.quiet() {
		return func(string) {}
	}
	return func(line string) {
		p.run.events.emit(Event{Type: EventToolProgress, Text: p.run.a.opts.Secrets.Hide(line), ToolUse: p.use(i)})
	}
}

func (p *toolPhase) use(i int) *ToolUse {
	u := &ToolUse{ID: p.calls[i].ID, Name: p.calls[i].Name, Arguments: p.jobs[i].Call.Args}
	if u.Arguments == nil {
		u.Arguments = []byte("{}")
	}
	return u
}

// start tells that call i begins.
func (p *toolPhase) start(i int) {
	p.started[i] = true
	if !p.run.events.quiet() {
		p.run.events.emit(Event{Type: EventToolUse, ToolUse: p.use(i)})
	}
}

// end finalises call i: its result is cut to size, made a message and told. If
// the call had effects and others are still to run, its result is saved before
// they do.
func (p *toolPhase) end(i int, o tool.Outcome) {
	if !p.started[i] {
		p.start(i)
	}
	job := &p.jobs[i]
	res := p.limits.Limit(job.Tool, job.Call, p.run.hideSecrets(o.Result))
	if res.Text == "" && len(res.Media) == 0 {
		res.Text = noOutput
	}
	m := message.NewResult(p.calls[i], res.Status, res.Text)
	if res.Text == "" {
		m.Parts = nil
	}
	m.Parts = append(m.Parts, res.Media...)
	p.results[i] = m
	if o.Ran && !job.Tool.ReadOnly && i < len(p.calls)-1 {
		p.saveEarly(m)
	}
	if !p.run.events.quiet() {
		p.run.events.emit(Event{Type: EventToolResult, ToolResult: &ToolResult{
			ID: p.calls[i].ID, Name: p.calls[i].Name, Status: res.Status, Content: res.Text,
			Duration: o.Duration, Truncated: res.Truncated, Details: res.Details,
		}})
	}
}

// hideSecrets takes keys out of what a tool returned, before it goes anywhere.
// Details that hold one become JSON without it.
func (r *run) hideSecrets(res tool.Result) tool.Result {
	secrets := r.a.opts.Secrets
	if secrets == nil {
		return res
	}
	res.Text = secrets.Hide(res.Text)
	if res.Details == nil || r.events.quiet() {
		return res
	}
	details, err := json.Marshal(res.Details)
	if err != nil {
		return res // where it is shown it is told that it cannot be
	}
	if clean := secrets.Hide(string(details)); clean != string(details) {
		res.Details = json.RawMessage(clean)
	}
	return res
}

// saveEarly saves a result while the round goes on. A failure is not lost: the
// message stays unsaved, so that the save at the end of the round meets it again.
func (p *toolPhase) saveEarly(m *message.Message) {
	ctx := context.WithoutCancel(p.run.users)
	if err := p.run.saver.save(ctx, []*message.Message{m}, store.Update{}); err != nil {
		p.run.events.emit(Event{Type: EventStatus, Text: err.Error()})
	}
}
