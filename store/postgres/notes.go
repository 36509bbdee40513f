package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/store"
)

const (
	// sqlNote yields a row if there is such a session.
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
		times[i], kinds[i], bodies[i] = n.Time.UnixNano(), n.Kind, string(n.Body)
	}
	err := s.change(ctx, once, sqlNote, args{id, times, kinds, bodies})
	if err != nil {
		return fmt.Errorf("note about session %s: %w", id, err)
	}
	return nil
}

// Notes implements store.Noter.
func (s *Store) Notes(ctx context.Context, id string) (list []store.Note, err error) {
	err = s.lookInto(ctx, id, func(b *batch) {
		list = nil
		b.add(sqlNotes, args{id}, func(r *row) {
			list = append(list, store.Note{Time: time.Unix(0, r.number(0)), Kind: r.text(1), Body: jsontext.Value(r.text(2))})
		}, nil)
	})
	if err != nil {
		return nil, fmt.Errorf("read the notes about session %s: %w", id, err)
	}
	return list, nil
}
