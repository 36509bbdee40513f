package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
)

// Noter is a Store that keeps notes beside the messages of a session: what
// became of the conversation without anything being said, such as how its old
// results were shrunk. Notes are appended and never changed; they go with the
// session.
type Noter interface {
	// Note adds notes behind those of session id, in one transaction.
	Note(ctx context.Context, id string, notes ...Note) error
	// Notes returns the notes of session id, the first one first.
	Notes(ctx context.Context, id string) ([]Note, error)
}

// Note is a record about a session. It may refer to messages by their ids.
type Note struct {
	Time time.Time `json:"time"`
	// Kind says what Body holds; it is the holder's to choose.
	Kind string `json:"kind"`
	// Body is a JSON value.
	Body jsontext.Value `json:"body"`
}

// NoteShrunk is the kind of a note that holds a Shrinking.
const NoteShrunk = "shrunk"

// Shrinking tells what became of old messages: each stands for the one with its
// id in what a model sees. The store has those as they were.
type Shrinking struct {
	Messages []*message.Message `json:"messages"`
}

// Shrunk returns what messages became according to notes, by their ids.
func Shrunk(notes []Note) (map[string]*message.Message, error) {
	became := map[string]*message.Message{}
	for i, n := range notes {
		if n.Kind != NoteShrunk {
			continue
		}
		var s Shrinking
		if err := json.Unmarshal(n.Body, &s, jsontext.AllowInvalidUTF8(true)); err != nil {
			return became, fmt.Errorf("note %d of %d (%s) cannot be read: %w", i+1, len(notes), n.Kind, err)
		}
		for _, m := range s.Messages {
			became[m.ID] = m
		}
	}
	return became, nil
}

// CheckNotes tells what is wrong with notes to add to session id, for
// implementations of Noter.
func CheckNotes(id string, notes []Note) error {
	for i, n := range notes {
		if n.Kind == "" || !n.Body.IsValid() {
			return fmt.Errorf("note about session %s: note %d of %d has no kind, or a body that is no JSON", id, i+1, len(notes))
		}
	}
	return nil
}

var _ Noter = (*Memory)(nil)

// Note implements Noter.
func (m *Memory) Note(_ context.Context, id string, notes ...Note) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.byID[id]
	if s == nil {
		return fmt.Errorf("note about session %s: %w", id, ErrNotFound)
	}
	if err := CheckNotes(id, notes); err != nil {
		return err
	}
	for _, n := range notes {
		n.Body = slices.Clone(n.Body)
		s.notes = append(s.notes, n)
	}
	return nil
}

// Notes implements Noter.
func (m *Memory) Notes(_ context.Context, id string) ([]Note, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.byID[id]
	if s == nil {
		return nil, fmt.Errorf("read the notes about session %s: %w", id, ErrNotFound)
	}
	return slices.Clone(s.notes), nil
}
