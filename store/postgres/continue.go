package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

const (
	// sqlParent locks the row of a session until the transaction ends: what
	// continues it is looked for and made in one go.
	sqlParent = "WITH " + sqlFence + " SELECT n FROM rondo_sessions WHERE id = $1 AND " + fenced + " FOR UPDATE"
	sqlNext   = "SELECT EXISTS (SELECT FROM rondo_sessions WHERE parent = $1 AND parent <> '' AND relation = 'compression')"
	sqlMade   = "SELECT EXISTS (SELECT FROM rondo_sessions WHERE id = $1 AND parent = $2)"
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
	err := s.write(ctx, func(tx pgx.Tx, doubt bool) error {
		err := s.goOn(ctx, tx, session, msgs)
		if doubt && errors.Is(err, store.ErrContinued) {
			return firstDid(ctx, tx, session, err)
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

func (s *Store) goOn(ctx context.Context, tx pgx.Tx, session store.Session, msgs []*message.Message) error {
	parent := escape(session.Parent)
	if err := written(tx.QueryRow(ctx, sqlParent, parent, s.locks.token(session.Parent))); err != nil {
		return err
	}
	var continued bool
	if err := tx.QueryRow(ctx, sqlNext, parent).Scan(&continued); err != nil {
		return err
	}
	if continued {
		return store.ErrContinued
	}
	if err := create(ctx, tx, session); err != nil {
		return err
	}
	ids, roles, bodies := make([]string, len(msgs)), make([]string, len(msgs)), make([]string, len(msgs))
	for i, m := range msgs {
		ids[i], roles[i], bodies[i] = escape(m.ID), escape(string(m.Role)), string(message.AppendJSON(nil, m))
	}
	b := new(pgx.Batch)
	b.Queue(sqlEnd, parent)
	b.Queue(sqlFill, escape(session.ID), ids, roles, bodies)
	return tx.SendBatch(ctx, b).Close()
}

// firstDid returns nil if an attempt before made the session that goes on, and
// else err.
func firstDid(ctx context.Context, tx pgx.Tx, s store.Session, err error) error {
	var made bool
	if asked := tx.QueryRow(ctx, sqlMade, escape(s.ID), escape(s.Parent)).Scan(&made); asked != nil || made {
		return asked
	}
	return err
}

// Tip implements store.Continuer.
func (s *Store) Tip(ctx context.Context, id string) (store.Session, error) {
	found, err := s.tip(ctx, id)
	if err != nil {
		return store.Session{}, fmt.Errorf("find what continues session %s: %w", id, err)
	}
	return found, nil
}
