package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

const (
	// sqlParent locks the row of a session until the transaction ends: what
	// continues it is looked for and made in one go.
	sqlParent = "WITH " + sqlFence + " SELECT n FROM rondo_sessions WHERE id = $1 AND " + fenced + " FOR UPDATE"
	sqlNext   = "SELECT FROM rondo_sessions WHERE parent = $1 AND parent <> '' AND relation = 'compression'"
	sqlMade   = "SELECT FROM rondo_sessions WHERE id = $1 AND parent = $2"
	sqlEnd    = "UPDATE rondo_sessions SET end_reason = 'compression' WHERE id = $1"
	// sqlFill gives a new session its first messages, which no search finds.
	sqlFill = `WITH at AS (UPDATE rondo_sessions SET messages = cardinality($2::text[]) WHERE id = $1 RETURNING n)
		INSERT INTO rondo_messages (session, seq, id, role, body)
		SELECT at.n, m.place - 1, m.id, m.role, m.body
		FROM at, unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS m (id, role, body, place)`
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
	err := s.write(ctx, func(c *conn, doubt bool) error {
		err := s.goOn(ctx, c, session, msgs)
		if doubt && errors.Is(err, store.ErrContinued) {
			return c.tell(ctx, sqlMade, args{session.ID, session.Parent}, err) // perhaps the first attempt did
		}
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		err = s.whyNot(ctx, session.Parent)
	}
	if err != nil {
		return fmt.Errorf("continue session %s: %w", session.Parent, err)
	}
	return nil
}

func (s *Store) goOn(ctx context.Context, c *conn, session store.Session, msgs []*message.Message) error {
	if err := c.tell(ctx, sqlParent, args{session.Parent, s.locks.token(session.Parent)}, store.ErrNotFound); err != nil {
		return err
	}
	next, err := c.ask(ctx, sqlNext, args{session.Parent}, nil)
	if err != nil {
		return err
	}
	if next > 0 {
		return store.ErrContinued
	}
	if err := create(ctx, c, session); err != nil {
		return err
	}
	ids, roles, bodies := make([]string, len(msgs)), make([]string, len(msgs)), make([]string, len(msgs))
	for i, m := range msgs {
		ids[i], roles[i], bodies[i] = m.ID, string(m.Role), string(message.AppendJSON(nil, m))
	}
	return c.send(ctx, func(b *batch) {
		b.add(sqlEnd, args{session.Parent}, nil, nil)
		b.add(sqlFill, args{session.ID, ids, roles, bodies}, nil, nil)
	})
}

// Tip implements store.Continuer.
func (s *Store) Tip(ctx context.Context, id string) (store.Session, error) {
	found, err := s.tip(ctx, id)
	if err != nil {
		return store.Session{}, fmt.Errorf("find what continues session %s: %w", id, err)
	}
	return found, nil
}
