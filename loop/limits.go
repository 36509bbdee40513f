package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rondo-engine/rondo/message"
)

// Reason says why a run ended. Exactly one ends each run.
type Reason string

// The reasons, a closed set.
const (
	// EndTurn: the model finished, and no tool call is open.
	EndTurn Reason = "end_turn"
	// NoToolCalls: the reply asked for no tool and did not end as finished.
	NoToolCalls Reason = "no_tool_calls"
	// MaxRounds, MaxBudget, Deadline and MaxErrors: a limit is used up.
	MaxRounds Reason = "max_rounds"
	MaxBudget Reason = "max_budget"
	Deadline  Reason = "deadline"
	MaxErrors Reason = "max_errors"
	// CircuitBreaker: the model's provider failed too often in a row.
	CircuitBreaker Reason = "circuit_breaker"
	// LoopDetected: the model repeats itself without getting anywhere.
	LoopDetected Reason = "loop_detected"
	// UserCancel: the user stopped the run.
	UserCancel Reason = "user_cancel"
	// ContextOverflow: too large for the model even after compression.
	ContextOverflow Reason = "context_overflow"
	// CompactionExhausted: compressions did not help.
	CompactionExhausted Reason = "compaction_exhausted"
	// FatalError: it cannot be recovered.
	FatalError Reason = "fatal_error"
)

// Limits bound a run. A zero field is no limit, but for the thresholds of the
// loop guard, which then have their defaults.
type Limits struct {
	// MaxRounds bounds the model calls.
	MaxRounds int
	// MaxInputTokens bounds the tokens of all prompts, cached or not.
	MaxInputTokens int64
	// MaxExecution bounds the time.
	MaxExecution time.Duration
	// MaxErrors bounds the tool calls that fail one after the other.
	MaxErrors int
	// WarnAt is the share of MaxRounds at which the model is told; 0 is
	// DefaultWarnAt, negative never.
	WarnAt float64
	// RepeatTold and RepeatStop are how many rounds in a row may bring the
	// same call with the same result before the model is told and before the
	// run ends.
	RepeatTold, RepeatStop int
}

// The defaults of Limits.
const (
	DefaultMaxRounds  = 25
	DefaultWarnAt     = 0.9
	DefaultRepeatTold = 3
	DefaultRepeatStop = 6
	// maxUnknown is how many rounds in a row may ask for no tool that exists.
	maxUnknown = 3
)

// ErrDeadline is the cause of a context that MaxExecution ended.
var ErrDeadline = errors.New("the time for this run is used up")

// reached returns the limit that forbids another round, if one does.
func (l Limits) reached(ctx context.Context, s *State) (Reason, string) {
	switch {
	case ctx.Err() != nil:
		return interrupted(ctx)
	case s.Looping != "":
		return LoopDetected, fmt.Sprintf("the same call of %s had the same result %d times in a row", s.Looping, l.repeatStop())
	case s.Unknown >= maxUnknown:
		return LoopDetected, fmt.Sprintf("%d rounds in a row asked for tools that do not exist", s.Unknown)
	case l.MaxRounds > 0 && s.Rounds >= l.MaxRounds:
		return MaxRounds, fmt.Sprintf("all %d rounds are used", l.MaxRounds)
	case l.MaxInputTokens > 0 && s.InputTokens >= l.MaxInputTokens:
		return MaxBudget, fmt.Sprintf("%d of %d input tokens are used", s.InputTokens, l.MaxInputTokens)
	case l.MaxExecution > 0 && s.Elapsed >= l.MaxExecution:
		return Deadline, fmt.Sprintf("%v of %v are used", s.Elapsed.Round(time.Millisecond), l.MaxExecution)
	case l.MaxErrors > 0 && s.ToolErrors >= l.MaxErrors:
		return MaxErrors, fmt.Sprintf("%d tool calls failed one after the other", s.ToolErrors)
	}
	return "", ""
}

func interrupted(ctx context.Context) (Reason, string) {
	cause := context.Cause(ctx)
	if errors.Is(cause, ErrDeadline) {
		return Deadline, cause.Error()
	}
	return UserCancel, "stopped: " + cause.Error()
}

func (l Limits) repeatTold() int { return orDefault(l.RepeatTold, DefaultRepeatTold) }
func (l Limits) repeatStop() int { return orDefault(l.RepeatStop, DefaultRepeatStop) }

func orDefault[T int | float64](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}

// warning is what the model is told, once, when its rounds run out.
func (l Limits) warning(s *State) string {
	at := orDefault(l.WarnAt, DefaultWarnAt)
	if s.Warned || l.MaxRounds <= 0 || at < 0 || float64(s.Rounds) <= at*float64(l.MaxRounds) {
		return ""
	}
	s.Warned = true
	return fmt.Sprintf(warnText, s.Rounds, l.MaxRounds)
}

// conclude ends a run at a limit: one last call without tools sums up the work,
// or a list made from the record where that fails or is not allowed.
func conclude(ctx context.Context, h Host, s *State, end Reason, why string) Outcome {
	o := Outcome{Reason: end, Detail: why}
	if end == UserCancel {
		o.Final = stoppedText
		return o
	}
	if text := askSummary(ctx, h, s, why); text != "" {
		o.Final = text
	} else {
		o.Final = recordSummary(s, why)
	}
	if last := s.History.Last(); last == nil || last.Role == message.Assistant {
		return o
	}
	if err := keep(context.WithoutCancel(ctx), h, s, message.NewAssistant(message.Text(o.Final))); err != nil {
		o.Err = err
	}
	return o
}

func askSummary(ctx context.Context, h Host, s *State, why string) string {
	reply, err := h.Call(ctx, Call{Round: s.Rounds, History: s.History, Note: fmt.Sprintf(summaryText, why), NoTools: true})
	if err != nil {
		return ""
	}
	s.InputTokens += reply.Usage.Input
	return strings.TrimSpace(reply.Message.Text())
}

// recordSummary says what was done without a model's help.
func recordSummary(s *State, why string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The run stopped: %s. No summary could be had from the model.\n", why)
	calls, failures := 0, 0
	var last string
	for _, m := range s.History.Messages() {
		switch m.Role {
		case message.Tool:
			calls++
			if m.Status != message.StatusOK && m.Status != "" {
				failures++
			}
		case message.Assistant:
			if text := m.Text(); text != "" {
				last = text
			}
		}
	}
	fmt.Fprintf(&b, "%d rounds, %d tool calls of which %d failed.", s.Rounds, calls, failures)
	if last != "" {
		fmt.Fprintf(&b, "\nThe last thing the model said: %s", last)
	}
	return b.String()
}
