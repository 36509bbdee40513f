package postgres

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// maxConns bounds the connections of a Store. One more may hold the locks
	// on sessions.
	maxConns = 4
	// idleTime is how long a connection that nobody uses is kept.
	idleTime = time.Minute
	// staleTime is how long one may be idle before it is asked whether it lives.
	staleTime = time.Second
)

// pool is the connections of a Store. They are made when they are needed, and
// the one used last is used first.
type pool struct {
	config *pgconn.Config
	// room has a place for each connection that is used.
	room   chan struct{}
	closed chan struct{}

	mu    sync.Mutex
	idle  []*conn // the one used last at the end
	since []time.Time
	timer *time.Timer // closes those that are idle for long; nil before there are any
}

func newPool(config *pgconn.Config) *pool {
	return &pool{config: config, room: make(chan struct{}, maxConns), closed: make(chan struct{})}
}

// take returns a connection that lives. Whoever takes one gives it back.
func (p *pool) take(ctx context.Context) (*conn, error) {
	select {
	case <-p.closed:
		return nil, ErrClosed
	default:
	}
	select {
	case p.room <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.closed:
		return nil, ErrClosed
	}
	for {
		c, since := p.last()
		if c == nil {
			break
		}
		if time.Since(since) < staleTime || c.Ping(ctx) == nil {
			return c, nil
		}
		_ = c.Close(ctx) // it was dead
	}
	c, err := connect(ctx, p.config)
	if err != nil {
		<-p.room
		return nil, err
	}
	return c, nil
}

// last takes the idle connection that was used last; nil if there is none.
func (p *pool) last() (*conn, time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle) - 1
	if n < 0 {
		return nil, time.Time{}
	}
	c, since := p.idle[n], p.since[n]
	p.idle, p.since = p.idle[:n], p.since[:n]
	return c, since
}

// give takes a connection back. One in the middle of something is closed.
func (p *pool) give(c *conn) {
	defer func() { <-p.room }()
	const ready = 'I'
	if c.IsClosed() || c.TxStatus() != ready {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		_ = c.Close(ctx) // nothing hangs on it
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle, p.since = append(p.idle, c), append(p.since, time.Now())
	if p.timer == nil {
		p.timer = time.AfterFunc(idleTime, p.tidy)
	}
}

// tidy closes the connections that nobody used for long.
func (p *pool) tidy() {
	p.mu.Lock()
	n := 0
	for n < len(p.since) && time.Since(p.since[n]) >= idleTime {
		n++
	}
	old := append([]*conn(nil), p.idle[:n]...)
	p.idle, p.since = p.idle[n:], p.since[n:]
	p.timer = nil
	if len(p.idle) > 0 {
		p.timer = time.AfterFunc(idleTime, p.tidy)
	}
	p.mu.Unlock()
	_ = closeAll(old) // nothing hangs on them
}

// close waits for what goes on and closes the connections.
func (p *pool) close() error {
	close(p.closed)
	for range maxConns {
		p.room <- struct{}{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
	}
	idle := p.idle
	p.idle, p.since = nil, nil
	return closeAll(idle)
}

// closeTime bounds the polite end of a connection.
const closeTime = 5 * time.Second

func closeAll(list []*conn) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	var errs []error
	for _, c := range list {
		errs = append(errs, c.Close(ctx))
	}
	return errors.Join(errs...)
}
