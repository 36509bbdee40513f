// Package store keeps sessions: what was said, by whom, in which model's
// words, what it cost, and where it came from.
//
// A Store is append-only where messages are concerned: what was saved is never
// rewritten. Memory is a store that forgets with the process; package sqlite
// keeps sessions in a file. Suite, in package storetest, is what every store
// must pass.
package store

import (
	"context"
	"errors"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// ErrNotFound is in the chain of errors about sessions that are not there.
var ErrNotFound = errors.New("session not found")

// AmbiguousError says that a reference fits several sessions.
type AmbiguousError struct {
	Ref     string
	Matches []Session
}

// Session is what a store knows of a session beside its messages.
type Session struct {
	// ID is unique and sorts by time of creation.
	ID string
	// Title is what people call it; empty until it has one. Unique.
	Title string
	// Parent is the session that this one continues after a compression, or
	// that delegated it; Relation says which ("compression", "delegate").
	Parent, Relation string
	// Workspace is the directory it works in.
	Workspace       string
	Provider, Model string
	// System is the system prompt, kept so that it is replayed byte for byte.
	System               string
	CreatedAt, UpdatedAt time.Time
	// Messages counts them.
	Messages int
	// Usage is what its model calls used in all; Calls how many there were;
	// CostUSD what they cost, as far as prices are known.
	Usage   model.Usage
	Calls   int
	CostUSD float64
	// EndReason is why its last run ended; empty while one goes on, and after
	// a crash.
	EndReason string
}

// Update is what changes in a session as a run goes on. Zero fields change
// nothing, usage and cost are added.
type Update struct {
	Title           string
	Provider, Model string
	System          string
	EndReason       string
	// Running clears EndReason: a run has begun.
	Running bool
	Usage   model.Usage
	Calls   int
	CostUSD float64
}

// ListOptions choose sessions.
type ListOptions struct {
	// Limit bounds the number; 0 is no bound. Newest (by UpdatedAt) first.
	Limit int
	// Workspace restricts to one directory when set.
	Workspace string
}

// Store keeps sessions. Implementations are safe for concurrent use, by many
// processes where they keep files. When a method that writes returns nil, what
// it wrote outlives a kill of the process.
type Store interface {
	// Create adds a session; its ID must be new, else the error wraps
	// ErrExists. A title that is taken gets a number, as in "title #2".
	Create(ctx context.Context, s Session) error
	// Append saves messages at the end of the session and changes what u
	// says, in one transaction. Messages without an ID are refused. A title
	// that is taken gets a number.
	Append(ctx context.Context, id string, msgs []*message.Message, u Update) error
	// Load returns a session with all its messages, in order. If records
	// cannot be read, the error is a *DamagedError and the rest comes with it.
	Load(ctx context.Context, id string) (Session, []*message.Message, error)
	// Find resolves what a user typed: an ID, a unique prefix of one, a
	// title, or "last" for the session used most recently (in workspace, if
	// that is not empty; those that were delegated do not count). A title
	// leads to the newest of the sessions that continue it after compressions.
	// The error wraps ErrNotFound or is an *AmbiguousError.
	Find(ctx context.Context, ref, workspace string) (Session, error)
	// List returns sessions, the one used most recently first.
	List(ctx context.Context, o ListOptions) ([]Session, error)
	// Delete removes a session and its messages.
	Delete(ctx context.Context, id string) error
	// Close waits for what is being written and releases the store.
	Close() error
}

// Starter is a Store that begins sessions in one step.
type Starter interface {
	// Start is Create and then Append in one transaction: a crash leaves no
	// session without messages.
	Start(ctx context.Context, s Session, msgs []*message.Message, u Update) error
}

// Error lists the sessions that the reference fits.
func (e *AmbiguousError) Error() string {
	s := "session " + e.Ref + " is ambiguous: it may be"
	for i, m := range e.Matches {
		if i > 0 {
			s += ","
		}
		s += " " + m.ID
		if m.Title != "" {
			s += " (" + m.Title + ")"
		}
	}
	return s
}
