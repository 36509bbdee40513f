package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	sqlite "modernc.org/sqlite"
)

// setup prepares a new connection: a lock is waited for a little inside of
// SQLite and then by the Store; the page cache is 512 KiB; what must be sorted
// is sorted in memory, so that no other file is written.
const setup = `PRAGMA busy_timeout = 20; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -512; PRAGMA temp_store = MEMORY`

const (
	sqlBegin    = "BEGIN IMMEDIATE"
	sqlCommit   = "COMMIT"
	sqlRollback = "ROLLBACK"
)

// conn is one connection with the statements that were run on it. It is used
// by one goroutine at a time.
type conn struct {
	c     driver.Conn
	stmts map[string]driver.Stmt
	args  []driver.NamedValue
	buf   []byte
}

// connect opens a connection. Already its setup reads the file and may have to
// wait for other processes.
func (s *Store) connect(ctx context.Context) (*conn, error) {
	uri := "file:" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(s.path)
	raw, err := (&sqlite.Driver{}).Open(uri)
	if err != nil {
		return nil, err
	}
	c := &conn{c: raw, stmts: make(map[string]driver.Stmt, 8)}
	if err := s.patiently(ctx, func() error { return c.script(setup) }); err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	return c, nil
}

func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.c.Close())...)
}

// script runs statements once.
func (c *conn) script(sql string) error {
	_, err := c.c.(driver.ExecerContext).ExecContext(context.Background(), sql, nil)
	return err
}

// exec runs one statement that is kept prepared.
func (c *conn) exec(sql string, args ...driver.Value) error {
	_, err := c.run(sql, args)
	return err
}

// change is exec; it returns how many rows changed.
func (c *conn) change(sql string, args ...driver.Value) (int64, error) {
	r, err := c.run(sql, args)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// run passes no context that can end: the driver would start a goroutine to
// watch it, and a statement takes microseconds.
func (c *conn) run(sql string, args []driver.Value) (driver.Result, error) {
	s, err := c.prepared(sql)
	if err != nil {
		return nil, err
	}
	r, err := s.(driver.StmtExecContext).ExecContext(context.Background(), c.named(args))
	clear(c.args)
	return r, err
}

// query calls row for each row that a statement, which is kept prepared,
// yields, until row fails. The slice is used again for the next row.
func (c *conn) query(ctx context.Context, sql string, args []driver.Value, row func([]driver.Value) error) error {
	s, err := c.prepared(sql)
	if err != nil {
		return err
	}
	return c.each(ctx, s, args, row)
}

// queryOnce is query for a statement that was made for the occasion.
func (c *conn) queryOnce(ctx context.Context, sql string, args []driver.Value, row func([]driver.Value) error) error {
	s, err := c.c.Prepare(sql)
	if err != nil {
		return err
	}
	return errors.Join(c.each(ctx, s, args, row), s.Close())
}

func (c *conn) each(ctx context.Context, s driver.Stmt, args []driver.Value, row func([]driver.Value) error) error {
	rows, err := s.(driver.StmtQueryContext).QueryContext(ctx, c.named(args))
	clear(c.args)
	if err != nil {
		return err
	}
	values := make([]driver.Value, len(rows.Columns()))
	for err == nil {
		if err = rows.Next(values); err == nil {
			err = row(values)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}

// rollback ends a failed transaction. SQLite may have rolled back already, so
// that an error here says nothing new.
func (c *conn) rollback() { _ = c.exec(sqlRollback) }

func (c *conn) prepared(sql string) (driver.Stmt, error) {
	if s := c.stmts[sql]; s != nil {
		return s, nil
	}
	s, err := c.c.Prepare(sql)
	if err != nil {
		return nil, fmt.Errorf("prepare %.40q: %w", sql, err)
	}
	c.stmts[sql] = s
	return s, nil
}

func (c *conn) named(args []driver.Value) []driver.NamedValue {
	c.args = c.args[:0]
	for i, v := range args {
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return c.args
}
