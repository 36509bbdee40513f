package sqlite

import (
	"context"
	"fmt"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

var _ store.Continuer = (*Store)(nil)

// sqlFilled sets how many messages a session has, none of which is for the index;
// sqlContinued why it ended.
const (
	sqlFilled    = "UPDATE sessions SET messages = ?1, indexed = ?1 WHERE n = ?2"
	sqlContinued = "UPDATE sessions SET end_reason = ? WHERE n = ?"
)

// Continue implements store.Continuer.
func (s *Store) Continue(ctx context.Context, session store.Session, msgs []*message.Message) error {
	session.Relation = store.Compression
	if err := store.CheckNew(session); err != nil {
		return err
	}
	if err := store.CheckMessages(session.ID, msgs); err != nil {
		return err
	}
	session.Stamp(s.o.Now())
	err := s.write(ctx, func(c *conn) error {
		parent, err := find(ctx, c, session.Parent)
		if err != nil {
			return err
		}
		if parent.n == 0 {
			return store.ErrNotFound
		}
		next, err := sessions(ctx, c, sqlCompressed, session.Parent)
		if err != nil {
			return err
		}
		if len(next) > 0 {
			return store.ErrContinued
		}
		n, err := create(ctx, c, session)
		if err != nil {
			return err
		}
		if err := c.exec(sqlContinued, store.Compression, parent.n); err != nil {
			return err
		}
		return fill(c, n, msgs)
	})
	if err != nil {
		return fmt.Errorf("continue session %s: %w", session.Parent, err)
	}
	return nil
}

// fill gives the new session n its first messages, which no search finds.
func fill(c *conn, n int64, msgs []*message.Message) error {
	for i, m := range msgs {
		if err := insert(c, firstKey(n)+int64(i), m); err != nil {
			return err
		}
	}
	return c.exec(sqlFilled, int64(len(msgs)), n)
}

// Tip implements store.Continuer.
func (s *Store) Tip(ctx context.Context, id string) (found store.Session, err error) {
	err = s.read(ctx, func(c *conn) error {
		list, err := sessions(ctx, c, sqlByID, id)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return store.ErrNotFound
		}
		found, err = tip(ctx, c, list[0].Session)
		return err
	})
	if err != nil {
		return store.Session{}, fmt.Errorf("find what continues session %s: %w", id, err)
	}
	return found, nil
}
