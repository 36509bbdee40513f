package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
)

// conn is a connection with the statements that the server knows on it. It is
// used by one goroutine at a time. It speaks the protocol without the driver's
// layer for types: what is sent and read are texts and numbers, as text.
type conn struct {
	*pgconn.PgConn
	known map[string]string // names of statements by their text
	names int               // how many were given
}

func connect(ctx context.Context, config *pgconn.Config) (*conn, error) {
	c, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	return &conn{PgConn: c, known: make(map[string]string, 8)}, nil
}

// batch is what goes to the server in one round trip and, unless it says BEGIN,
// in one transaction.
type batch struct{ list []statement }

// statement is one statement of a batch. row is called for each row that it yields,
// done for how many rows it yielded or changed; either may be nil.
type statement struct {
	sql  string
	args [][]byte
	row  func(*row)
	done func(rows int64) error
}

// add adds a statement; see there for row and done.
func (b *batch) add(sql string, a args, row func(*row), done func(rows int64) error) {
	b.list = append(b.list, statement{sql, a.encoded(), row, done})
}

// send sends what fill asks for and reads what comes back, up to the first
// error.
func (c *conn) send(ctx context.Context, fill func(b *batch)) error {
	var b batch
	fill(&b)
	p := c.StartPipeline(ctx)
	fresh := make([]string, len(b.list)) // names for statements that are new
	for i, st := range b.list {
		name := c.known[st.sql]
		if name == "" {
			c.names++
			name = "rondo_" + strconv.Itoa(c.names)
			c.known[st.sql], fresh[i] = name, name
			p.SendPrepare(name, st.sql, nil)
		}
		p.SendQueryPrepared(name, st.args, nil, nil)
	}
	err := p.Sync()
	for i := 0; err == nil && i < len(b.list); i++ {
		if fresh[i] != "" {
			if _, err = p.GetResults(); err != nil {
				break
			}
			fresh[i] = ""
		}
		err = b.list[i].read(p)
	}
	for i, name := range fresh {
		if err != nil && name != "" { // perhaps the server does not know it
			delete(c.known, b.list[i].sql)
		}
	}
	if closed := p.Close(); err == nil {
		err = closed
	}
	return err
}

// read reads what a statement yields.
func (s *statement) read(p *pgconn.Pipeline) error {
	results, err := p.GetResults()
	if err != nil {
		return err
	}
	reader, ok := results.(*pgconn.ResultReader)
	if !ok {
		return fmt.Errorf("the server sent %T in the place of rows", results)
	}
	var r row
	for reader.NextRow() {
		if r.values = reader.Values(); s.row != nil && r.err == nil {
			s.row(&r)
		}
	}
	tag, err := reader.Close()
	if err == nil {
		err = r.err
	}
	if err == nil && s.done != nil {
		err = s.done(tag.RowsAffected())
	}
	return err
}

// ask sends one statement; it returns how many rows it yielded or changed.
func (c *conn) ask(ctx context.Context, sql string, a args, each func(*row)) (rows int64, err error) {
	err = c.send(ctx, func(b *batch) {
		b.add(sql, a, each, func(n int64) error {
			rows = n
			return nil
		})
	})
	return rows, err
}

// tell is ask for a statement that must yield or change something.
func (c *conn) tell(ctx context.Context, sql string, a args, otherwise error) error {
	return c.send(ctx, func(b *batch) { b.add(sql, a, nil, some(otherwise)) })
}

// some fails with err where a statement yields or changes nothing.
func some(err error) func(int64) error {
	return func(rows int64) error {
		if rows == 0 {
			return err
		}
		return nil
	}
}

// script runs statements without arguments.
func (c *conn) script(ctx context.Context, sql string) error {
	return c.Exec(ctx, sql).Close()
}

// transact runs f in a transaction, which is undone if f fails.
func (c *conn) transact(ctx context.Context, f func() error) error {
	if err := c.script(ctx, "BEGIN"); err != nil {
		return err
	}
	err := f()
	if err == nil {
		return c.script(ctx, "COMMIT")
	}
	if !c.IsClosed() {
		err = errors.Join(err, c.script(ctx, "ROLLBACK"))
	}
	return err
}
