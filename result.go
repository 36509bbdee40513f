package rondo

import (
	"context"
	"fmt"
	"time"

	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// Result is how a run ended and what it brought.
type Result struct {
	// FinalResponse is the last reply's text; a summary when a limit ended
	// the run; what the provider said when it refused.
	FinalResponse string
	// Reason says why the run ended, Detail what led to it.
	Reason loop.Reason
	Detail string
	// Messages is the whole conversation after the run.
	Messages []*message.Message
	// Planning says that the session plans: FinalResponse is a plan that waits
	// for a word. See Mode.
	Planning bool
	// Unread is what Steer and FollowUp brought and the model has not read,
	// because the run ended before; nothing of it was saved.
	Unread []string
	// Reasoning is the thinking of the last reply of this run.
	Reasoning string
	// Rounds counts the model calls that could use tools; APICalls all.
	Rounds   int
	APICalls int
	// Usage is what all calls used; UsageByModel by "provider/model".
	Usage        model.Usage
	UsageByModel map[string]model.Usage
	// CostUSD is what it cost; nil when a price is not known.
	CostUSD *float64

	SessionID string
	TaskID    string
	// Started, Duration and the parts of it that were spent waiting for the
	// model and for tools.
	Started             time.Time
	Duration            time.Duration
	ModelTime, ToolTime time.Duration
}

// RunError says that a run did not come to an end of its own.
type RunError struct {
	Reason loop.Reason
	Detail string
	// Err is the failure behind it; context.Canceled for a run that was
	// stopped; nil if there is none.
	Err error
}

// Error says why the run ended.
func (e *RunError) Error() string {
	return fmt.Sprintf("the run ended with %s: %s", e.Reason, e.Detail)
}

// Unwrap returns the failure behind the end.
func (e *RunError) Unwrap() error { return e.Err }

// runError is the error that belongs to an outcome, nil for a good end.
func runError(o loop.Outcome) error {
	switch o.Reason {
	case loop.UserCancel:
		return &RunError{Reason: o.Reason, Detail: o.Detail, Err: context.Canceled}
	case loop.CircuitBreaker, loop.FatalError, loop.ContextOverflow, loop.CompactionExhausted:
		return &RunError{Reason: o.Reason, Detail: o.Detail, Err: o.Err}
	}
	if o.Err != nil {
		return &RunError{Reason: o.Reason, Detail: o.Detail, Err: o.Err}
	}
	return nil
}
