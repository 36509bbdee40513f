package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

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
		RETURNING token, since`
	sqlForget = "DELETE FROM rondo_locks WHERE session = $1 AND token = $2"
	sqlUnlock = "SELECT pg_advisory_unlock($1)"
	sqlHolder = "SELECT host, pid, since FROM rondo_locks WHERE session = $1"
	// sqlHeld asks for the lock itself: what a process that died said of it
	// stays until the next one claims it.
	sqlHeld = `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND classid::bigint = $1 AND objid::bigint = $2)`
	// unlockTime bounds the giving up of a lock.
	unlockTime = 10 * time.Second
)

// locks are the locks that a Store holds, all on one connection, which is
// opened for the first.
type locks struct {
	config *pgx.ConnConfig

	turn sync.Mutex // who speaks on conn, which is nil for none
	conn *pgx.Conn

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
	err := s.patiently(ctx, func(ctx context.Context) (err error) {
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

// connect opens the connection of the locks, unless it is open.
func (l *locks) connect(ctx context.Context) error {
	if l.conn != nil && !l.conn.IsClosed() {
		return nil
	}
	conn, err := pgx.ConnectConfig(ctx, l.config.Copy())
	if err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, sqlKeepAlive); err != nil {
		return errors.Join(err, conn.Close(ctx))
	}
	l.conn = conn
	return nil
}

// claim takes the lock on session id, or returns a *store.LockedError.
func (l *locks) claim(ctx context.Context, key int64, id string) (claim, error) {
	host, _ := os.Hostname() // a lock without it is still one
	c := claim{holder: store.Holder{PID: os.Getpid(), Host: host}}
	err := l.conn.QueryRow(ctx, sqlClaim, key, escape(id), escape(host), c.holder.PID).Scan(&c.token, &c.holder.Since)
	if !errors.Is(err, pgx.ErrNoRows) {
		if err != nil && !l.conn.IsClosed() { // the lock may be taken all the same
			_, undo := l.conn.Exec(ctx, sqlUnlock, key)
			err = errors.Join(err, undo)
		}
		return c, err
	}
	b := new(pgx.Batch)
	locked := &store.LockedError{Session: id}
	queueHolder(b, id, &locked.Holder)
	if err := l.conn.SendBatch(ctx, b).Close(); err != nil {
		return c, err
	}
	return c, locked
}

// queueHolder asks who said last that session id is locked; h stays zero if
// nobody did.
func queueHolder(b *pgx.Batch, id string, h *store.Holder) {
	b.Queue(sqlHolder, escape(id)).QueryRow(func(row pgx.Row) error {
		err := row.Scan(&h.Host, &h.PID, &h.Since)
		h.Host = unescape(h.Host)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
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
	b := new(pgx.Batch)
	b.Queue(sqlForget, escape(id), token)
	b.Queue(sqlUnlock, s.lockKey(id))
	if err := l.conn.SendBatch(ctx, b).Close(); err != nil && !l.conn.IsClosed() {
		return fmt.Errorf("unlock session %s: %w", id, s.explain(err))
	}
	return nil
}

// Holder implements store.Locker.
func (s *Store) Holder(ctx context.Context, id string) (h store.Holder, held bool, err error) {
	key := uint64(s.lockKey(id))
	err = s.ask(ctx, func(b *pgx.Batch) {
		h = store.Holder{}
		b.Queue(sqlHeld, int64(key>>32), int64(key&0xffffffff)).QueryRow(func(row pgx.Row) error { return row.Scan(&held) })
		queueHolder(b, id, &h)
	})
	if err != nil {
		return store.Holder{}, false, fmt.Errorf("ask who uses session %s: %w", id, err)
	}
	if !held {
		h = store.Holder{}
	}
	return h, held, nil
}

// close gives up all locks: they end with their connection.
func (l *locks) close() error {
	l.turn.Lock()
	defer l.turn.Unlock()
	l.mu.Lock()
	clear(l.held)
	l.mu.Unlock()
	if l.conn == nil || l.conn.IsClosed() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), unlockTime)
	defer cancel()
	return l.conn.Close(ctx)
}
