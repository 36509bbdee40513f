package rondo

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/rondo-engine/rondo/internal/picture"
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
	// asked is the message that the calls are of, first the place of the first
	// of them among all of its calls.
	asked *message.Message
	first int
	early []*message.Message // results that wait to be saved before others run
	err   error              // why what begins could not be saved
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
	p.asked, p.first = asked(r.state.History)
	for i := range calls {
		p.prepare(ctx, i)
	}
	r.s.open = nil
	tool.Execute(withTurn(ctx, p), p.jobs, tool.Options{
		Workers: r.a.opts.Workers, Timeout: r.a.opts.ToolTimeout, Starting: p.starting, Started: p.start, Ended: p.end,
	})
	if p.err != nil {
		r.saver.fail(p.err)
	}
	r.family.account(&r.result)
	for _, one := range r.asides.take() {
		r.bookAside(one)
	}
	out := make([]loop.Result, n)
	for i, m := range p.results {
		out[i] = loop.Result{Message: m, Unknown: p.unknown[i]}
	}
	return out
}

// asked returns the message whose calls stand at the end of h, and how many of
// them have their results.
func asked(h message.History) (*message.Message, int) {
	msgs := h.Messages()
	n := len(msgs) - 1
	for n >= 0 && msgs[n].Role == message.Tool {
		n--
	}
	return msgs[n], len(msgs) - 1 - n
}

// prepare finds the tool of call i, checks its arguments and asks for approval.
// A call of a run that broke off is not run again: its result is known, or it is
// not known what became of it.
func (p *toolPhase) prepare(ctx context.Context, i int) {
	c, job := p.calls[i], &p.jobs[i]
	job.Call = tool.Call{
		ID: c.ID, Name: c.Name, Session: p.run.s.id, Task: p.run.taskID, Progress: p.progress(i),
	}
	if open := p.run.s.open; open != nil {
		if o := open[p.first+i]; o.result != nil || o.begun {
			p.results[i] = o.result
			job.Answer = &tool.Result{Text: unknownText, Status: message.StatusInterrupted}
			return
		}
	}
	t, args, err := p.run.a.registry.Prepare(c.Name, c.Arguments, false)
	job.Tool, job.Call.Args = t, args
	if err != nil {
		_, p.unknown[i] = errors.AsType[*tool.UnknownError](err)
		job.Answer = &tool.Result{Text: err.Error(), Status: message.StatusError}
		return
	}
	p.preTool(ctx, i)
	p.hold(i)
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

// starting saves that calls with effects begin, and the results of those that
// have ended. Once that failed no more of them run, and the round ends the run.
func (p *toolPhase) starting(jobs []int) error {
	var begin []effect
	for _, i := range jobs {
		if !p.jobs[i].Tool.ReadOnly {
			begin = append(begin, p.effect(i))
		}
	}
	if len(begin) == 0 && len(p.early) == 0 {
		return nil
	}
	if p.err != nil {
		return p.err
	}
	err := p.run.saver.save(context.WithoutCancel(p.run.users), p.early, store.Update{}, begin...)
	if err == nil {
		p.early = nil
		return nil
	}
	p.err = err
	return err
}

// effect is the journal's entry for call i.
func (p *toolPhase) effect(i int) effect {
	return effect{asked: p.asked, Effect: store.Effect{
		Index: p.first + i, CallID: p.calls[i].ID, Tool: p.calls[i].Name, ArgsDigest: digest(p.jobs[i].Call.Args),
		StartedAt: p.run.a.opts.Now(),
	}}
}

// end finalises call i: its result is cut to size, made a message and told. If
// the call had effects and others are still to run, its result is saved before
// they do.
func (p *toolPhase) end(i int, o tool.Outcome) {
	if p.results[i] != nil { // known from before the run broke off
		return
	}
	if !p.started[i] {
		p.start(i)
	}
	job := &p.jobs[i]
	res := p.limits.Limit(job.Tool, job.Call, p.postTool(i, p.run.hideSecrets(o.Result)))
	if res.Text == "" && len(res.Media) == 0 {
		res.Text = noOutput
	}
	m := message.NewResult(p.calls[i], res.Status, res.Text)
	if res.Text == "" {
		m.Parts = nil
	}
	m.Parts = append(m.Parts, p.run.fitImages(res.Media)...)
	p.results[i] = m
	if o.Ran && !job.Tool.ReadOnly && p.run.a.opts.Store != nil {
		e := p.effect(i)
		e.FinishedAt, e.Status = e.StartedAt, res.Status
		p.run.saver.ended(e)
		if i < len(p.calls)-1 {
			p.early = append(p.early, m)
		}
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

// fitImages makes images as small as the model wants them, before they become
// part of the history.
func (r *run) fitImages(parts []message.Part) []message.Part {
	fit, err := picture.FitParts(parts, picture.For(r.s.model.Profile()))
	if err != nil {
		r.events.emit(Event{Type: EventStatus, Text: "left out: " + strings.ReplaceAll(err.Error(), "\n", "; ")})
	}
	return fit
}
