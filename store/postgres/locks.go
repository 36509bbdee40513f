package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rondo-engine/rondo/store"
)

const (
	// sqlKeepAlive has the server find out within half a minute that the
	// machine of a connection is gone. Settings that the connection or the
	// server does not know are left as they are.
	sqlKeepAlive = `SELECT set_config(name, value, false) FROM (VALUES
			('tcp_keepalives_idle', '15'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3'),
			('tcp_user_timeout', '30000'), ('idle_session_timeout', '0')
		) AS wanted (name, value) WHERE EXISTS (SELECT FROM pg_settings WHERE pg_settings.name = wanted.name)`
	// sqlClaim takes the lock with the key $1 without waiting, and if that was
	// free, says who has it. It yields a new token and the time.
	sqlClaim = `INSERT INTO rondo_locks (session, host, pid)
		SELECT $2, $3, $4 WHERE pg_try_advisory_lock($1)
		ON CONFLICT (session) DO UPDATE SET token = excluded.token, host = excluded.host, pid = excluded.pid, since = excluded.since
		RETURNING token, (extract(epoch FROM since) * 1000000)::bigint`
	sqlForget = "DELETE FROM rondo_locks WHERE session = $1 AND token = $2"
	sqlUnlock = "SELECT pg_advisory_unlock($1)"
	// sqlUnlockAll gives up all locks of the connection.
	sqlUnlockAll = "SELECT pg_advisory_unlock_all()"
	sqlHolder    = "SELECT host, pid, (extract(epoch FROM since) * 1000000)::bigint FROM rondo_locks WHERE session = $1"
	// sqlHeld asks for the lock itself: what a process that died said of it
	// stays until the next one claims it.
	sqlHeld = `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND classid::bigint = $1 AND objid::bigint = $2)`
	// unlockTime bounds the giving up of a lock.
	unlockTime = 10 * time.Second
	// goneTime bounds the wait for the server to see that a process has ended.
	goneTime = 5 * time.Second
)

// locks are the locks that a Store holds, all on one connection, which is
// opened for the first.
type locks struct {
	config *pgconn.Config

	turn sync.Mutex // who speaks on conn, which is nil for none
	conn *conn

	mu   sync.Mutex // guards held; taken after turn
	held map[string]claim
}

// claim is a lock that is held.
type claim struct {
	token  int64
	holder store.Holder
}

// find returns the lock on session id, if this Store holds it.
func (l *locks) find(id string) (claim, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, ok := l.held[id]
	return c, ok
}

// token returns what names the lock on session id; 0 if this Store holds none.
func (l *locks) token(id string) int64 {
	c, _ := l.find(id)
	return c.token
}

// lockKey is the number of the advisory lock on session id. Stores in other
// schemas of the same database have other numbers.
func (s *Store) lockKey(id string) int64 {
	sum := sha256.Sum256([]byte("rondo session\x00" + s.schema + "\x00" + id))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// Lock implements store.Locker.
func (s *Store) Lock(ctx context.Context, id string) (func() error, error) {
	l := &s.locks
	l.turn.Lock()
	defer l.turn.Unlock()
	if c, ok := l.find(id); ok {
		return nil, &store.LockedError{Session: id, Holder: c.holder}
	}
	var c claim
	err := untilFree(ctx, func() (h store.Holder, held bool, err error) {
		c, err = s.claim(ctx, id)
		locked, held := errors.AsType[*store.LockedError](err)
		if held {
			h = locked.Holder
		}
		return h, held, err
	})
	if locked, ok := errors.AsType[*store.LockedError](err); ok {
		return nil, locked
	}
	if err != nil {
		return nil, fmt.Errorf("lock session %s: %w", id, s.explain(err))
	}
	l.mu.Lock()
	l.held[id] = c
	l.mu.Unlock()
	return func() error { return s.unlock(id, c.token) }, nil
}

// claim takes the lock on session id, or returns a *store.LockedError.
func (s *Store) claim(ctx context.Context, id string) (c claim, err error) {
	l := &s.locks
	err = s.patiently(ctx, func(ctx context.Context) (err error) {
		before := l.conn
		if err = l.connect(ctx); err != nil {
			return err
		}
		c, err = l.claim(ctx, s.lockKey(id), id)
		if err != nil && l.conn == before && l.conn.IsClosed() { // it was cut meanwhile, and locks with it
			if err = l.connect(ctx); err == nil {
				c, err = l.claim(ctx, s.lockKey(id), id)
			}
		}
		return err
	})
	return c, err
}

// untilFree runs f, which tells who holds a lock, until nobody does or somebody
// who lives. A process that was killed holds its locks for the moment that the
// server needs to see it.
func untilFree(ctx context.Context, f func() (h store.Holder, held bool, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, goneTime)
	defer cancel()
	for {
		h, held, err := f()
		if !held || !gone(h) {
			return err
		}
		pause := time.NewTimer(5 * time.Millisecond)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return err
		}
	}
}

// gone reports whether a holder was a process of this machine that has ended.
func gone(h store.Holder) bool {
	host, err := os.Hostname()
	if err != nil || h.Host != host || h.PID <= 0 {
		return false
	}
	p, err := os.FindProcess(h.PID)
	if err != nil {
		return true
	}
	defer p.Release()
	return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// connect opens the connection of the locks, unless it is open.
func (l *locks) connect(ctx context.Context) error {
	if l.conn != nil && !l.conn.IsClosed() {
		return nil
	}
	c, err := connect(ctx, l.config)
	if err != nil {
		return err
	}
	if _, err := c.ask(ctx, sqlKeepAlive, nil, nil); err != nil {
		return errors.Join(err, c.Close(ctx))
	}
	l.conn = c
	return nil
}

// claim takes the lock on session id, or returns a *store.LockedError.
func (l *locks) claim(ctx context.Context, key int64, id string) (claim, error) {
	host, _ := os.Hostname() // a lock without it is still one
	c := claim{holder: store.Holder{PID: os.Getpid(), Host: host}}
	claimed, err := l.conn.ask(ctx, sqlClaim, args{key, id, host, c.holder.PID}, func(r *row) {
		c.token, c.holder.Since = r.number(0), time.UnixMicro(r.number(1))
	})
	if err != nil && !l.conn.IsClosed() { // the lock may be taken all the same
		_, undo := l.conn.ask(ctx, sqlUnlock, args{key}, nil)
		return c, errors.Join(err, undo)
	}
	if err != nil || claimed > 0 {
		return c, err
	}
	locked := &store.LockedError{Session: id}
	if err := l.conn.send(ctx, func(b *batch) { addHolder(b, id, &locked.Holder) }); err != nil {
		return c, err
	}
	return c, locked
}

// addHolder asks who said last that session id is locked; h is zero if nobody
// did.
func addHolder(b *batch, id string, h *store.Holder) {
	*h = store.Holder{}
	b.add(sqlHolder, args{id}, func(r *row) {
		*h = store.Holder{Host: r.text(0), PID: int(r.number(1)), Since: time.UnixMicro(r.number(2))}
	}, nil)
}

// unlock gives up the lock on session id. Where the connection is gone, the
// lock is, too.
func (s *Store) unlock(id string, token int64) error {
	l := &s.locks
	l.turn.Lock()
	defer l.turn.Unlock()
	if l.token(id) != token {
		return nil
	}
	l.mu.Lock()
	delete(l.held, id)
	l.mu.Unlock()
	if l.conn == nil || l.conn.IsClosed() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), unlockTime)
	defer cancel()
	err := l.conn.send(ctx, func(b *batch) {
		b.add(sqlForget, args{id, token}, nil, nil)
		b.add(sqlUnlock, args{s.lockKey(id)}, nil, nil)
	})
	if err != nil && !l.conn.IsClosed() {
		return fmt.Errorf("unlock session %s: %w", id, s.explain(err))
	}
	return nil
}

// Holder implements store.Locker.
func (s *Store) Holder(ctx context.Context, id string) (h store.Holder, held bool, err error) {
	key := uint64(s.lockKey(id))
	err = untilFree(ctx, func() (store.Holder, bool, error) {
		err := s.ask(ctx, func(b *batch) {
			b.add(sqlHeld, args{int64(key >> 32), int64(key & 0xffffffff)}, func(r *row) { held = r.truth(0) }, nil)
			addHolder(b, id, &h)
		})
		return h, held, err
	})
	if err != nil {
		return store.Holder{}, false, fmt.Errorf("ask who uses session %s: %w", id, err)
	}
	if !held {
		h = store.Holder{}
	}
	return h, held, nil
}

// close gives up all locks. They would end with their connection, but not at
// once.
func (l *locks) close() error {
	l.turn.Lock()
	defer l.turn.Unlock()
	l.mu.Lock()
	held := maps.Clone(l.held)
	clear(l.held)
	l.mu.Unlock()
	if l.conn == nil || l.conn.IsClosed() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), unlockTime)
	defer cancel()
	err := l.conn.send(ctx, func(b *batch) {
		for id, c := range held {
			b.add(sqlForget, args{id, c.token}, nil, nil)
		}
		b.add(sqlUnlockAll, nil, nil, nil)
	})
	if l.conn.IsClosed() {
		return nil
	}
	return errors.Join(err, l.conn.Close(ctx))
}
