// Package resilient makes a model that survives the failures of others. Its
// parts are decorators, each a model.Model around another:
//
//	Keys      takes the next key of a pool when one is spent, renews one that is refused
//	Limits    asks again for a shorter reply, and remembers what limits providers name
//	Breakers  stop asking a provider that failed too often in a row
//	Retry     asks again, after a wait that fits the class of the failure
//	Fallback  asks another model when one is spent
//
// They are meant to be put around a client in this order, Keys innermost:
//
//	Fallback(Retry(Breaker(Limits(Keys(client)))), Retry(Breaker(client)), …)
//
// Deltas pass through as they come. When an attempt fails after some were
// passed on, a model.DeltaReset takes them back before anything else follows;
// model.DeltaRetry and model.DeltaSwitch say what comes next. All of it travels
// in the one stream, so that its order is certain. Nothing is asked again once
// a model.DeltaDone was passed on, and nothing after the context has ended.
//
// An endpoint to which no connection can be made and that has never answered is
// given up after three attempts, within seconds, with model.ErrUnreachable; one
// that has answered before is waited for like any other in trouble.
package resilient

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/rondo-engine/rondo/model"
)

// Env is what the decorators know of the world. The zero value is the system's
// clock and math/rand/v2.
type Env struct {
	// Now tells the time.
	Now func() time.Time
	// Sleep returns after d, or at once with ctx's error when ctx ends.
	Sleep func(ctx context.Context, d time.Duration) error
	// Rand returns a number in [0, 1) for jitter.
	Rand func() float64
}

func (e Env) orSystem() Env {
	if e.Now == nil {
		e.Now = time.Now
	}
	if e.Sleep == nil {
		e.Sleep = sleep
	}
	if e.Rand == nil {
		e.Rand = rand.Float64
	}
	return e
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// yielder takes what a stream yields.
type yielder = func(model.Delta, error) bool

// outcome is how an attempt ended: over, because its reply was passed on or
// because nobody listens any more, or with an error.
type outcome struct {
	over bool
	err  error
	// seen reports that deltas were passed on that are to be taken back.
	seen bool
}

var errNoEnd = errors.New("the stream ended with neither a reply nor an error")

// attempt asks m once and passes on all that comes but an error.
func attempt(ctx context.Context, m model.Model, req *model.Request, yield yielder) (o outcome) {
	for d, err := range m.Stream(ctx, req) {
		if err != nil {
			o.err = err
			return o
		}
		if !yield(d, nil) {
			return outcome{over: true}
		}
		switch {
		case d.Kind == model.DeltaDone: // go on to the end: the adapter may have to clean up
			o.over = true
		case d.Kind == model.DeltaReset:
			o.seen = false
		case isContent(d.Kind):
			o.seen = true
		}
	}
	if !o.over {
		p := m.Profile()
		o.err = &model.Error{
			Op: "stream reply", Class: model.StreamTruncated, Provider: p.Provider, Model: p.Model, RetryAfter: -1, Err: errNoEnd,
		}
	}
	return o
}

// isContent reports whether a delta brings a piece of the reply.
func isContent(k model.DeltaKind) bool {
	switch k {
	case model.DeltaText, model.DeltaReasoning, model.DeltaCall, model.DeltaCallArgs:
		return true
	}
	return false
}

// failure returns the *model.Error of an attempt that another may follow, and
// nil if none may: because it is over, because ctx has ended, or because the
// error is not a model's.
func (o outcome) failure(ctx context.Context) *model.Error {
	if o.over || ctx.Err() != nil {
		return nil
	}
	e, _ := errors.AsType[*model.Error](o.err)
	return e
}

// end yields the error of the last attempt, if there is one to yield.
func (o outcome) end(ctx context.Context, yield yielder) {
	switch {
	case o.over:
	case ctx.Err() != nil:
		yield(model.Delta{}, ctx.Err())
	default:
		yield(model.Delta{}, o.err)
	}
}

// announce takes back what was seen of the failed attempt and says what comes
// next. It reports whether anybody still listens.
func (o outcome) announce(yield yielder, kind model.DeltaKind, n *model.Notice) bool {
	if o.seen && !yield(model.Delta{Kind: model.DeltaReset, Notice: n}, nil) {
		return false
	}
	return yield(model.Delta{Kind: kind, Notice: n}, nil)
}
