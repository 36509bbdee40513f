package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

const (
	sqlEnded = `UPDATE rondo_effects SET finished_ns = $1, status = $2
		WHERE session = (SELECT n FROM rondo_sessions WHERE id = $3) AND message = $4 AND place = $5`
	sqlEffects = `SELECT e.place, e.call, e.tool, e.args_digest, e.started_ns, e.finished_ns, e.status
		FROM rondo_effects e JOIN rondo_sessions s ON s.n = e.session WHERE s.id = $1 AND e.message = $2 ORDER BY e.place`
	sqlExists  = "SELECT EXISTS (SELECT FROM rondo_sessions WHERE id = $1)"
	sqlMend    = "INSERT INTO rondo_repairs (session, body) SELECT n, $2 FROM rondo_sessions WHERE id = $1"
	sqlRepairs = "SELECT r.body FROM rondo_repairs r JOIN rondo_sessions s ON s.n = r.session WHERE s.id = $1 ORDER BY r.n"
	sqlState   = "SELECT st.body FROM rondo_sessions s LEFT JOIN rondo_states st ON st.session = s.n WHERE s.id = $1"
	// sqlSaveState takes the token of the session's lock as sqlRecord does.
	sqlSaveState = "WITH " + sqlFence + ` INSERT INTO rondo_states (session, body)
		SELECT n, $3 FROM rondo_sessions WHERE id = $1 AND ` + fenced + ` ON CONFLICT (session) DO UPDATE SET body = excluded.body`
)

// parted parts effects that begin from those that end.
func parted(effects []store.Effect) (begin, ends []store.Effect) {
	for _, e := range effects {
		if e.FinishedAt.IsZero() {
			begin = append(begin, e)
		} else {
			ends = append(ends, e)
		}
	}
	return begin, ends
}

// effectArgs are the arguments of sqlRecord for effects that begin.
func effectArgs(begin []store.Effect) []any {
	n := len(begin)
	messages, calls, tools, digests := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	places, started := make([]int64, n), make([]int64, n)
	for i, e := range begin {
		messages[i], places[i], calls[i] = escape(e.MessageID), int64(e.Index), escape(e.CallID)
		tools[i], digests[i], started[i] = escape(e.Tool), escape(e.ArgsDigest), e.StartedAt.UnixNano()
	}
	return []any{messages, places, calls, tools, digests, started}
}

// queueEnd records the end of an effect of session id.
func queueEnd(b *pgx.Batch, id string, e store.Effect) {
	b.Queue(sqlEnded, e.FinishedAt.UnixNano(), escape(string(e.Status)), escape(id), escape(e.MessageID), e.Index).
		Exec(func(done pgconn.CommandTag) error {
			if done.RowsAffected() == 0 {
				return fmt.Errorf("record the end of %s: %w", e.Tool, store.ErrNotBegun)
			}
			return nil
		})
}

// Effects implements store.Journal.
func (s *Store) Effects(ctx context.Context, id, messageID string) (list []store.Effect, err error) {
	err = s.lookInto(ctx, id, func(b *pgx.Batch) {
		list = nil
		b.Queue(sqlEffects, escape(id), escape(messageID)).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				e := store.Effect{MessageID: messageID}
				if err := scanEffect(rows, &e); err != nil {
					return err
				}
				list = append(list, e)
			}
			return rows.Err()
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the journal of session %s: %w", id, err)
	}
	return list, nil
}

func scanEffect(rows pgx.Rows, e *store.Effect) error {
	var status string
	var started int64
	var finished *int64
	err := rows.Scan(&e.Index, &e.CallID, &e.Tool, &e.ArgsDigest, &started, &finished, &status)
	e.CallID, e.Tool, e.ArgsDigest = unescape(e.CallID), unescape(e.Tool), unescape(e.ArgsDigest)
	e.StartedAt, e.Status = time.Unix(0, started), message.Status(unescape(status))
	if finished != nil {
		e.FinishedAt = time.Unix(0, *finished)
	}
	return err
}

// lookInto is look for what belongs to session id.
func (s *Store) lookInto(ctx context.Context, id string, fill func(b *pgx.Batch)) error {
	var exists bool
	err := s.look(ctx, func(b *pgx.Batch) {
		b.Queue(sqlExists, escape(id)).QueryRow(func(row pgx.Row) error { return row.Scan(&exists) })
		fill(b)
	})
	if err == nil && !exists {
		err = store.ErrNotFound
	}
	return err
}

// Mend implements store.Mender.
func (s *Store) Mend(ctx context.Context, id string, r store.Repair) error {
	body, err := json.Marshal(r, jsontext.AllowInvalidUTF8(true))
	if err == nil {
		err = s.change(ctx, once, sqlMend, escape(id), escape(string(body)))
	}
	if err != nil {
		return fmt.Errorf("mend session %s: %w", id, err)
	}
	return nil
}

// change runs a statement that changes a row of a session or finds none.
func (s *Store) change(ctx context.Context, a attempts, sql string, args ...any) error {
	return s.use(ctx, a, func(c *pgx.Conn) error {
		done, err := c.Exec(ctx, sql, args...)
		if err == nil && done.RowsAffected() == 0 {
			err = store.ErrNotFound
		}
		return err
	})
}

// Repairs implements store.Mender.
func (s *Store) Repairs(ctx context.Context, id string) (list []store.Repair, err error) {
	err = s.lookInto(ctx, id, func(b *pgx.Batch) {
		list = nil
		b.Queue(sqlRepairs, escape(id)).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var r store.Repair
				text := unescape(string(rows.RawValues()[0]))
				if err := json.Unmarshal([]byte(text), &r, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)); err != nil {
					return err
				}
				list = append(list, r)
			}
			return rows.Err()
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the repairs of session %s: %w", id, err)
	}
	return list, nil
}

// SaveState implements store.Stater.
func (s *Store) SaveState(ctx context.Context, id string, state []byte) error {
	err := s.change(ctx, repeated, sqlSaveState, escape(id), s.locks.token(id), escape(string(state)))
	if errors.Is(err, store.ErrNotFound) {
		err = s.whyNot(ctx, id)
	}
	if err != nil {
		return fmt.Errorf("save the state of session %s: %w", id, err)
	}
	return nil
}

// State implements store.Stater.
func (s *Store) State(ctx context.Context, id string) ([]byte, error) {
	var state []byte
	err := s.use(ctx, repeated, func(c *pgx.Conn) error {
		var text *string
		err := c.QueryRow(ctx, sqlState, escape(id)).Scan(&text)
		if errors.Is(err, pgx.ErrNoRows) {
			err = store.ErrNotFound
		}
		if text != nil {
			state = []byte(unescape(*text))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the state of session %s: %w", id, err)
	}
	return state, nil
}
