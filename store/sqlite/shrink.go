package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/rondo-engine/rondo/store"
)

var _ store.Sizer = (*Store)(nil)

// incremental is the value of the pragma auto_vacuum with which a file can be
// cut without being rewritten.
const incremental = 2

const (
	sqlWeights = `SELECT s.id, (SELECT ifnull(sum(length(body)), 0) FROM messages m WHERE m.key >= s.n << 32 AND m.key < (s.n + 1) << 32)
		FROM sessions s`
	sqlOptimise = "INSERT INTO message_text (message_text) VALUES ('optimize')"
)

// Size implements store.Sizer.
func (s *Store) Size(ctx context.Context) (used, total int64, err error) {
	err = s.read(ctx, func(c *conn) error {
		pages, err := c.number(ctx, "PRAGMA page_count")
		if err != nil {
			return err
		}
		free, err := c.number(ctx, "PRAGMA freelist_count")
		if err != nil {
			return err
		}
		size, err := c.number(ctx, "PRAGMA page_size")
		used, total = (pages-free)*size, pages*size
		return err
	})
	if err != nil {
		return 0, 0, fmt.Errorf("measure the session store: %w", err)
	}
	return used, total, nil
}

// Weights implements store.Sizer.
func (s *Store) Weights(ctx context.Context) (shares map[string]float64, err error) {
	var sum float64
	err = s.read(ctx, func(c *conn) error {
		shares, sum = map[string]float64{}, 0
		return c.query(ctx, sqlWeights, nil, func(row []driver.Value) error {
			w := float64(row[1].(int64))
			shares[row[0].(string)] = w
			sum += w
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("weigh the sessions: %w", err)
	}
	for id := range shares {
		shares[id] /= max(sum, 1)
	}
	return shares, nil
}

// Shrink implements store.Sizer. A thorough one also packs the index, and
// rewrites a file of an older rondo once, so that it can be cut from then on.
func (s *Store) Shrink(ctx context.Context, thorough bool) error {
	c, err := s.take(ctx, s.writer)
	if err != nil {
		return err
	}
	defer func() { s.writer <- c }()
	if err := s.shrink(ctx, c, thorough); err != nil {
		return fmt.Errorf("shrink the session store: %w", explain(s.path, err))
	}
	return nil
}

func (s *Store) shrink(ctx context.Context, c *conn, thorough bool) error {
	if thorough {
		if err := s.transact(ctx, c, func(c *conn) error { return c.exec(sqlOptimise) }); err != nil {
			return err
		}
	}
	mode, err := c.number(ctx, "PRAGMA auto_vacuum")
	switch {
	case err != nil:
		return err
	case mode == incremental:
		err = s.patiently(ctx, func() error { return c.queryOnce(ctx, "PRAGMA incremental_vacuum", nil, ignore) })
	case thorough:
		err = s.patiently(ctx, func() error { return c.script("PRAGMA auto_vacuum = INCREMENTAL; VACUUM") })
	}
	if err != nil {
		return err
	}
	// The file is cut when the log is taken over, which readers may put off.
	return c.queryOnce(ctx, "PRAGMA wal_checkpoint(TRUNCATE)", nil, ignore)
}

func ignore([]driver.Value) error { return nil }

// number is the one number that a statement yields.
func (c *conn) number(ctx context.Context, sql string) (n int64, err error) {
	err = c.queryOnce(ctx, sql, nil, func(row []driver.Value) error {
		n = row[0].(int64)
		return nil
	})
	return n, err
}
