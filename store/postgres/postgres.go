// Package postgres keeps sessions in a PostgreSQL database, for when several
// machines share them.
//
// All tables begin with "rondo_" and stand in the first schema of the
// connection's search path, so that a URL with ?search_path=NAME keeps stores
// apart in one database. Times of use are the server's: the clocks of the
// machines need not agree. A write that returned is as durable as the server's
// synchronous_commit says.
//
// Lengths of round trips matter more than statements, so that most methods are
// one round trip: an Append is one statement, and what reads several things
// sends all it asks at once.
//
// A session is locked by an advisory lock on a connection of its own, which the
// server gives up with the connection: at once when the process dies, and after
// half a minute when its machine or the network does. A Store whose lock was
// lost to another process can write to the session no more, whatever it has
// missed. Such locks need a connection that stays the same: a pooler in
// transaction mode must not stand between.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/rondo-engine/rondo/internal/mask"
	"github.com/rondo-engine/rondo/store"
)

// Options adjust a Store. The zero value is right for most.
type Options struct {
	// RetryFor is how long a method tries again what failed because of others:
	// transactions that got in each other's way, a server that has no
	// connection left, or one that a Store has lost and that is to come back.
	// 0 stands for DefaultRetryFor.
	RetryFor time.Duration
	// Now tells the time that new sessions are stamped with; nil is time.Now.
	Now func() time.Time
	// Jitter returns a number in [0, 1) that spreads retries; nil is
	// math/rand/v2.
	Jitter func() float64
}

// DefaultRetryFor is the time for retries when Options name none.
const DefaultRetryFor = time.Minute

// Store is a store.Full in a database.
type Store struct {
	url    string // for errors, without the password
	o      Options
	pool   *pool
	schema string // where the tables are
	locks  locks
	closed atomic.Bool
}

var (
	_ store.Full   = (*Store)(nil)
	_ store.Stater = (*Store)(nil)
)

// ErrClosed is returned by the methods of a Store after Close.
var ErrClosed = errors.New("the session store is closed")

// Open opens the store in the database that url names, as in
// postgres://user@host:5432/database; what url leaves out is taken from the
// variables PGHOST, PGPASSWORD and so on, and passwords from ~/.pgpass. Tables
// are made where there are none; those of an older version are brought up to
// date, and those of a newer one refused. Errors never hold the password.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	if o.RetryFor == 0 {
		o.RetryFor = DefaultRetryFor
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	config, err := parse(url)
	if err != nil {
		return nil, fmt.Errorf("open session store: %w", err)
	}
	s := &Store{url: mask.URL(url), o: o, pool: newPool(config), locks: locks{held: map[string]claim{}, config: config}}
	if err := s.migrate(ctx); err != nil {
		return nil, fmt.Errorf("open session store: %w", errors.Join(s.explain(err), s.pool.close()))
	}
	return s, nil
}

// URL returns the URL of the database without its password.
func (s *Store) URL() string { return s.url }

// Close waits for reads and writes that go on, gives up locks that are held
// still, and closes the connections.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	if err := errors.Join(s.locks.close(), s.pool.close()); err != nil {
		return fmt.Errorf("close session store: %w", s.explain(err))
	}
	return nil
}

// attempts say what to do when a connection breaks while it is used.
type attempts int

const (
	once     attempts = iota // nothing: what was written may be there, or not
	repeated                 // the same again, which then knows what to do
)

// use runs f on a connection, again if what it met passes.
func (s *Store) use(ctx context.Context, a attempts, f func(*conn) error) error {
	return s.explain(s.patiently(ctx, func(ctx context.Context) error {
		c, err := s.pool.take(ctx)
		if err != nil {
			return err
		}
		defer s.pool.give(c)
		err = f(c)
		if err != nil && ctx.Err() == nil && c.IsClosed() && !s.passes(err) {
			err = &lostError{err, a == repeated}
		}
		return err
	}))
}

// ask reads what fill asks for in one round trip.
func (s *Store) ask(ctx context.Context, fill func(b *batch)) error {
	return s.use(ctx, repeated, func(c *conn) error { return c.send(ctx, fill) })
}

// look is ask for what must be seen at the same moment.
func (s *Store) look(ctx context.Context, fill func(b *batch)) error {
	return s.ask(ctx, func(b *batch) {
		b.add("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", nil, nil, nil)
		fill(b)
		b.add("COMMIT", nil, nil, nil)
	})
}

// write runs f in a transaction, anew if others got in its way. It is told that
// there is doubt when an attempt before may have been committed.
func (s *Store) write(ctx context.Context, f func(c *conn, doubt bool) error) error {
	lost := false
	return s.use(ctx, repeated, func(c *conn) error {
		doubt := lost
		defer func() { lost = lost || c.IsClosed() }()
		return c.transact(ctx, func() error { return f(c, doubt) })
	})
}

// patiently runs f until it does not fail by what passes, or the time for
// retries is over.
func (s *Store) patiently(ctx context.Context, f func(context.Context) error) error {
	if s.closed.Load() {
		return ErrClosed
	}
	err := ctx.Err()
	if err == nil {
		err = f(ctx)
	}
	if !s.passes(err) {
		return err
	}
	limit := time.NewTimer(s.o.RetryFor)
	defer limit.Stop()
	for pause := 2 * time.Millisecond; s.passes(err); pause = min(2*pause, 250*time.Millisecond) {
		next := time.NewTimer(time.Duration((0.5 + s.o.Jitter()) * float64(pause)))
		select {
		case <-ctx.Done():
			next.Stop()
			return errors.Join(ctx.Err(), err)
		case <-limit.C:
			next.Stop()
			return fmt.Errorf("tried again for %v: %w", s.o.RetryFor, err)
		case <-next.C:
			err = f(ctx)
		}
	}
	return err
}
