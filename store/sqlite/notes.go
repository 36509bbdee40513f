package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/store"
)

const (
	sqlNote = `INSERT INTO notes (session, n, time_ns, kind, body)
		SELECT ?1, count(*), ?2, ?3, CAST(?4 AS TEXT) FROM notes WHERE session = ?1`
	sqlNotes = "SELECT time_ns, kind, body FROM notes WHERE session = ? ORDER BY n"
)

var _ store.Noter = (*Store)(nil)

// Note implements store.Noter.
func (s *Store) Note(ctx context.Context, id string, notes ...store.Note) error {
	if err := store.CheckNotes(id, notes); err != nil {
		return err
	}
	err := s.write(ctx, func(c *conn) error {
		at, err := find(ctx, c, id)
		if err != nil {
			return err
		}
		if at.n == 0 {
			return store.ErrNotFound
		}
		for _, n := range notes {
			if err := c.exec(sqlNote, at.n, nanos(n.Time), n.Kind, []byte(n.Body)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("note about session %s: %w", id, err)
	}
	return nil
}

// Notes implements store.Noter.
func (s *Store) Notes(ctx context.Context, id string) (list []store.Note, err error) {
	err = s.readSession(ctx, id, func(c *conn, n int64) error {
		list = nil
		return c.query(ctx, sqlNotes, []driver.Value{n}, func(row []driver.Value) error {
			list = append(list, store.Note{
				Time: time.Unix(0, row[0].(int64)), Kind: row[1].(string), Body: jsontext.Value(row[2].(string)),
			})
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the notes about session %s: %w", id, err)
	}
	return list, nil
}
