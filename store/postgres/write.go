package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

const (
	sqlCreate = `INSERT INTO rondo_sessions (id, title, title_key, parent, relation, workspace, provider, model, system,
		created_ns, updated_ns, calls, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens,
		cost_usd, end_reason)
		VALUES ($1, nullif($2, ''), nullif($3, ''), $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
		ON CONFLICT (id) DO NOTHING`
	sqlTaken  = "SELECT FROM rondo_sessions WHERE title = $1 AND id <> $2"
	sqlRename = "UPDATE rondo_sessions SET title = $2, title_key = $3 WHERE id = $1"
	sqlHold   = "SELECT FROM rondo_sessions WHERE id = $1 FOR UPDATE"
	sqlLanded = "SELECT FROM rondo_messages m JOIN rondo_sessions s ON s.n = m.session WHERE s.id = $1 AND m.id = $2"
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
	err := s.write(ctx, func(c *conn, doubt bool) error {
		err := create(ctx, c, session)
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

func create(ctx context.Context, c *conn, s store.Session) error {
	title, err := freeTitle(ctx, c, s.Title, s.ID)
	if err != nil {
		return err
	}
	u := s.Usage
	return c.tell(ctx, sqlCreate, args{
		s.ID, title, foldKey(title), s.Parent, s.Relation, s.Workspace, s.Provider, s.Model, s.System,
		s.CreatedAt.UnixNano(), s.UpdatedAt.UnixNano(), s.Calls, u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning,
		s.CostUSD, s.EndReason,
	}, store.ErrExists)
}

// freeTitle makes title unique among the sessions other than id. Another
// process may take it all the same, and the transaction is then tried again.
func freeTitle(ctx context.Context, c *conn, title, id string) (string, error) {
	if title == "" {
		return "", nil
	}
	return store.FreeTitle(title, func(t string) (bool, error) {
		taken, err := c.ask(ctx, sqlTaken, args{t, id}, nil)
		return taken > 0, err
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
	a := s.recordArgs(id, msgs, u, begin)
	how := once
	if len(msgs) > 0 {
		how = repeated
	}
	lost := false
	return s.use(ctx, how, func(c *conn) error {
		doubt := lost
		defer func() { lost = lost || c.IsClosed() }()
		if !doubt && u.Title == "" && len(ends) == 0 {
			return c.tell(ctx, sqlRecord, a, store.ErrNotFound)
		}
		return c.transact(ctx, func() error {
			if doubt && len(msgs) > 0 {
				if done, err := landed(ctx, c, id, msgs); err != nil || done {
					return err
				}
			}
			return recordMore(ctx, c, id, a, u.Title, ends)
		})
	})
}

// landed reports whether messages that may have been written were. An attempt
// to write them that still goes on has its end first.
func landed(ctx context.Context, c *conn, id string, msgs []*message.Message) (bool, error) {
	if err := c.tell(ctx, sqlHold, args{id}, store.ErrNotFound); err != nil {
		return false, err
	}
	found, err := c.ask(ctx, sqlLanded, args{id, msgs[len(msgs)-1].ID}, nil)
	return found > 0, err
}

// recordArgs are the arguments of sqlRecord.
func (s *Store) recordArgs(id string, msgs []*message.Message, u store.Update, begin []store.Effect) args {
	ids, roles := make([]string, len(msgs)), make([]string, len(msgs))
	bodies, folded := make([]string, len(msgs)), make([]string, len(msgs))
	for i, m := range msgs {
		ids[i], roles[i] = m.ID, string(m.Role)
		bodies[i], folded[i] = string(message.AppendJSON(nil, m)), lower(store.SearchText(m))
	}
	var reason any
	if u.Running || u.EndReason != "" {
		reason = u.EndReason
	}
	use := u.Usage
	a := args{
		id, s.locks.token(id), ids, u.Calls, use.Input, use.CacheRead, use.CacheWrite, use.Output, use.Reasoning, u.CostUSD,
		reason, u.Provider, u.Model, u.System, roles, bodies, folded,
	}
	return append(a, effectArgs(begin)...)
}

// recordMore is what of a record must be looked at before it counts.
func recordMore(ctx context.Context, c *conn, id string, a args, title string, ends []store.Effect) error {
	err := c.send(ctx, func(b *batch) {
		b.add(sqlRecord, a, nil, some(store.ErrNotFound))
		for _, e := range ends {
			addEnd(b, id, e)
		}
	})
	if err != nil || title == "" {
		return err
	}
	if title, err = freeTitle(ctx, c, title, id); err != nil {
		return err
	}
	return c.tell(ctx, sqlRename, args{id, title, foldKey(title)}, store.ErrNotFound)
}

// whyNot says why nothing was written to session id: it is not there, or this
// process has lost its lock.
func (s *Store) whyNot(ctx context.Context, id string) error {
	if s.locks.token(id) == 0 {
		return store.ErrNotFound
	}
	var h store.Holder
	err := s.ask(ctx, func(b *batch) {
		b.add(sqlExists, args{id}, nil, some(store.ErrNotFound))
		addHolder(b, id, &h)
	})
	if err != nil {
		return err
	}
	return fmt.Errorf("the lock on it was lost: %w", &store.LockedError{Session: id, Holder: h})
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, id string) error {
	if err := s.change(ctx, once, sqlDelete, args{id}); err != nil {
		return fmt.Errorf("delete session %s: %w", id, err)
	}
	return nil
}
