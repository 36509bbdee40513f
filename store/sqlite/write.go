package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

const (
	sqlCreate = `INSERT INTO sessions (id, title, parent, relation, workspace, provider, model, created_ns, updated_ns, messages,
		calls, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost_usd, end_reason)
		VALUES (?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlNumber = "SELECT n, messages FROM sessions WHERE id = ?"
	sqlTaken  = "SELECT 1 FROM sessions WHERE title = ? AND n <> ?"
	sqlPrompt = "INSERT INTO prompts (n, system) VALUES (?, ?) ON CONFLICT DO UPDATE SET system = excluded.system"
	// sqlAdvance counts k messages more, if there are as many as the writer
	// remembers. An end reason of NULL stays as it is.
	sqlAdvance = `UPDATE sessions SET messages = messages + ?3, updated_ns = ?4, calls = calls + ?5,
		input_tokens = input_tokens + ?6, cache_read_tokens = cache_read_tokens + ?7,
		cache_write_tokens = cache_write_tokens + ?8, output_tokens = output_tokens + ?9,
		reasoning_tokens = reasoning_tokens + ?10, cost_usd = cost_usd + ?11, end_reason = ifnull(?12, end_reason)
		WHERE n = ?1 AND messages = ?2`
	sqlRename = `UPDATE sessions SET title = ifnull(nullif(?2, ''), title), provider = ifnull(nullif(?3, ''), provider),
		model = ifnull(nullif(?4, ''), model) WHERE n = ?1`
	sqlMessage = "INSERT INTO messages (key, id, role, body) VALUES (?, ?, ?, CAST(? AS TEXT))"
)

// sqlDelete removes what belongs to a session beside its messages.
var sqlDelete = [...]string{
	"DELETE FROM prompts WHERE n = ?", "DELETE FROM effects WHERE session = ?",
	"DELETE FROM repairs WHERE session = ?", "DELETE FROM notes WHERE session = ?", "DELETE FROM sessions WHERE n = ?",
}

// cursor says where the next message of a session goes.
type cursor struct {
	id       string
	n        int64
	messages int64
}

// Create implements store.Store.
func (s *Store) Create(ctx context.Context, session store.Session) error {
	if err := store.CheckNew(session); err != nil {
		return err
	}
	session.Stamp(s.o.Now())
	err := s.write(ctx, func(c *conn) error {
		_, err := create(ctx, c, session)
		return err
	})
	if err != nil {
		return fmt.Errorf("create session %s: %w", session.ID, err)
	}
	return nil
}

// Start implements store.Starter.
func (s *Store) Start(ctx context.Context, session store.Session, msgs []*message.Message, u store.Update) error {
	if err := cmp.Or(store.CheckNew(session), store.CheckMessages(session.ID, msgs)); err != nil {
		return err
	}
	session.Stamp(s.o.Now())
	session.Apply(u)
	session.Messages = len(msgs)
	err := s.writeTexts(ctx, func(c *conn) error {
		n, err := create(ctx, c, session)
		if err != nil {
			return err
		}
		return s.insertAll(c, cursor{id: session.ID, n: n}, msgs)
	})
	if err != nil {
		return fmt.Errorf("create session %s: %w", session.ID, err)
	}
	return nil
}

// create adds a session and returns its number. It looks for others only where
// one stands in the way.
func create(ctx context.Context, c *conn, s store.Session) (n int64, err error) {
	n, err = insertSession(c, s)
	if code(err) == sqlite3.SQLITE_CONSTRAINT {
		n, err = insertBeside(ctx, c, s)
	}
	if err != nil || s.System == "" {
		return n, err
	}
	return n, c.exec(sqlPrompt, n, s.System)
}

// insertBeside adds a session whose title is taken.
func insertBeside(ctx context.Context, c *conn, s store.Session) (int64, error) {
	old, err := find(ctx, c, s.ID)
	if err != nil {
		return 0, err
	}
	if old.n != 0 {
		return 0, store.ErrExists
	}
	if s.Title, err = freeTitle(ctx, c, s.Title, 0); err != nil {
		return 0, err
	}
	return insertSession(c, s)
}

func insertSession(c *conn, s store.Session) (n int64, err error) {
	u := s.Usage
	r, err := c.run(sqlCreate, []driver.Value{
		s.ID, s.Title, s.Parent, s.Relation, s.Workspace, s.Provider, s.Model,
		nanos(s.CreatedAt), nanos(s.UpdatedAt), int64(s.Messages), int64(s.Calls), u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning,
		s.CostUSD, s.EndReason,
	})
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
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
	err := s.writeTexts(ctx, func(c *conn) error { return s.extend(ctx, c, id, msgs, u, effects) })
	if err != nil {
		return fmt.Errorf("append to session %s: %w", id, err)
	}
	return nil
}

// extend adds to a session within a transaction.
func (s *Store) extend(ctx context.Context, c *conn, id string, msgs []*message.Message, u store.Update, effects []store.Effect) error {
	at, err := s.advance(ctx, c, id, len(msgs), u)
	if err != nil {
		return err
	}
	if err := amend(ctx, c, at.n, u); err != nil {
		return err
	}
	if err := writeEffects(c, at.n, effects); err != nil {
		return err
	}
	return s.insertAll(c, at, msgs)
}

// insertAll adds messages at a place that was made for them.
func (s *Store) insertAll(c *conn, at cursor, msgs []*message.Message) error {
	for _, m := range msgs {
		if err := insert(c, firstKey(at.n)+at.messages, m); err != nil {
			return err
		}
		if store.SearchText(m) != "" {
			s.unseen++
		}
		at.messages++
	}
	s.cached = at
	return nil
}

// advance changes the row of session id for k messages more and returns where
// the first of them goes. It is one statement as long as the writer goes on
// with the session that it wrote to last, and nobody else writes to that.
func (s *Store) advance(ctx context.Context, c *conn, id string, k int, u store.Update) (cursor, error) {
	for at := s.cached; ; {
		if at.id == id {
			ok, err := s.advanceAt(c, at, k, u)
			if err != nil || ok {
				return at, err
			}
		}
		var err error
		if at, err = find(ctx, c, id); err != nil {
			return at, err
		}
		if at.n == 0 {
			return at, store.ErrNotFound
		}
	}
}

func (s *Store) advanceAt(c *conn, at cursor, k int, u store.Update) (bool, error) {
	var reason driver.Value
	if u.Running || u.EndReason != "" {
		reason = u.EndReason
	}
	n, err := c.change(sqlAdvance, at.n, at.messages, int64(k), nanos(s.o.Now()), int64(u.Calls),
		u.Usage.Input, u.Usage.CacheRead, u.Usage.CacheWrite, u.Usage.Output, u.Usage.Reasoning, u.CostUSD, reason)
	return n == 1, err
}

// amend changes what seldom changes in a session.
func amend(ctx context.Context, c *conn, n int64, u store.Update) error {
	if u.System != "" {
		if err := c.exec(sqlPrompt, n, u.System); err != nil {
			return err
		}
	}
	if u.Title == "" && u.Provider == "" && u.Model == "" {
		return nil
	}
	title, err := freeTitle(ctx, c, u.Title, n)
	if err != nil {
		return err
	}
	return c.exec(sqlRename, n, title, u.Provider, u.Model)
}

// insert adds a message.
func insert(c *conn, key int64, m *message.Message) error {
	c.buf = message.AppendJSON(c.buf[:0], m)
	if err := c.exec(sqlMessage, key, m.ID, string(m.Role), c.buf); err != nil {
		return fmt.Errorf("message %s: %w", m.ID, err)
	}
	return nil
}

// find looks up where session id stands; the zero cursor when it does not exist.
func find(ctx context.Context, c *conn, id string) (at cursor, err error) {
	err = c.query(ctx, sqlNumber, []driver.Value{id}, func(row []driver.Value) error {
		at = cursor{id: id, n: row[0].(int64), messages: row[1].(int64)}
		return nil
	})
	return at, err
}

// freeTitle makes title unique among the sessions other than n.
func freeTitle(ctx context.Context, c *conn, title string, n int64) (string, error) {
	if title == "" {
		return "", nil
	}
	return store.FreeTitle(title, func(t string) (taken bool, err error) {
		err = c.query(ctx, sqlTaken, []driver.Value{t, n}, func([]driver.Value) error {
			taken = true
			return nil
		})
		return taken, err
	})
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, id string) error {
	err := s.write(ctx, func(c *conn) error {
		at, err := find(ctx, c, id)
		if err != nil {
			return err
		}
		if at.n == 0 {
			return store.ErrNotFound
		}
		s.cached = cursor{}
		from, to := firstKey(at.n), endKey(at.n)
		if err := c.exec("DELETE FROM message_text WHERE rowid >= ? AND rowid < ?", from, to); err != nil {
			return err
		}
		if err := c.exec("DELETE FROM messages WHERE key >= ? AND key < ?", from, to); err != nil {
			return err
		}
		for _, sql := range sqlDelete {
			if err := c.exec(sql, at.n); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("delete session %s: %w", id, err)
	}
	return nil
}
