package rondo

import (
	"context"
	"errors"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/tool"
	"github.com/rondo-engine/rondo/window"
)

// Trigger says why a conversation is compressed.
type Trigger string

// The triggers.
const (
	// TriggerThreshold: the window is filled beyond the threshold.
	TriggerThreshold Trigger = "threshold"
	// TriggerOverflow: the model refused the prompt for its size.
	TriggerOverflow Trigger = "overflow"
	// TriggerRequested: the user asked for it.
	TriggerRequested Trigger = "requested"
	// TriggerBetween: between turns, harder, since the window is nearly full.
	TriggerBetween Trigger = "between_turns"
)

// Compaction tells of a compression: that it begins, and then how it ended.
type Compaction struct {
	Trigger Trigger
	// Done is false when it begins. What follows is known at its end.
	Done bool
	// Method says how room was made; empty if the pass failed.
	Method window.Method
	// TokensBefore and TokensAfter are estimated sizes of the prompt.
	TokensBefore, TokensAfter     int
	MessagesBefore, MessagesAfter int
	// Failure says why nothing was changed; empty if something was.
	Failure string
	// Parent is the session that keeps the whole, where the event's session
	// goes on; empty where the session stayed, as when old results shrank.
	Parent string
}

// pass is how a compression ended.
type pass struct {
	history message.History
	told    Compaction
	// failure says why nothing was changed; nil if something was.
	failure error
}

// compress makes one pass and tells of it. The error ends the run; the history
// is the old one then.
func (r *run) compress(ctx context.Context, v *window.View, why Trigger) (pass, error) {
	s := r.s
	r.equip(v)
	told := Compaction{Trigger: why, TokensBefore: v.Tokens, MessagesBefore: v.History.Len()}
	begun := told
	r.events.emit(Event{Type: EventCompaction, Compaction: &begun})
	before := s.space.keeper.State
	o, err := s.space.keeper.Compress(ctx, v, r.a.opts.Now())
	if err == nil && o.Failure == nil {
		parent := s.id
		if o.History, err = r.settle(ctx, v.History, o); errors.Is(err, store.ErrContinued) {
			o.Failure, err = err, nil
		}
		if err != nil || o.Failure != nil {
			s.space.keeper.State = before
			s.space.keeper.Wait(v)
			o.History, o.After, o.MessagesAfter = v.History, o.Before, o.MessagesBefore
		} else if s.space.gauge.Forget(); s.id != parent {
			told.Parent = parent
			r.carryOver()
		}
	}
	r.noteState(context.WithoutCancel(ctx))
	told.Done, told.Method, told.TokensAfter, told.MessagesAfter = true, o.Method, o.After, o.MessagesAfter
	if failed := errors.Join(o.Failure, err); failed != nil {
		told.Failure, told.Method = r.a.opts.Secrets.Hide(failed.Error()), ""
	}
	r.events.emit(Event{Type: EventCompaction, Compaction: &told})
	if err != nil {
		return pass{v.History, told, o.Failure}, endOf(err)
	}
	return pass{o.History, told, o.Failure}, nil
}

// settle takes over what a pass brought: messages that only shrank do so within
// the session, anything else begins one that continues it.
func (r *run) settle(ctx context.Context, old message.History, o window.Outcome) (message.History, error) {
	if o.Method == window.Shrunk {
		if h, ok, err := r.shrink(ctx, old, o.History); ok {
			return h, err
		}
	}
	return r.goOn(ctx, o.History)
}

// noteState keeps the state of the compressor for whoever resumes the session.
func (r *run) noteState(ctx context.Context) {
	if err := r.s.noteState(ctx); err != nil {
		r.events.emit(Event{Type: EventStatus, Text: r.a.opts.Secrets.Hide(err.Error())})
	}
}

// equip gives the view what a compression needs.
func (r *run) equip(v *window.View) {
	s, o := r.s, &r.a.opts
	v.Estimate = s.space.gauge.Estimate
	v.Summariser = &summariser{r}
	v.Hide = func(text string) string { return model.Mask(o.Secrets.Hide(text)) }
	v.Carry = carryTodos(s.Todo())
	if o.Context.Carry != nil {
		v.Carry = append(v.Carry, o.Context.Carry(s.id)...)
	}
	if o.Context.Memory != nil {
		v.BeforeSummary = r.flush
	}
	if s.stored {
		v.Record = "What was said before is kept whole in session " + s.id + "."
	}
	if dir := o.ResultLimits.SpillDir; dir != "" {
		v.Spill = func(c *message.ToolCall, text string) (string, error) {
			return tool.Spill(dir, tool.Call{ID: c.ID, Name: c.Name}, text)
		}
	}
}
