package postgres

import (
	"context"
	"fmt"

	"github.com/rondo-engine/rondo/store"
)

var _ store.Sizer = (*Store)(nil)

const (
	// sqlBytes is what a message takes: its texts as they are stored, and what
	// a row has besides. What deleted ones left is not in it.
	sqlBytes = "pg_column_size(m.body) + coalesce(pg_column_size(m.folded), 0) + 60"
	sqlSize  = "SELECT (SELECT coalesce(sum(" + sqlBytes + `), 0)::bigint FROM rondo_messages m),
		(SELECT sum(pg_total_relation_size(t))::bigint FROM unnest(ARRAY['rondo_sessions', 'rondo_messages', 'rondo_effects',
			'rondo_repairs', 'rondo_notes', 'rondo_states', 'rondo_locks']::regclass[]) AS t)`
	sqlWeights = "SELECT s.id, coalesce(sum(" + sqlBytes + "), 0)::bigint FROM rondo_sessions s LEFT JOIN rondo_messages m ON m.session = s.n GROUP BY s.n"
	sqlVacuum  = "VACUUM (ANALYZE) rondo_sessions, rondo_messages, rondo_effects, rondo_repairs, rondo_notes, rondo_states"
)

// Size implements store.Sizer. The total has the indexes and what deleted
// sessions left for others to use.
func (s *Store) Size(ctx context.Context) (used, total int64, err error) {
	err = s.ask(ctx, func(b *batch) {
		b.add(sqlSize, nil, func(r *row) { used, total = r.number(0), r.number(1) }, nil)
	})
	if err != nil {
		return 0, 0, fmt.Errorf("measure the session store: %w", err)
	}
	return used, total, nil
}

// Weights implements store.Sizer.
func (s *Store) Weights(ctx context.Context) (shares map[string]float64, err error) {
	sum := 0.0
	err = s.ask(ctx, func(b *batch) {
		shares, sum = map[string]float64{}, 0
		b.add(sqlWeights, nil, func(r *row) {
			w := float64(r.number(1))
			shares[r.text(0)] = w
			sum += w
		}, nil)
	})
	if err != nil {
		return nil, fmt.Errorf("weigh the sessions: %w", err)
	}
	for id := range shares {
		shares[id] /= max(sum, 1)
	}
	return shares, nil
}

// Shrink implements store.Sizer. The server itself makes what deleted sessions
// leave ready to be used again, in its time; a thorough one has it do so now.
// Others can read and write meanwhile.
func (s *Store) Shrink(ctx context.Context, thorough bool) error {
	if !thorough {
		return nil
	}
	err := s.use(ctx, repeated, func(c *conn) error { return c.script(ctx, sqlVacuum) })
	if err != nil {
		return fmt.Errorf("shrink the session store: %w", err)
	}
	return nil
}
