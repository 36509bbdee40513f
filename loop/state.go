package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// State is where a run stands. It is all that has to be kept to go on with it.
type State struct {
	// History is the conversation, valid after every step.
	History message.History `json:"-"`
	// Rounds counts the model calls that could use tools.
	Rounds int `json:"rounds"`
	// InputTokens counts the tokens of all prompts, cached or not.
	InputTokens int64 `json:"input_tokens"`
	// Elapsed is how long the run has been going on, waiting included.
	Elapsed time.Duration `json:"elapsed_ns"`
	// ToolErrors counts the tool calls that failed one after the other.
	ToolErrors int `json:"tool_errors"`
	// Unknown counts the rounds in a row that asked for no tool that exists.
	Unknown int `json:"unknown"`
	// Repeats counts in how many rounds in a row the same call had the same
	// result, by fingerprint.
	Repeats map[string]int `json:"repeats,omitempty"`
	// Looping is the tool of a call that was repeated too often.
	Looping string `json:"looping,omitempty"`
	// Warned says that the model was told that its rounds run out.
	Warned bool `json:"warned,omitempty"`

	// Note is what the model has to be told with the next request.
	Note string `json:"note,omitempty"`
	// Pending is the beginning of a reply that is not finished yet.
	Pending *message.Message `json:"pending,omitempty"`
	// Paused says that the pending reply goes on when it is sent back as it
	// is; otherwise the model is asked to go on.
	Paused bool `json:"paused,omitempty"`
	// Attempts counts what was tried against odd replies.
	Attempts Attempts `json:"attempts"`
	// Skipped counts the models that were passed over since the last good
	// reply, since they gave none.
	Skipped int `json:"skipped,omitempty"`
}

// Attempts counts how often in a row each kind of odd reply was answered with
// another try.
type Attempts struct {
	Empty, Thinking, Announced, Length, CutCall, Pause int
}

// Outcome is how a run ended.
type Outcome struct {
	Reason Reason
	// Detail says in a sentence what led to it; empty for EndTurn.
	Detail string
	// Final is the final response: the last reply's text, or a summary.
	Final string
	// Err is the failure behind the reason, if there is one.
	Err error
}

func (s *State) outcome(r Reason, detail string) Outcome {
	o := Outcome{Reason: r, Detail: detail}
	if last := s.History.Last(); last != nil && last.Role == message.Assistant {
		o.Final = last.Text()
	}
	return o
}

// request is the next model call.
func (s *State) request(l Limits) Call {
	c := Call{Round: s.Rounds, History: s.History, Note: s.Note, Boost: s.Attempts.CutCall}
	if warning := l.warning(s); warning != "" {
		c.Note = strings.TrimPrefix(c.Note+"\n\n"+warning, "\n\n")
	}
	if s.Pending == nil {
		return c
	}
	c.History = push(c.History, s.Pending)
	if !s.Paused {
		c.History = push(c.History, message.NewUser(c.Note))
		c.Note = ""
	}
	return c
}

// push appends where the order is known to be right.
func push(h message.History, m *message.Message) message.History {
	next, err := h.Append(m)
	if err != nil {
		panic("loop: " + err.Error()) // a pending reply follows a user or tool message
	}
	return next
}

// failed is the outcome of a step that could not be done.
func failed(ctx context.Context, h Host, s *State, err error) Outcome {
	if ctx.Err() != nil {
		reason, detail := interrupted(ctx)
		return conclude(ctx, h, s, reason, detail)
	}
	o := Outcome{Reason: FatalError, Detail: err.Error(), Err: err}
	switch class := model.ClassOf(err); {
	case errors.Is(err, ErrExhausted):
		o.Reason = CompactionExhausted
	case errors.Is(err, ErrOverflow), class == model.ContextOverflow:
		o.Reason = ContextOverflow
	case class == model.ContentFilter:
		o.Reason, o.Final = NoToolCalls, err.Error()
	case class.Retryable() && !errors.Is(err, model.ErrUnreachable):
		o.Reason = CircuitBreaker
	}
	if s.Pending != nil && o.Final == "" {
		o.Final = s.Pending.Text()
	}
	return o
}

// steered returns m with what the user said behind it.
func steered(m *message.Message, said []string) *message.Message {
	c := *m
	c.Parts = append(append([]message.Part(nil), m.Parts...), message.Text(fmt.Sprintf(steerText, joinSaid(said))))
	return &c
}

func joinSaid(said []string) string { return strings.Join(said, "\n\n") }
