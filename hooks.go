package rondo

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/rondo-engine/rondo/hook"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/tool"
)

// guarded calls a hook and turns a panic into an error.
func guarded(event string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a %s hook panicked: %v\n%s", event, p, debug.Stack())
		}
	}()
	if err := f(); err != nil {
		return fmt.Errorf("a %s hook failed: %w", event, err)
	}
	return nil
}

// hooked calls a hook; what goes wrong in it is told to the listeners and that
// is all.
func (r *run) hooked(event string, f func() error) {
	if err := guarded(event, f); err != nil {
		r.events.emit(Event{Type: EventStatus, Text: r.a.opts.Secrets.Hide(err.Error())})
	}
}

// hookCall is call i as hooks see it.
func (p *toolPhase) hookCall(i int) hook.ToolCall {
	c := hook.ToolCall{
		Session: p.run.s.id, Task: p.run.taskID, Agent: p.run.path, ID: p.calls[i].ID, Name: p.calls[i].Name, Arguments: p.jobs[i].Call.Args,
	}
	if p.jobs[i].Tool != nil {
		c.Name = p.jobs[i].Tool.Name
	}
	if c.Arguments == nil {
		c.Arguments = []byte(p.calls[i].Arguments)
	}
	return c
}

// preTool lets hooks block call i or rewrite its arguments. The first that
// blocks is the last that is called.
func (p *toolPhase) preTool(ctx context.Context, i int) {
	job := &p.jobs[i]
	for _, h := range p.run.a.opts.Hooks {
		if h.PreToolCall == nil || job.Answer != nil {
			continue
		}
		var d hook.Decision
		p.run.hooked("pre_tool_call", func() (err error) {
			d, err = h.PreToolCall(ctx, p.hookCall(i))
			return err
		})
		switch {
		case d.Block:
			job.Answer = &tool.Result{Text: deniedText(strings.TrimRight(d.Reason, ". \n")), Status: message.StatusDenied}
		case d.Arguments != nil:
			t, args, err := p.run.a.registry.Prepare(job.Tool.Name, string(d.Arguments), false)
			if err != nil {
				p.run.events.emit(Event{Type: EventStatus, Text: "a pre_tool_call hook gave arguments that do not fit, which are not used: " + err.Error()})
				continue
			}
			job.Tool, job.Call.Args = t, args
		}
	}
}

// postTool lets hooks see the result of call i and change its text.
func (p *toolPhase) postTool(i int, res tool.Result) tool.Result {
	if len(p.run.a.opts.Hooks) == 0 {
		return res
	}
	r := hook.Result{Text: res.Text, Status: res.Status}
	for _, h := range p.run.a.opts.Hooks {
		if h.PostToolCall != nil {
			p.run.hooked("post_tool_call", func() error { return h.PostToolCall(p.run.users, p.hookCall(i), &r) })
		}
	}
	if r.Text == res.Text {
		return res
	}
	res.Text, res.Source, res.Truncated = r.Text, "", false
	return p.run.hideSecrets(res)
}

func (r *run) hookModelCall(c loop.Call) hook.ModelCall {
	p := r.s.model.Profile()
	return hook.ModelCall{
		Session: r.s.id, Task: r.taskID, Agent: r.path, Round: c.Round, Provider: p.Provider, Model: p.Model, History: c.History,
	}
}

// postModel tells hooks of a reply.
func (r *run) postModel(ctx context.Context, c loop.Call, reply *model.Reply) {
	for _, h := range r.a.opts.Hooks {
		if h.PostModelCall != nil {
			r.hooked("post_model_call", func() error { return h.PostModelCall(ctx, r.hookModelCall(c), reply) })
		}
	}
}

// startSession tells hooks, once, that the session is in use, and returns what
// they add to the first request. A child's session is told of as a subagent.
func (r *run) startSession(ctx context.Context) []string {
	if len(r.path) > 0 || !r.s.greeted.CompareAndSwap(false, true) {
		return nil
	}
	var notes []string
	s := hook.Session{ID: r.s.id, Resumed: r.s.history.Len() > 1}
	for _, h := range r.a.opts.Hooks {
		if h.SessionStart != nil {
			r.hooked("session_start", func() error {
				text, err := h.SessionStart(ctx, s)
				notes = append(notes, text)
				return err
			})
		}
	}
	return notes
}

// continued tells hooks that the session goes on under another id.
func (r *run) continued(ctx context.Context, from, to string) {
	for _, h := range r.a.opts.Hooks {
		if h.SessionContinued != nil {
			r.hooked("session_continued", func() error { return h.SessionContinued(ctx, from, to) })
		}
	}
}

// endHooksTime bounds what hooks may take when a session is given back.
const endHooksTime = 10 * time.Second

// endSession tells hooks that a session that was begun is given back.
func (s *Session) endSession() {
	if !s.greeted.CompareAndSwap(true, false) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), endHooksTime)
	defer cancel()
	for _, h := range s.agent.opts.Hooks {
		if h.SessionEnd == nil {
			continue
		}
		err := guarded("session_end", func() error { return h.SessionEnd(ctx, hook.Session{ID: s.id, Resumed: true}) })
		if err != nil && h.Failed != nil {
			h.Failed(err)
		}
	}
}

// subagent tells hooks that a child agent begins, or why it ended.
func (r *run) subagent(ctx context.Context, s hook.Subagent, stopped bool) {
	for _, h := range r.a.opts.Hooks {
		event, f := "subagent_start", h.SubagentStart
		if stopped {
			event, f = "subagent_stop", h.SubagentStop
		}
		if f != nil {
			r.hooked(event, func() error { return f(ctx, s) })
		}
	}
}
