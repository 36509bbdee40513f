package resilient

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/rondo-engine/rondo/model"
)

// The times for which a key is left alone when KeyOptions name none.
const (
	DefaultLimitedFor = 60 * time.Second
	DefaultSpentFor   = time.Hour
)

// KeyOptions adjust Keys.
type KeyOptions struct {
	Env
	// Refresh returns a key in place of one that the provider refused, such
	// as a token that ran out. The same key or an error leaves it refused.
	// Nil is for keys that cannot be renewed.
	Refresh func(ctx context.Context, refused string) (string, error)
	// LimitedFor is how long a key with too many requests is left alone if
	// the provider does not say; 0 stands for DefaultLimitedFor. SpentFor is
	// how long one without credit or one that was refused; 0 stands for
	// DefaultSpentFor.
	LimitedFor, SpentFor time.Duration
}

// Keys is a pool of keys for one provider. It is the model.KeySource of a
// client, and Wrap makes that client's model go from key to key: the key that a
// call is to use travels in the call's context, so that calls at the same time
// do not mistake one another's keys. It is safe for concurrent use.
//
// A key is used until it fails with rate_limit, billing or auth: it is then
// left alone for a time and the call is made again with the next one. A key
// that was refused is first renewed, once in a call. When all are left alone,
// the one whose time is over first is used.
type Keys struct {
	o       KeyOptions
	mu      sync.Mutex
	pool    []pooled
	current int
	// renewing holds a token; whoever renews a key takes it.
	renewing chan struct{}
}

// pooled is a key of the pool; renewed takes the place of its source.
type pooled struct {
	source  model.KeySource
	renewed string
	until   time.Time
}

var errNoKeys = errors.New("the pool of keys is empty")

// NewKeys returns a pool of keys.
func NewKeys(o KeyOptions, sources ...model.KeySource) *Keys {
	if o.LimitedFor == 0 {
		o.LimitedFor = DefaultLimitedFor
	}
	if o.SpentFor == 0 {
		o.SpentFor = DefaultSpentFor
	}
	o.Env = o.orSystem()
	k := &Keys{o: o, renewing: make(chan struct{}, 1)}
	k.renewing <- struct{}{}
	for _, s := range sources {
		k.pool = append(k.pool, pooled{source: s})
	}
	return k
}

// inUse carries the key of a call in its context, out of reach of whatever
// prints contexts.
type inUse struct{ key string }

type inUseKey struct{}

// Key returns the key of the call that ctx belongs to, and outside of one the
// current key of the pool.
func (k *Keys) Key(ctx context.Context) (string, error) {
	if u, ok := ctx.Value(inUseKey{}).(*inUse); ok {
		return u.key, nil
	}
	_, key, err := k.take(ctx, nil)
	return key, err
}

// take chooses a key that was not tried yet, the current one if it can be used.
// The index is -1 when all were tried.
func (k *Keys) take(ctx context.Context, tried []bool) (int, string, error) {
	i, p := k.choose(tried)
	if i < 0 {
		return -1, "", errNoKeys
	}
	if p.renewed != "" {
		return i, p.renewed, nil
	}
	key, err := p.source.Key(ctx)
	return i, key, err
}

func (k *Keys) choose(tried []bool) (int, pooled) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now, best := k.o.Now(), -1
	for n := range k.pool {
		i := (k.current + n) % len(k.pool)
		if tried != nil && tried[i] {
			continue
		}
		if !now.Before(k.pool[i].until) {
			best = i
			break
		}
		// In the middle of a call only a key that can be used is worth it.
		if !slices.Contains(tried, true) && (best < 0 || k.pool[i].until.Before(k.pool[best].until)) {
			best = i
		}
	}
	if best < 0 {
		return -1, pooled{}
	}
	k.current = best
	return best, k.pool[best]
}

// Wrap returns m, whose client has k as the source of its keys, with the
// rotation of keys. Each change of key is announced by a DeltaRetry.
func (k *Keys) Wrap(m model.Model) model.Model { return &keyed{m: m, k: k} }

type keyed struct {
	m model.Model
	k *Keys
}

func (m *keyed) Profile() *model.Profile { return m.m.Profile() }

// Stream implements model.Model.
func (m *keyed) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		c := keyCall{k: m.k, tried: make([]bool, len(m.k.pool))}
		if err := c.start(ctx); err != nil {
			p := m.Profile()
			yield(model.Delta{}, &model.Error{
				Op: "get the key", Class: model.Auth, Provider: p.Provider, Model: p.Model, RetryAfter: -1, Err: err,
			})
			return
		}
		for n := 1; ; n++ {
			o := attempt(context.WithValue(ctx, inUseKey{}, &inUse{c.key}), m.m, req, yield)
			e := o.failure(ctx)
			if e == nil || !c.advance(ctx, e) {
				o.err = c.explain(o.err)
				o.end(ctx, yield)
				return
			}
			if !o.announce(yield, model.DeltaRetry, &model.Notice{Err: e, Attempt: n}) {
				return
			}
		}
	}
}

// keyCall is one call's way through the pool.
type keyCall struct {
	k       *Keys
	tried   []bool
	at      int
	key     string
	renewed bool
	// trouble is what went wrong with getting other keys.
	trouble []error
}

func (c *keyCall) start(ctx context.Context) (err error) {
	c.at, c.key, err = c.k.take(ctx, c.tried)
	return err
}

// advance notes that the key in use failed and moves on to another, if the
// failure is the key's and there is one.
func (c *keyCall) advance(ctx context.Context, e *model.Error) bool {
	rest := c.k.o.SpentFor
	switch e.Class {
	case model.RateLimit:
		rest = c.k.o.LimitedFor
		if e.RetryAfter >= 0 {
			rest = e.RetryAfter
		}
	case model.Billing:
	case model.Auth:
		if !c.renewed {
			c.renewed = true
			if c.renew(ctx) {
				return true
			}
		}
	default:
		return false
	}
	c.k.leave(c.at, rest)
	for {
		c.tried[c.at] = true
		at, key, err := c.k.take(ctx, c.tried)
		if at < 0 {
			return false
		}
		if c.at, c.key = at, key; err == nil {
			return true
		}
		c.trouble = append(c.trouble, fmt.Errorf("get key %d of the pool: %w", at+1, err))
	}
}

// renew gets another key in place of the one in use.
func (c *keyCall) renew(ctx context.Context) bool {
	if c.k.o.Refresh == nil {
		return false
	}
	key, err := c.k.renew(ctx, c.at, c.key)
	if err != nil {
		c.trouble = append(c.trouble, fmt.Errorf("renew the key: %w", err))
		return false
	}
	same := key == c.key
	c.key = key
	return !same
}

// explain adds to the error that a call ends with what went wrong with getting
// other keys.
func (c *keyCall) explain(err error) error {
	e, ok := err.(*model.Error)
	if !ok || len(c.trouble) == 0 {
		return err
	}
	told := *e
	told.Err = fmt.Errorf("%w (%w)", e.Err, errors.Join(c.trouble...))
	return &told
}

// leave leaves the key at i alone for a time.
func (k *Keys) leave(i int, rest time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pool[i].until = k.o.Now().Add(rest)
}

// renew returns a key in place of the one at i that was refused. It asks for
// one only if no other call has done so since key was taken.
func (k *Keys) renew(ctx context.Context, i int, key string) (string, error) {
	select {
	case <-k.renewing:
		defer func() { k.renewing <- struct{}{} }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if now := k.renewedAt(i); now != "" && now != key {
		return now, nil
	}
	fresh, err := k.o.Refresh(ctx, key)
	if err != nil || fresh == "" || fresh == key {
		return key, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.pool[i].renewed = fresh
	k.pool[i].until = time.Time{}
	return fresh, nil
}

func (k *Keys) renewedAt(i int) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.pool[i].renewed
}
