package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

const (
	// sqlSession yields the columns that scan reads. Prompts are read only
	// where one whole session is asked for.
	sqlSession = `SELECT s.n, s.id, ifnull(s.title, ''), s.parent, s.relation, s.workspace, s.provider, s.model,
		s.created_ns, s.updated_ns, s.messages, s.calls, s.input_tokens, s.cache_read_tokens, s.cache_write_tokens,
		s.output_tokens, s.reasoning_tokens, s.cost_usd, s.end_reason, ifnull(p.system, '')
		FROM sessions s LEFT JOIN prompts p ON p.n = s.n `
	sqlByID       = sqlSession + "WHERE s.id = ?"
	sqlByPrefix   = sqlSession + "WHERE s.id >= ?1 AND s.id < ?1 || char(0x10ffff) ORDER BY s.id LIMIT 20"
	sqlTitles     = "SELECT id, title FROM sessions WHERE title IS NOT NULL"
	sqlList       = sqlSession + "WHERE ?1 = '' OR s.workspace = ?1 ORDER BY s.updated_ns DESC, s.id DESC LIMIT ?2"
	sqlLast       = sqlSession + "WHERE (?1 = '' OR s.workspace = ?1) AND s.relation <> 'delegate' ORDER BY s.updated_ns DESC, s.id DESC LIMIT 1"
	sqlCompressed = sqlSession + "WHERE s.parent = ? AND s.parent <> '' AND s.relation = 'compression' ORDER BY s.n LIMIT 1"
	sqlMessages   = "SELECT body FROM messages WHERE key >= ? AND key < ? ORDER BY key"
)

// record is a session with its number.
type record struct {
	store.Session
	n int64
}

// sessions returns the sessions that a statement over sqlSession yields.
func sessions(ctx context.Context, c *conn, sql string, args ...driver.Value) (list []record, err error) {
	err = c.query(ctx, sql, args, func(row []driver.Value) error {
		list = append(list, scan(row))
		return nil
	})
	return list, err
}

func scan(row []driver.Value) record {
	text := func(i int) string { return row[i].(string) }
	num := func(i int) int64 { return row[i].(int64) }
	r := record{n: num(0)}
	s := &r.Session
	s.ID, s.Title, s.Parent, s.Relation = text(1), text(2), text(3), text(4)
	s.Workspace, s.Provider, s.Model = text(5), text(6), text(7)
	s.CreatedAt, s.UpdatedAt = time.Unix(0, num(8)), time.Unix(0, num(9))
	s.Messages, s.Calls = int(num(10)), int(num(11))
	u := &s.Usage
	u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning = num(12), num(13), num(14), num(15), num(16)
	s.CostUSD, s.EndReason, s.System = row[17].(float64), text(18), text(19)
	return r
}

func nanos(t time.Time) int64 { return t.UnixNano() }

// Load implements store.Store. Messages that cannot be read are left out; the
// error is then a *store.DamagedError and comes with all the others.
func (s *Store) Load(ctx context.Context, id string) (session store.Session, msgs []*message.Message, err error) {
	var damaged *store.DamagedError
	err = s.read(ctx, func(c *conn) error {
		msgs, damaged = nil, nil
		found, err := sessions(ctx, c, sqlByID, id)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return store.ErrNotFound
		}
		session = found[0].Session
		n, seq := found[0].n, 0
		msgs = make([]*message.Message, 0, session.Messages)
		return c.query(ctx, sqlMessages, []driver.Value{firstKey(n), endKey(n)}, func(row []driver.Value) error {
			m, err := message.ParseJSON([]byte(row[0].(string)))
			if err == nil {
				msgs = append(msgs, m)
			} else {
				if damaged == nil {
					damaged = &store.DamagedError{Session: id, Err: err}
				}
				damaged.Seqs = append(damaged.Seqs, seq)
			}
			seq++
			return nil
		})
	})
	if err != nil {
		return store.Session{}, nil, fmt.Errorf("load session %s: %w", id, err)
	}
	if damaged != nil {
		return session, msgs, damaged
	}
	return session, msgs, nil
}

// Find implements store.Store.
func (s *Store) Find(ctx context.Context, ref, workspace string) (found store.Session, err error) {
	err = s.read(ctx, func(c *conn) (err error) {
		if ref == store.Last {
			found, err = last(ctx, c, workspace)
		} else {
			found, err = resolve(ctx, c, ref)
		}
		return err
	})
	if err != nil {
		return store.Session{}, fmt.Errorf("find session: %w", err)
	}
	return found, nil
}

func last(ctx context.Context, c *conn, workspace string) (store.Session, error) {
	list, err := sessions(ctx, c, sqlLast, workspace)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("there is no last one: %w", store.ErrNotFound)
	}
	if err != nil {
		return store.Session{}, err
	}
	return list[0].Session, nil
}

func resolve(ctx context.Context, c *conn, ref string) (store.Session, error) {
	list, err := sessions(ctx, c, sqlByPrefix, ref)
	if err != nil {
		return store.Session{}, err
	}
	var titled []string
	if len(list) != 1 {
		err = c.query(ctx, sqlTitles, nil, func(row []driver.Value) error {
			if strings.EqualFold(row[1].(string), ref) {
				titled = append(titled, row[0].(string))
			}
			return nil
		})
	}
	var candidates []store.Session
	for _, r := range list {
		candidates = append(candidates, r.Session)
	}
	for i := 0; err == nil && i < len(titled); i++ {
		list, err = sessions(ctx, c, sqlByID, titled[i])
		for _, r := range list {
			candidates = append(candidates, r.Session)
		}
	}
	if err != nil {
		return store.Session{}, err
	}
	chosen, byTitle, err := store.Choose(ref, candidates)
	if err != nil || !byTitle {
		return chosen, err
	}
	return tip(ctx, c, chosen)
}

// tip follows the line of compressions that starts at s to its end.
func tip(ctx context.Context, c *conn, s store.Session) (store.Session, error) {
	for {
		next, err := sessions(ctx, c, sqlCompressed, s.ID)
		if err != nil || len(next) == 0 {
			return s, err
		}
		s = next[0].Session
	}
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, o store.ListOptions) (list []store.Session, err error) {
	limit := int64(o.Limit)
	if limit == 0 {
		limit = -1
	}
	err = s.read(ctx, func(c *conn) error {
		records, err := sessions(ctx, c, sqlList, o.Workspace, limit)
		list = make([]store.Session, len(records))
		for i := range records {
			list[i] = records[i].Session
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return list, nil
}
