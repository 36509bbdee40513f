// Package snapshot keeps where sessions stand, one JSON file a session.
//
// A snapshot is self-contained: it holds the messages as the store has them,
// and beside them what no message says: how far the run is, what of its limits
// is used up, which calls are open. Whoever resumes a session takes the
// messages of the store and of its snapshot the state of the run, as far as the
// two belong together; where there is no store, the snapshot is enough.
//
// A file is replaced as a whole: it is written beside the old one, synced and
// renamed, so that a kill at any moment leaves the old one or the new one. What
// that costs does not grow with the session: each message is encoded once, and
// the file that is replaced serves as the next one, which has to be told only
// what is new.
package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/store"
)

// Version is the version of the form in which snapshots are written.
const Version = 1

// Strategy says when a run writes snapshots.
type Strategy string

// The strategies.
const (
	// EveryToolRound writes one after each round that ran tools, and one at
	// the end of such a run. The empty value is the same. Rounds that follow
	// one another faster than a snapshot is due share one; what it lacks
	// meanwhile is in the session's store.
	EveryToolRound Strategy = "every_tool_round"
	// EveryRound writes one after each round.
	EveryRound Strategy = "every_round"
	// Manual writes none but those that are asked for.
	Manual Strategy = "manual"
)

var (
	// ErrNotFound is in the chain of errors about snapshots that are not there.
	ErrNotFound = errors.New("there is no snapshot of this session")
	// ErrNewer is in the chain of the error about a snapshot that a newer
	// rondo wrote.
	ErrNewer = errors.New("a newer version of rondo wrote this snapshot")
)

// Snapshot is where a session stands.
type Snapshot struct {
	Version int       `json:"version"`
	SavedAt time.Time `json:"saved_at"`
	// Strategy is the one that wrote it.
	Strategy Strategy `json:"strategy"`
	Session  Session  `json:"session"`
	// TaskID names the run.
	TaskID string `json:"task_id,omitempty"`
	// Reason is why the run ended; empty while it goes on.
	Reason string `json:"end_reason,omitempty"`
	// Run is the state of the run: rounds, limits used, guard, attempts. It is
	// the JSON form of loop.State; null where no run is known.
	Run jsontext.Value `json:"run,omitempty"`
	// LastMessage is the id of the last of Messages, by which whoever has the
	// messages from elsewhere tells whether the two belong together.
	LastMessage string `json:"last_message,omitempty"`
	// OpenCalls are the calls at the end of the messages without a result.
	OpenCalls []OpenCall `json:"open_calls,omitempty"`
	// Calibration says by the names of models how they count their tokens, Todo
	// what is to be done.
	Calibration jsontext.Value `json:"calibration,omitempty"`
	Todo        jsontext.Value `json:"todo,omitempty"`
	// Approvals are what a person allowed for the session, for people to read.
	// They are not taken over by whoever goes on with the session: a yes was
	// given to a process, and a file that a tool may have written gives none.
	Approvals jsontext.Value `json:"approvals,omitempty"`
	// System is the system prompt.
	System string `json:"system,omitempty"`
	// Notes are those about the session that still hold, see store.Noter.
	Notes []store.Note `json:"notes,omitempty"`
	// Messages are all that the session has, as the store keeps them.
	Messages []*message.Message `json:"-"`
}

// OpenCall is a tool call that waits for its result.
type OpenCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Session is what a snapshot says of its session.
type Session struct {
	ID        string      `json:"id"`
	Title     string      `json:"title,omitempty"`
	Parent    string      `json:"parent,omitempty"`
	Relation  string      `json:"relation,omitempty"`
	Workspace string      `json:"workspace,omitempty"`
	Provider  string      `json:"provider,omitempty"`
	Model     string      `json:"model,omitempty"`
	CreatedAt time.Time   `json:"created_at,omitzero"`
	Usage     model.Usage `json:"usage,omitzero"`
	Calls     int         `json:"api_calls,omitempty"`
	CostUSD   float64     `json:"cost_usd,omitempty"`
	Messages  int         `json:"messages"`
}

// SessionOf takes over what a store says of a session.
func SessionOf(s store.Session) Session {
	return Session{
		ID: s.ID, Title: s.Title, Parent: s.Parent, Relation: s.Relation, Workspace: s.Workspace,
		Provider: s.Provider, Model: s.Model, CreatedAt: s.CreatedAt, Usage: s.Usage, Calls: s.Calls, CostUSD: s.CostUSD,
		Messages: s.Messages,
	}
}

// Stored is the session as a store would have it.
func (s *Snapshot) Stored() store.Session {
	f := &s.Session
	return store.Session{
		ID: f.ID, Title: f.Title, Parent: f.Parent, Relation: f.Relation, Workspace: f.Workspace,
		Provider: f.Provider, Model: f.Model, System: s.System, CreatedAt: f.CreatedAt, UpdatedAt: s.SavedAt,
		Usage: f.Usage, Calls: f.Calls, CostUSD: f.CostUSD, Messages: len(s.Messages), EndReason: s.Reason,
	}
}

// Store keeps the snapshots of sessions; Dir is one.
type Store interface {
	// Writer returns what writes the snapshots of session id. It is used by
	// one goroutine at a time.
	Writer(id string) Writer
	// Load returns the snapshot of session id. The error wraps ErrNotFound if
	// there is none.
	Load(ctx context.Context, id string) (*Snapshot, error)
}

// Heads is a Store that reads what stands before the messages without them,
// which costs the same however many there are.
type Heads interface {
	// LoadHead is Load without Messages; Session.Messages counts them.
	LoadHead(ctx context.Context, id string) (*Snapshot, error)
}

// Writer writes the snapshots of one session, each in place of the last.
type Writer interface {
	// Write makes s durable. As long as its messages are those of the last
	// call and what came behind them, only the new ones are encoded.
	Write(ctx context.Context, s *Snapshot) error
	// Close cleans up; what was written stays. The writer can be used again.
	Close() error
}

// appendHead appends s to dst, but for its messages: an object that is still
// open, with a member a line, whose last is the beginning of an array.
func appendHead(dst []byte, s *Snapshot) ([]byte, error) {
	head, err := json.Marshal(s, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, err
	}
	value := jsontext.Value(head)
	if err := value.Indent(jsontext.WithIndent(" ")); err != nil {
		return nil, err
	}
	dst = append(dst, value[:len(value)-len("\n}")]...)
	return append(append(dst, ','), messagesAt...), nil
}

// messagesAt is how the last line of a head begins. No string holds it: in
// strings, a line feed is escaped.
const messagesAt = "\n \"messages\": ["

// end closes what appendHead opened.
const end = "\n ]\n}\n"

// parseHead reads a snapshot without its messages. It reports false if r does
// not begin with a head as this package writes it.
func parseHead(r io.Reader) (*Snapshot, bool, error) {
	var data []byte
	for chunk := make([]byte, 8<<10); ; {
		n, err := r.Read(chunk)
		seen := max(0, len(data)-len(messagesAt))
		data = append(data, chunk[:n]...)
		if i := bytes.Index(data[seen:], []byte(messagesAt)); i >= 0 {
			s, err := Parse(append(data[:seen+i+len(messagesAt)], end...))
			if err != nil {
				return nil, false, err
			}
			s.Messages = nil
			return s, s.LastMessage != "", nil
		}
		if errors.Is(err, io.EOF) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
}

// Parse reads a snapshot.
func Parse(data []byte) (*Snapshot, error) {
	lenient := json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	var version struct {
		Version  int                `json:"version"`
		Messages []*message.Message `json:"messages"`
	}
	if err := json.Unmarshal(data, &version, lenient); err != nil {
		return nil, fmt.Errorf("the file is damaged: %w", err)
	}
	if version.Version > Version {
		return nil, fmt.Errorf("%w: it has version %d, this program knows versions up to %d", ErrNewer, version.Version, Version)
	}
	s := new(Snapshot)
	if err := json.Unmarshal(data, s, lenient); err != nil {
		return nil, fmt.Errorf("the file is damaged: %w", err)
	}
	if s.Session.ID == "" {
		return nil, errors.New("the file is no snapshot: it names no session")
	}
	s.Messages = version.Messages
	return s, nil
}
