package hookcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/rondo-engine/rondo/hook"
	"github.com/rondo-engine/rondo/model"
)

// Hooks returns the hooks that run commands, in their order. failed is told of
// errors that no listener hears of.
func (r *Runner) Hooks(commands []Command, failed func(error)) hook.Hooks {
	s := &set{r, map[string][]Command{}}
	for _, c := range commands {
		s.byEvent[c.Event] = append(s.byEvent[c.Event], c)
	}
	h := hook.Hooks{Failed: failed}
	s.toolHooks(&h)
	s.modelHooks(&h)
	s.sessionHooks(&h)
	return h
}

// set is the commands of a Runner by their events.
type set struct {
	*Runner
	byEvent map[string][]Command
}

// each asks the commands of an event in order and hands on what they answer,
// until f says that it is enough.
func (s *set) each(ctx context.Context, event string, in Input, f func(Answer) bool) error {
	var errs []error
	for _, c := range s.byEvent[event] {
		if !c.matches(in.Tool) {
			continue
		}
		a, err := s.Ask(ctx, c, in)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if !f(a) {
			break
		}
	}
	return errors.Join(errs...)
}

// has reports whether there are commands for an event: if not, its hook stays
// nil.
func (s *set) has(event string) bool { return len(s.byEvent[event]) > 0 }

func heard(Answer) bool { return true }

func (s *set) toolHooks(h *hook.Hooks) {
	if s.has("pre_tool_call") {
		h.PreToolCall = func(ctx context.Context, c hook.ToolCall) (d hook.Decision, err error) {
			err = s.each(ctx, "pre_tool_call", toolInput(c), func(a Answer) bool {
				if d.Reason, d.Block = a.Blocks(); d.Block {
					return false
				}
				if len(a.Arguments) > 0 {
					d.Arguments = a.Arguments
				}
				return true
			})
			return d, err
		}
	}
	if s.has("post_tool_call") {
		h.PostToolCall = func(ctx context.Context, c hook.ToolCall, r *hook.Result) error {
			in := toolInput(c)
			in.Extra["status"], in.Extra["result"] = r.Status, r.Text
			return s.each(ctx, "post_tool_call", in, func(a Answer) bool {
				if a.Result != nil {
					r.Text = *a.Result
				}
				return true
			})
		}
	}
}

func toolInput(c hook.ToolCall) Input {
	in := Input{
		Tool: c.Name, Arguments: c.Arguments, Session: c.Session, Extra: map[string]any{"task_id": c.Task, "tool_call_id": c.ID, "agent": c.Agent},
	}
	if !json.Valid(in.Arguments) {
		in.Arguments, in.Extra["raw_tool_input"] = nil, string(c.Arguments)
	}
	return in
}

func (s *set) modelHooks(h *hook.Hooks) {
	if s.has("pre_model_call") {
		h.PreModelCall = func(ctx context.Context, c hook.ModelCall) (string, error) {
			return s.contexts(ctx, "pre_model_call", modelInput(c))
		}
	}
	if s.has("post_model_call") {
		h.PostModelCall = func(ctx context.Context, c hook.ModelCall, r *model.Reply) error {
			in := modelInput(c)
			in.Extra["reply"], in.Extra["finish"] = r.Message.Text(), fmt.Sprint(r.Finish)
			return s.each(ctx, "post_model_call", in, heard)
		}
	}
}

func modelInput(c hook.ModelCall) Input {
	return Input{Session: c.Session, Extra: map[string]any{
		"task_id": c.Task, "agent": c.Agent, "round": c.Round, "provider": c.Provider, "model": c.Model, "messages": c.History.Len(),
	}}
}

// contexts joins what the commands of an event add to a request.
func (s *set) contexts(ctx context.Context, event string, in Input) (string, error) {
	var texts []string
	err := s.each(ctx, event, in, func(a Answer) bool {
		if a.Context != "" {
			texts = append(texts, a.Context)
		}
		return true
	})
	return strings.Join(texts, "\n\n"), err
}

func (s *set) sessionHooks(h *hook.Hooks) {
	if s.has("session_start") {
		h.SessionStart = func(ctx context.Context, v hook.Session) (string, error) {
			return s.contexts(ctx, "session_start", Input{Session: v.ID, Extra: map[string]any{"resumed": v.Resumed}})
		}
	}
	if s.has("session_end") {
		h.SessionEnd = func(ctx context.Context, v hook.Session) error {
			return s.each(ctx, "session_end", Input{Session: v.ID}, heard)
		}
	}
	if s.has("subagent_start") {
		h.SubagentStart = func(ctx context.Context, v hook.Subagent) error {
			return s.each(ctx, "subagent_start", childInput(v), heard)
		}
	}
	if s.has("subagent_stop") {
		h.SubagentStop = func(ctx context.Context, v hook.Subagent) error {
			return s.each(ctx, "subagent_stop", childInput(v), heard)
		}
	}
}

func childInput(v hook.Subagent) Input {
	return Input{Session: v.Session, Extra: map[string]any{"task_id": v.Task, "parent": v.Parent, "goal": v.Goal, "reason": v.Reason}}
}
