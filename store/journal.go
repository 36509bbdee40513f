package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rondo-engine/rondo/message"
)

// Journal is a Store that knows which tool calls with effects were begun, so
// that none is repeated when a session goes on after a crash. Whoever runs such
// a call records its Effect first; if the process is killed, a call that has an
// Effect and no result may or may not have run, and one that has neither did
// not.
type Journal interface {
	// Record is Append that also records effects, in the same transaction: one
	// without FinishedAt begins, one with it ends. What ends without having
	// begun is refused; what begins twice is kept as it began first.
	Record(ctx context.Context, id string, msgs []*message.Message, u Update, effects []Effect) error
	// Effects returns the effects of the calls in a message of session id, in
	// the order of the calls.
	Effects(ctx context.Context, id, messageID string) ([]Effect, error)
}

// Effect is a tool call with effects that was begun.
type Effect struct {
	// MessageID and Index name the call: the message that holds it, and its
	// place among the calls there, from 0. Ids of calls may be used again.
	MessageID string
	Index     int
	CallID    string
	Tool      string
	// ArgsDigest tells the arguments apart; it is the holder's to choose.
	ArgsDigest string
	StartedAt  time.Time
	// FinishedAt and Status are zero until the result is known.
	FinishedAt time.Time
	Status     message.Status
}

// CheckEffects tells what is wrong with effects to record in session id, for
// implementations of Journal.
func CheckEffects(id string, effects []Effect) error {
	for _, e := range effects {
		if e.MessageID == "" || e.Index < 0 {
			return fmt.Errorf("record an effect in session %s: call %s of %s is not named by a message and its place in it", id, e.CallID, e.Tool)
		}
	}
	return nil
}

// ErrNotBegun is in the chain of the error about an effect that ends without
// having begun.
var ErrNotBegun = errors.New("the journal does not know that this call was begun")
