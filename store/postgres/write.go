package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

const (
	sqlCreate = `INSERT INTO rondo_sessions (id, title, title_key, parent, relation, workspace, provider, model, system,
		created_ns, updated_ns, calls, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens,
		cost_usd, end_reason)
		VALUES ($1, nullif($2, ''), nullif($3, ''), $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
		ON CONFLICT (id) DO NOTHING`
	sqlTaken  = "SELECT EXISTS (SELECT FROM rondo_sessions WHERE title = $1 AND id <> $2)"
	sqlRename = "UPDATE rondo_sessions SET title = $2, title_key = $3 WHERE id = $1"
	sqlHold   = "SELECT FROM rondo_sessions WHERE id = $1 FOR UPDATE"
	sqlLanded = `SELECT EXISTS (SELECT FROM rondo_messages m JOIN rondo_sessions s ON s.n = m.session WHERE s.id = $1 AND m.id = $2)`
	sqlDelete = "DELETE FROM rondo_sessions WHERE id = $1"

	// sqlFence yields a row if the lock on session $1 is still the one that
	// $2 is the token of, and keeps it so until the transaction ends. Token 0
	// stands for no lock.
	sqlFence = `fence AS (SELECT FROM rondo_locks WHERE session = $1 AND token = $2 FOR SHARE)`
	fenced   = `($2 = 0 OR EXISTS (SELECT FROM fence))`

	// sqlRecord appends messages and begins effects; it yields the number of
	// the session. The row of the session is locked by its change, so that the
	// messages of others come before or after.
	sqlRecord = `WITH ` + sqlFence + `, at AS (
		UPDATE rondo_sessions SET messages = messages + cardinality($3::text[]),
			updated_ns = (extract(epoch FROM clock_timestamp()) * 1000000000)::bigint,
			calls = calls + $4, input_tokens = input_tokens + $5, cache_read_tokens = cache_read_tokens + $6,
			cache_write_tokens = cache_write_tokens + $7, output_tokens = output_tokens + $8,
			reasoning_tokens = reasoning_tokens + $9, cost_usd = cost_usd + $10,
			end_reason = coalesce($11, end_reason), provider = coalesce(nullif($12, ''), provider),
			model = coalesce(nullif($13, ''), model), system = coalesce(nullif($14, ''), system)
		WHERE id = $1 AND ` + fenced + ` RETURNING n, messages
	), said AS (
		INSERT INTO rondo_messages (session, seq, id, role, body, folded)
		SELECT at.n, at.messages - cardinality($3) + m.place - 1, m.id, m.role, m.body, nullif(m.folded, '')
		FROM at, unnest($3::text[], $15::text[], $16::text[], $17::text[]) WITH ORDINALITY AS m (id, role, body, folded, place)
	), begun AS (
		INSERT INTO rondo_effects (session, message, place, call, tool, args_digest, started_ns)
		SELECT at.n, e.* FROM at, unnest($18::text[], $19::bigint[], $20::text[], $21::text[], $22::text[], $23::bigint[]) AS e
		ON CONFLICT DO NOTHING
	) SELECT n FROM at`
)

// Create implements store.Store.
func (s *Store) Create(ctx context.Context, session store.Session) error {
	if err := store.CheckNew(session); err != nil {
		return err
	}
	session.Stamp(s.o.Now())
	err := s.write(ctx, func(tx pgx.Tx, doubt bool) error {
		err := create(ctx, tx, session)
		if doubt && errors.Is(err, store.ErrExists) { // the first attempt made it
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("create session %s: %w", session.ID, err)
	}
	return nil
}

func create(ctx context.Context, tx pgx.Tx, s store.Session) error {
	title, err := freeTitle(ctx, tx, s.Title, s.ID)
	if err != nil {
		return err
	}
	u := s.Usage
	done, err := tx.Exec(ctx, sqlCreate, escape(s.ID), escape(title), escape(foldKey(title)), escape(s.Parent), escape(s.Relation),
		escape(s.Workspace), escape(s.Provider), escape(s.Model), escape(s.System), s.CreatedAt.UnixNano(), s.UpdatedAt.UnixNano(),
		s.Calls, u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning, s.CostUSD, escape(s.EndReason))
	if err == nil && done.RowsAffected() == 0 {
		err = store.ErrExists
	}
	return err
}

// freeTitle makes title unique among the sessions other than id. Another
// process may take it all the same, and the transaction is then tried again.
func freeTitle(ctx context.Context, tx pgx.Tx, title, id string) (string, error) {
	if title == "" {
		return "", nil
	}
	return store.FreeTitle(title, func(t string) (taken bool, err error) {
		err = tx.QueryRow(ctx, sqlTaken, escape(t), escape(id)).Scan(&taken)
		return taken, err
	})
}

// Append implements store.Store.
func (s *Store) Append(ctx context.Context, id string, msgs []*message.Message, u store.Update) error {
	return s.Record(ctx, id, msgs, u, nil)
}

// Record implements store.Journal.
func (s *Store) Record(ctx context.Context, id string, msgs []*message.Message, u store.Update, effects []store.Effect) error {
	if err := cmp.Or(store.CheckMessages(id, msgs), store.CheckEffects(id, effects)); err != nil {
		return err
	}
	err := s.record(ctx, id, msgs, u, effects)
	if errors.Is(err, store.ErrNotFound) {
		err = s.whyNot(ctx, id)
	}
	if err != nil {
		return fmt.Errorf("append to session %s: %w", id, err)
	}
	return nil
}

// record writes in one round trip what need not be looked at before it counts. A
// record with messages can be told from one that was not written.
func (s *Store) record(ctx context.Context, id string, msgs []*message.Message, u store.Update, effects []store.Effect) error {
	begin, ends := parted(effects)
	args := s.recordArgs(id, msgs, u, begin)
	how := once
	if len(msgs) > 0 {
		how = repeated
	}
	lost := false
	return s.use(ctx, how, func(c *pgx.Conn) error {
		doubt := lost
		defer func() { lost = lost || c.IsClosed() }()
		if !doubt && u.Title == "" && len(ends) == 0 {
			return send(ctx, c, func(b *pgx.Batch) { b.Queue(sqlRecord, args...).QueryRow(written) })
		}
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			if doubt && len(msgs) > 0 {
				if done, err := landed(ctx, tx, id, msgs); err != nil || done {
					return err
				}
			}
			return recordMore(ctx, tx, id, args, u.Title, ends)
		})
	})
}

// landed reports whether messages that may have been written were. An attempt
// to write them that still goes on has its end first.
func landed(ctx context.Context, tx pgx.Tx, id string, msgs []*message.Message) (done bool, err error) {
	if _, err := tx.Exec(ctx, sqlHold, escape(id)); err != nil {
		return false, err
	}
	err = tx.QueryRow(ctx, sqlLanded, escape(id), escape(msgs[len(msgs)-1].ID)).Scan(&done)
	return done, err
}

// recordArgs are the arguments of sqlRecord.
func (s *Store) recordArgs(id string, msgs []*message.Message, u store.Update, begin []store.Effect) []any {
	ids, roles := make([]string, len(msgs)), make([]string, len(msgs))
	bodies, folded := make([]string, len(msgs)), make([]string, len(msgs))
	for i, m := range msgs {
		ids[i], roles[i] = escape(m.ID), escape(string(m.Role))
		bodies[i], folded[i] = string(message.AppendJSON(nil, m)), escape(lower(store.SearchText(m)))
	}
	var reason *string
	if u.Running || u.EndReason != "" {
		text := escape(u.EndReason)
		reason = &text
	}
	use := u.Usage
	args := []any{
		escape(id), s.locks.token(id), ids, u.Calls, use.Input, use.CacheRead, use.CacheWrite, use.Output, use.Reasoning, u.CostUSD,
		reason, escape(u.Provider), escape(u.Model), escape(u.System), roles, bodies, folded,
	}
	return append(args, effectArgs(begin)...)
}

// written reads what sqlRecord yields.
func written(row pgx.Row) error {
	var n int64
	err := row.Scan(&n)
	if errors.Is(err, pgx.ErrNoRows) {
		return store.ErrNotFound
	}
	return err
}

// recordMore is what of a record must be looked at before it counts.
func recordMore(ctx context.Context, tx pgx.Tx, id string, args []any, title string, ends []store.Effect) error {
	b := new(pgx.Batch)
	b.Queue(sqlRecord, args...).QueryRow(written)
	for _, e := range ends {
		queueEnd(b, id, e)
	}
	if err := tx.SendBatch(ctx, b).Close(); err != nil || title == "" {
		return err
	}
	title, err := freeTitle(ctx, tx, title, id)
	if err == nil {
		_, err = tx.Exec(ctx, sqlRename, escape(id), escape(title), escape(foldKey(title)))
	}
	return err
}

// whyNot says why nothing was written to session id: it is not there, or this
// process has lost its lock.
func (s *Store) whyNot(ctx context.Context, id string) error {
	if s.locks.token(id) == 0 {
		return store.ErrNotFound
	}
	var exists bool
	var h store.Holder
	err := s.ask(ctx, func(b *pgx.Batch) {
		b.Queue(sqlExists, escape(id)).QueryRow(func(row pgx.Row) error { return row.Scan(&exists) })
		queueHolder(b, id, &h)
	})
	if err != nil {
		return err
	}
	if !exists {
		return store.ErrNotFound
	}
	return fmt.Errorf("the lock on it was lost: %w", &store.LockedError{Session: id, Holder: h})
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, id string) error {
	err := s.change(ctx, once, sqlDelete, escape(id))
	if err != nil {
		return fmt.Errorf("delete session %s: %w", id, err)
	}
	return nil
}
