package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

const (
	sqlBegun = `INSERT INTO effects (session, message, place, call, tool, args_digest, started_ns, status)
		VALUES (?, ?, ?, ?, ?, ?, ?, '') ON CONFLICT DO NOTHING`
	sqlEnded   = "UPDATE effects SET finished_ns = ?, status = ? WHERE session = ? AND message = ? AND place = ?"
	sqlEffects = `SELECT place, call, tool, args_digest, started_ns, finished_ns, status FROM effects
		WHERE session = ? AND message = ? ORDER BY place`
	sqlMend    = "INSERT INTO repairs (session, n, body) SELECT ?1, count(*), CAST(?2 AS TEXT) FROM repairs WHERE session = ?1"
	sqlRepairs = "SELECT body FROM repairs WHERE session = ? ORDER BY n"
)

var (
	_ store.Journal = (*Store)(nil)
	_ store.Mender  = (*Store)(nil)
)

// writeEffects records effects of session n.
func writeEffects(c *conn, n int64, effects []store.Effect) error {
	for _, e := range effects {
		if e.FinishedAt.IsZero() {
			if err := c.exec(sqlBegun, n, e.MessageID, int64(e.Index), e.CallID, e.Tool, e.ArgsDigest, nanos(e.StartedAt)); err != nil {
				return err
			}
			continue
		}
		changed, err := c.change(sqlEnded, nanos(e.FinishedAt), string(e.Status), n, e.MessageID, int64(e.Index))
		if err == nil && changed == 0 {
			err = fmt.Errorf("record the end of %s: %w", e.Tool, store.ErrNotBegun)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Effects implements store.Journal.
func (s *Store) Effects(ctx context.Context, id, messageID string) (list []store.Effect, err error) {
	err = s.readSession(ctx, id, func(c *conn, n int64) error {
		list = nil
		return c.query(ctx, sqlEffects, []driver.Value{n, messageID}, func(row []driver.Value) error {
			e := store.Effect{
				MessageID: messageID, Index: int(row[0].(int64)), CallID: row[1].(string), Tool: row[2].(string),
				ArgsDigest: row[3].(string), StartedAt: time.Unix(0, row[4].(int64)), Status: message.Status(row[6].(string)),
			}
			if ended, ok := row[5].(int64); ok {
				e.FinishedAt = time.Unix(0, ended)
			}
			list = append(list, e)
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the journal of session %s: %w", id, err)
	}
	return list, nil
}

// Mend implements store.Mender.
func (s *Store) Mend(ctx context.Context, id string, r store.Repair) error {
	body, err := json.Marshal(r, jsontext.AllowInvalidUTF8(true))
	if err == nil {
		err = s.write(ctx, func(c *conn) error {
			at, err := find(ctx, c, id)
			if err != nil {
				return err
			}
			if at.n == 0 {
				return store.ErrNotFound
			}
			return c.exec(sqlMend, at.n, body)
		})
	}
	if err != nil {
		return fmt.Errorf("mend session %s: %w", id, err)
	}
	return nil
}

// Repairs implements store.Mender.
func (s *Store) Repairs(ctx context.Context, id string) (list []store.Repair, err error) {
	err = s.readSession(ctx, id, func(c *conn, n int64) error {
		list = nil
		return c.query(ctx, sqlRepairs, []driver.Value{n}, func(row []driver.Value) error {
			var r store.Repair
			err := json.Unmarshal([]byte(row[0].(string)), &r, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
			list = append(list, r)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the repairs of session %s: %w", id, err)
	}
	return list, nil
}

// readSession runs f with the number of session id.
func (s *Store) readSession(ctx context.Context, id string, f func(c *conn, n int64) error) error {
	return s.read(ctx, func(c *conn) error {
		at, err := find(ctx, c, id)
		if err != nil {
			return err
		}
		if at.n == 0 {
			return store.ErrNotFound
		}
		return f(c, at.n)
	})
}
