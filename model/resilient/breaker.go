package resilient

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/rondo-engine/rondo/model"
)

// The limits of a breaker when BreakerOptions name none (contract row L7).
const (
	DefaultFailures = 5
	DefaultOpen     = 60 * time.Second
)

// BreakerOptions adjust Breakers.
type BreakerOptions struct {
	Env
	// Failures in a row open a breaker; 0 stands for DefaultFailures.
	Failures int
	// Open is how long; 0 stands for DefaultOpen.
	Open time.Duration
}

// OpenError says that a provider is not asked because it failed too often in a
// row. It is in the chain of the *model.Error of the failure that opened the
// breaker, and of those of class Overloaded that calls get while it is open.
type OpenError struct {
	Provider string
	// Failures is how many there were; Until is when one call is let through
	// to see whether the provider has recovered.
	Failures int
	Until    time.Time
	// Err is the last failure; nil if nothing is known of it.
	Err error
}

// Error says what happened and until when.
func (e *OpenError) Error() string {
	s := fmt.Sprintf("not asked again before %s, after %d failed calls in a row", e.Until.Format(time.TimeOnly), e.Failures)
	if e.Err != nil {
		s += "; the last one: " + e.Err.Error()
	}
	return s
}

// Unwrap returns the last failure.
func (e *OpenError) Unwrap() error { return e.Err }

// Breakers holds one circuit breaker for each provider and account. It is
// shared by all who call them, and safe for concurrent use.
//
// A breaker counts failures in a row that speak of the provider's health:
// timeouts, overload, server errors, cut streams and empty responses. Other
// failures, and calls that were broken off, change nothing. When it has been
// open for its time, one call is let through; the others wait until that one
// gets a first delta, which closes the breaker, or fails, which opens it again.
type Breakers struct {
	o  BreakerOptions
	mu sync.Mutex
	by map[breakerKey]*breaker
}

type breakerKey struct{ provider, account string }

// NewBreakers returns breakers that are all closed.
func NewBreakers(o BreakerOptions) *Breakers {
	if o.Failures == 0 {
		o.Failures = DefaultFailures
	}
	if o.Open == 0 {
		o.Open = DefaultOpen
	}
	o.Env = o.orSystem()
	return &Breakers{o: o, by: make(map[breakerKey]*breaker)}
}

// Wrap puts the breaker of m's provider and account in front of m.
func (b *Breakers) Wrap(m model.Model) model.Model {
	p := m.Profile()
	key := breakerKey{p.Provider, p.Account}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.by[key] == nil {
		b.by[key] = &breaker{o: &b.o}
	}
	return &guarded{m: m, b: b.by[key]}
}

// guarded is a model behind a breaker.
type guarded struct {
	m model.Model
	b *breaker
}

func (g *guarded) Profile() *model.Profile { return g.m.Profile() }

// Stream implements model.Model.
func (g *guarded) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		probe, err := g.b.enter(ctx)
		if open, ok := errors.AsType[*OpenError](err); ok {
			err = g.refusal(open)
		}
		if err != nil {
			yield(model.Delta{}, err)
			return
		}
		defer g.b.abandon(probe)
		o := attempt(ctx, g.m, req, func(d model.Delta, err error) bool {
			switch {
			case d.Kind == model.DeltaDone:
				g.b.succeed()
			case probe != nil && isContent(d.Kind):
				g.b.answered(probe)
				probe = nil
			}
			return yield(d, err)
		})
		if e := o.failure(ctx); e != nil && ofHealth(e.Class) {
			if open := g.b.fail(e, probe); open != nil {
				told := *e
				told.Err = open
				o.err = &told
			}
		}
		o.end(ctx, yield)
	}
}

func (g *guarded) refusal(open *OpenError) *model.Error {
	p := g.m.Profile()
	open.Provider = p.Provider
	return &model.Error{
		Op: "ask the provider", Class: model.Overloaded, Provider: p.Provider, Model: p.Model,
		RetryAfter: max(0, open.Until.Sub(g.b.o.Now())), Err: open,
	}
}

func ofHealth(c model.Class) bool { return c.Retryable() && c != model.RateLimit }
