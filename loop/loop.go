// Package loop is the agent loop as a decision: given what the model said, what
// the tools gave and what the limits allow, what comes next?
//
// Run reads as its four steps: manage the context, call the model, run the
// tools, decide whether to stop. It asks a Host for everything that touches the
// world and starts no goroutine, reads no clock and draws no random number, so
// that the same answers always give the same decisions: every path is tested
// with a table and a fake host, and the same loop runs in a process or as a
// durable workflow.
//
// The loop owns the history of the run, in State, and keeps it valid after
// every step: what the host saves can be sent to any provider as it is.
// Recovery prompts and warnings travel in a request only; see reply.go for what
// odd replies lead to and limits.go for when a run has to end.
package loop

import (
	"context"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// Run carries the task at the end of s.History, a user message, tool results or
// calls that are still open, to its end and returns why it ended. It goes on from
// where s stands, so that an interrupted run is resumed by running its state
// again.
func Run(ctx context.Context, h Host, s *State, l Limits) Outcome {
	began := h.Now()
	spent := s.Elapsed
	if open := s.History.OpenCalls(); len(open) > 0 {
		if err := runTools(ctx, h, s, l, open); err != nil {
			return failed(ctx, h, s, err)
		}
	}
	for {
		s.Elapsed = spent + h.Now().Sub(began)
		if end, why := l.reached(ctx, s); end != "" {
			return conclude(ctx, h, s, end, why)
		}

		// 1: manage the context.
		if err := manage(ctx, h, s, false); err != nil {
			return failed(ctx, h, s, err)
		}

		// 2: call the model.
		reply, err := call(ctx, h, s, l)
		if err != nil {
			return failed(ctx, h, s, err)
		}

		// 3: run the tools, if the reply asks for any.
		next := judge(s, reply)
		if next.spent && another(ctx, h, s, next) {
			continue
		}
		if next.accept != nil {
			s.Skipped = 0
			if err := keep(ctx, h, s, next.accept); err != nil {
				return failed(ctx, h, s, err)
			}
		}
		if next.runTools {
			if err := runTools(ctx, h, s, l, next.accept.Calls()); err != nil {
				return failed(ctx, h, s, err)
			}
		}

		// 4: decide whether to stop.
		if next.reason != "" {
			more, err := followUp(ctx, h, s, next)
			if err != nil {
				return failed(ctx, h, s, err)
			}
			if !more {
				return s.outcome(next.reason, next.detail)
			}
		}
		if err := h.Checkpoint(ctx, s); err != nil {
			return failed(ctx, h, s, err)
		}
	}
}

// manage lets the host make room and takes over the history that results.
func manage(ctx context.Context, h Host, s *State, overflow bool) error {
	history, err := h.Manage(ctx, s.History, overflow)
	if err != nil {
		return err
	}
	s.History = history
	return nil
}

// maxOverflows is how often room is made for one call that the model refuses for
// its size.
const maxOverflows = 3

// call asks the model, again after making room if the prompt is too large.
func call(ctx context.Context, h Host, s *State, l Limits) (*model.Reply, error) {
	s.Rounds++
	reply, err := h.Call(ctx, s.request(l))
	for n := 0; n < maxOverflows && model.ClassOf(err) == model.ContextOverflow && ctx.Err() == nil; n++ {
		if err := manage(ctx, h, s, true); err != nil {
			return nil, err
		}
		reply, err = h.Call(ctx, s.request(l))
	}
	if err != nil {
		return nil, err
	}
	s.Note = ""
	s.InputTokens += reply.Usage.Input
	return reply, nil
}

// another turns to another model after one that brought nothing.
func another(ctx context.Context, h Host, s *State, next verdict) bool {
	w, ok := h.(Switcher)
	if !ok || !w.Another(ctx, next.detail, s.Skipped) {
		return false
	}
	s.Skipped++
	return true
}

// keep appends a message to the history and makes it durable.
func keep(ctx context.Context, h Host, s *State, m *message.Message) error {
	history, err := s.History.Append(m)
	if err != nil {
		return err
	}
	s.History = history
	return h.Save(ctx, m)
}

// runTools runs the calls and keeps their results, in the order of the calls.
// What the user said meanwhile goes in with the last result.
func runTools(ctx context.Context, h Host, s *State, l Limits, calls []*message.ToolCall) error {
	results := h.Tools(ctx, calls)
	msgs := make([]*message.Message, len(results))
	for i := range results {
		msgs[i] = results[i].Message
	}
	if said := h.Steering(); len(said) > 0 {
		msgs[len(msgs)-1] = steered(msgs[len(msgs)-1], said)
	}
	for _, m := range msgs {
		history, err := s.History.Append(m)
		if err != nil {
			return err
		}
		s.History = history
	}
	s.observe(calls, results, l)
	return h.Save(context.WithoutCancel(ctx), msgs...)
}

// followUp puts what the user says next behind the last reply as a new message,
// so that the run goes on. It reports whether there was anything.
func followUp(ctx context.Context, h Host, s *State, next verdict) (bool, error) {
	if next.reason != EndTurn {
		return false, nil
	}
	said := h.FollowUp()
	if len(said) == 0 {
		return false, nil
	}
	return true, keep(ctx, h, s, message.NewUser(joinSaid(said)))
}
