package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/jackc/pgx/v5"

	"github.com/rondo-engine/rondo/store"
)

const (
	// sqlNote yields how many sessions there are with that id.
	sqlNote = `WITH at AS (SELECT n FROM rondo_sessions WHERE id = $1), noted AS (
			INSERT INTO rondo_notes (session, time_ns, kind, body)
			SELECT at.n, e.time_ns, e.kind, e.body
			FROM at, unnest($2::bigint[], $3::text[], $4::text[]) WITH ORDINALITY AS e (time_ns, kind, body, place) ORDER BY e.place
		) SELECT n FROM at`
	sqlNotes = `SELECT r.time_ns, r.kind, r.body FROM rondo_notes r JOIN rondo_sessions s ON s.n = r.session
		WHERE s.id = $1 ORDER BY r.n`
)

var _ store.Noter = (*Store)(nil)

// Note implements store.Noter.
func (s *Store) Note(ctx context.Context, id string, notes ...store.Note) error {
	if err := store.CheckNotes(id, notes); err != nil {
		return err
	}
	times, kinds, bodies := make([]int64, len(notes)), make([]string, len(notes)), make([]string, len(notes))
	for i, n := range notes {
		times[i], kinds[i], bodies[i] = n.Time.UnixNano(), escape(n.Kind), escape(string(n.Body))
	}
	err := s.use(ctx, once, func(c *pgx.Conn) error {
		return written(c.QueryRow(ctx, sqlNote, escape(id), times, kinds, bodies))
	})
	if err != nil {
		return fmt.Errorf("note about session %s: %w", id, err)
	}
	return nil
}

// Notes implements store.Noter.
func (s *Store) Notes(ctx context.Context, id string) (list []store.Note, err error) {
	err = s.lookInto(ctx, id, func(b *pgx.Batch) {
		list = nil
		b.Queue(sqlNotes, escape(id)).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var ns int64
				var kind, body string
				if err := rows.Scan(&ns, &kind, &body); err != nil {
					return err
				}
				list = append(list, store.Note{Time: time.Unix(0, ns), Kind: unescape(kind), Body: jsontext.Value(unescape(body))})
			}
			return rows.Err()
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the notes about session %s: %w", id, err)
	}
	return list, nil
}
