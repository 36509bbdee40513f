package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rondo-engine/rondo/message"
)

// ErrContinued says that a session was continued already, by another process
// as a rule: each is continued once.
var ErrContinued = errors.New("the session was continued already")

// Continuer is a Store that keeps lines of sessions: a compressed conversation
// goes on in a new session, and the one before is kept whole.
type Continuer interface {
	// Continue adds s, which continues s.Parent, with the messages that the
	// parent's conversation became, and marks the parent as ended by a
	// compression, in one transaction. A search does not find msgs: what they
	// say is found where it was said first. The error wraps ErrContinued if
	// the parent was continued already. A title that is taken gets a number.
	Continue(ctx context.Context, s Session, msgs []*message.Message) error
	// Tip returns the last of the sessions that continue id, which is that of
	// id if none does.
	Tip(ctx context.Context, id string) (Session, error)
}

var _ Continuer = (*Memory)(nil)

// Continue implements Continuer.
func (m *Memory) Continue(ctx context.Context, s Session, msgs []*message.Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s.Relation = Compression
	parent := m.byID[s.Parent]
	switch {
	case parent == nil:
		return fmt.Errorf("continue session %s: %w", s.Parent, ErrNotFound)
	case m.next(s.Parent) != nil:
		return fmt.Errorf("continue session %s: %w", s.Parent, ErrContinued)
	case m.byID[s.ID] != nil:
		return fmt.Errorf("continue session %s: %w", s.Parent, ErrExists)
	}
	if err := cmp.Or(ctx.Err(), CheckNew(s), CheckMessages(s.ID, msgs)); err != nil {
		return err
	}
	s.Stamp(m.now())
	s.Title = m.freeTitle(s.Title, nil)
	s.Messages = len(msgs)
	child := &memorySession{Session: s, msgs: slices.Clone(msgs), copied: len(msgs)}
	m.byID[s.ID] = child
	m.sessions = append(m.sessions, child)
	parent.EndReason = Compression
	return nil
}

// Tip implements Continuer.
func (m *Memory) Tip(_ context.Context, id string) (Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.byID[id]
	if s == nil {
		return Session{}, fmt.Errorf("find what continues session %s: %w", id, ErrNotFound)
	}
	for next := m.next(id); next != nil; next = m.next(s.ID) {
		s = next
	}
	return s.Session, nil
}

// next returns the session that continues id, or nil.
func (m *Memory) next(id string) *memorySession {
	i := slices.IndexFunc(m.sessions, func(c *memorySession) bool {
		return c.Parent == id && c.Relation == Compression
	})
	if i < 0 {
		return nil
	}
	return m.sessions[i]
}
