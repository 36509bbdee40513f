// Package sqlite keeps sessions in one SQLite file.
//
// The file is in WAL mode: one process writes at a time, the others wait their
// turn, and readers see the last commit. A transaction is durable against a
// kill of the process when it returns; against a loss of power, from the next
// checkpoint on (synchronous is NORMAL).
//
// A Store has one connection for writing, with its statements kept prepared,
// and opens up to three for reading when it first reads. It goes around
// database/sql, whose pool it has no use for, and speaks to the driver.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rondo-engine/rondo/store"
)

// Options adjust a Store. The zero value is right for most.
type Options struct {
	// LockWait is how long a write waits for other processes to finish
	// theirs; 0 stands for DefaultLockWait.
	LockWait time.Duration
	// Now tells the time that sessions are stamped with; nil is time.Now.
	Now func() time.Time
	// Jitter returns a number in [0, 1) that spreads the retries of processes
	// that wait for one another; nil is math/rand/v2.
	Jitter func() float64
}

// DefaultLockWait is the wait for a lock when Options name none.
const DefaultLockWait = time.Minute

// readers is how many reads can go on at the same time.
const readers = 3

// Store is a store.Store and a store.Searcher in a file.
type Store struct {
	path string
	o    Options
	// writer and readers hold the connections that are not in use. The pool
	// of readers is made of nils at first, which whoever takes one opens.
	writer  chan *conn
	readers chan *conn
	// closed is closed by Close.
	closed    chan struct{}
	closeOnce sync.Once
	closeErr  error
	// cached is what the writer knows of the session it wrote to last.
	cached cursor
	// unseen is how many texts the writer has written since it last brought the
	// index of them up to date.
	unseen int
}

var (
	_ store.Store    = (*Store)(nil)
	_ store.Starter  = (*Store)(nil)
	_ store.Searcher = (*Store)(nil)
)

// ErrClosed is returned by the methods of a Store after Close.
var ErrClosed = errors.New("the session store is closed")

// Open opens the store in the file at path, and makes the file and its
// directory, for the user alone, where they do not exist. A file of an older
// version is brought up to date; one of a newer version is refused.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if o.LockWait == 0 {
		o.LockWait = DefaultLockWait
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open session store: %w", err)
	}
	if err := makeFile(path); err != nil {
		return nil, fmt.Errorf("open session store: %w", explain(path, err))
	}
	s := &Store{
		path: path, o: o, closed: make(chan struct{}),
		writer: make(chan *conn, 1), readers: make(chan *conn, readers),
	}
	c, err := s.connect(ctx)
	if err == nil {
		if err = s.migrate(ctx, c); err != nil {
			err = errors.Join(err, c.close())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open session store: %w", explain(path, err))
	}
	s.writer <- c
	for range readers {
		s.readers <- nil
	}
	return s, nil
}

// makeFile makes an empty file that only its owner can read, unless there is
// one. A file that is there must not be opened: closing it would drop the
// locks that this process holds on it.
func makeFile(path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) { // another process was faster
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// Path returns the absolute path of the file.
func (s *Store) Path() string { return s.path }

// Close waits for reads and writes that go on and closes the file. Further
// calls return what the first did.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		s.indexBeforeClose()
		close(s.closed)
		errs := []error{(<-s.writer).close()}
		for range readers {
			if c := <-s.readers; c != nil {
				errs = append(errs, c.close())
			}
		}
		if err := errors.Join(errs...); err != nil {
			s.closeErr = fmt.Errorf("close session store: %w", explain(s.path, err))
		}
	})
	return s.closeErr
}

// take gets a connection out of a pool, unless ctx or the store ends first.
func (s *Store) take(ctx context.Context, pool chan *conn) (*conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case <-s.closed:
		return nil, ErrClosed
	default:
	}
	select {
	case c := <-pool:
		return c, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.closed:
		return nil, ErrClosed
	}
}

// read runs f on a connection for reading, again if another process was in the
// way.
func (s *Store) read(ctx context.Context, f func(*conn) error) error {
	c, err := s.take(ctx, s.readers)
	if err != nil {
		return err
	}
	defer func() { s.readers <- c }()
	if c == nil {
		if c, err = s.connect(ctx); err != nil {
			return explain(s.path, err)
		}
	}
	return explain(s.path, s.patiently(ctx, func() error { return f(c) }))
}

// write runs f in a transaction on the connection for writing. It waits for
// other processes that write, and rolls back what f did when f fails.
func (s *Store) write(ctx context.Context, f func(*conn) error) error {
	c, err := s.take(ctx, s.writer)
	if err != nil {
		return err
	}
	defer func() { s.writer <- c }()
	return explain(s.path, s.transact(ctx, c, f))
}

func (s *Store) transact(ctx context.Context, c *conn, f func(*conn) error) error {
	if err := s.patiently(ctx, func() error { return c.exec(sqlBegin) }); err != nil {
		return err
	}
	err := f(c)
	if err == nil {
		err = c.exec(sqlCommit)
	}
	if err != nil {
		s.cached = cursor{}
		c.rollback()
	}
	return err
}

// patiently runs f until it does not fail because another process holds the
// file, or until the wait for a lock is over.
func (s *Store) patiently(ctx context.Context, f func() error) error {
	err := f()
	if !isBusy(err) {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.o.LockWait, errLocked)
	defer cancel()
	for isBusy(err) {
		pause := time.NewTimer(time.Duration((1 + 9*s.o.Jitter()) * float64(time.Millisecond)))
		select {
		case <-ctx.Done():
			pause.Stop()
			return context.Cause(ctx)
		case <-pause.C:
			err = f()
		}
	}
	return err
}
