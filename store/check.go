package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/rondo-engine/rondo/message"
)

var (
	// ErrExists is in the chain of the error about a session whose ID is taken.
	ErrExists = errors.New("a session with this id exists already")
	// ErrEmptyQuery is returned for a search without a term.
	ErrEmptyQuery = errors.New("search: the query has no word to look for")
)

// CheckNew tells what is wrong with a session to create, for implementations
// of Store.
func CheckNew(s Session) error {
	switch {
	case s.ID == "":
		return errors.New("create session: it has no id")
	case s.ID == Last:
		return fmt.Errorf("create session: %q cannot be an id, it stands for the session used most recently", Last)
	}
	return nil
}

// CheckMessages tells what is wrong with messages to append to session id, for
// implementations of Store.
func CheckMessages(id string, msgs []*message.Message) error {
	for i, m := range msgs {
		if m.ID == "" {
			return fmt.Errorf("append to session %s: message %d of %d (%s) has no id", id, i+1, len(msgs), m.Role)
		}
	}
	return nil
}

// Stamp makes a new session's counters zero and sets the times that are
// missing to now.
func (s *Session) Stamp(now time.Time) {
	s.Messages = 0
	if s.CreatedAt.IsZero() {
		s.CreatedAt = now
	}
	if s.UpdatedAt.IsZero() {
		s.UpdatedAt = s.CreatedAt
	}
}

// SearchText is what of m a Searcher looks through: the text of user and
// assistant messages, and nothing of others.
func SearchText(m *message.Message) string {
	if m.Role != message.User && m.Role != message.Assistant {
		return ""
	}
	return m.Text()
}
