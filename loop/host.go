package loop

import (
	"context"
	"errors"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// Host is the world of a run. Its methods are called one at a time. When ctx
// ends they return soon, with an error that wraps the context's.
type Host interface {
	// Now returns the time.
	Now() time.Time
	// Manage brings the history to a size that the model takes; after an
	// overflow the model itself said that it is too large. It returns the
	// history to go on with, the same if there was nothing to do, or an error
	// that wraps ErrOverflow or ErrExhausted if it cannot.
	Manage(ctx context.Context, h message.History, overflow bool) (message.History, error)
	// Call asks the model. Retries, fallback and waiting are the host's; an
	// error is final. A call without tools sums up a run that a limit ended:
	// the host gives it a little time even if the limit was that of ctx.
	Call(ctx context.Context, c Call) (*model.Reply, error)
	// Tools runs the calls and returns one result for each, in their order,
	// whatever happens: calls that were cut off by ctx have a result that
	// says so.
	Tools(ctx context.Context, calls []*message.ToolCall) []Result
	// Save makes messages durable that were appended to the history.
	Save(ctx context.Context, msgs ...*message.Message) error
	// Checkpoint is told the state after each round.
	Checkpoint(ctx context.Context, s *State) error
	// Steering returns what the user said to the running turn since the last
	// time, in order.
	Steering() []string
	// FollowUp is asked when the model has finished: it returns what the user
	// says next, or nothing; the run then ends, and nothing more can be said
	// to it.
	FollowUp() []string
}

// Switcher is a Host that has more than one model.
type Switcher interface {
	// Another is asked when the model gives no usable reply however often it
	// is asked. It turns to another model and returns true, if there is one
	// that was not tried for this reply: skipped models were passed over.
	Another(ctx context.Context, why string, skipped int) bool
}

// Call is one model call that the loop asks for.
type Call struct {
	// Round counts the model calls of the run that may use tools, from 1.
	Round   int
	History message.History
	// Note travels at the end of this request only.
	Note string
	// NoTools offers no tools.
	NoTools bool
	// Boost doubles the bound on the reply that many times.
	Boost int
}

// Result is how a tool call ended.
type Result struct {
	// Message is the tool message for the history.
	Message *message.Message
	// Unknown says that no such tool exists.
	Unknown bool
}

// Errors of Host.Manage.
var (
	// ErrOverflow says that the prompt is too large and cannot be made smaller.
	ErrOverflow = errors.New("the conversation does not fit the model's context window")
	// ErrExhausted says that compressing it did not help often enough.
	ErrExhausted = errors.New("compressing the conversation did not make it fit")
)
