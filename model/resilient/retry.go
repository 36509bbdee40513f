package resilient

import (
	"context"
	"errors"
	"iter"
	"maps"
	"time"

	"github.com/rondo-engine/rondo/model"
)

// Rule says how often and after which waits a class of failures is tried again.
type Rule struct {
	// Attempts bounds the attempts of a call, the first one counted; up to 1
	// there is no retry. It is the class of the latest failure that counts.
	Attempts int
	// AtOnce makes the first retry without a wait.
	AtOnce bool
	// Base is the first wait, Max the longest: each is twice the one before.
	// Up to half of it is added at random.
	Base, Max time.Duration
}

// DefaultPolicy returns the rules of contract row L8. Classes that are not in
// it are not retried.
func DefaultPolicy() map[model.Class]Rule {
	return map[model.Class]Rule{
		model.RateLimit:       {Attempts: 5, Base: 2 * time.Second, Max: time.Minute},
		model.Timeout:         {Attempts: 5, AtOnce: true, Base: time.Second, Max: 4 * time.Second},
		model.Overloaded:      {Attempts: 5, AtOnce: true, Base: time.Second, Max: 4 * time.Second},
		model.StreamTruncated: {Attempts: 5, AtOnce: true, Base: time.Second, Max: 4 * time.Second},
		model.ServerError:     {Attempts: 5, AtOnce: true, Base: time.Second, Max: 4 * time.Second},
		model.EmptyResponse:   {Attempts: 3, AtOnce: true, Base: time.Second, Max: 4 * time.Second},
	}
}

// DefaultMaxWait is the longest wait when RetryOptions name none.
const DefaultMaxWait = 600 * time.Second

// RetryOptions adjust a Retry. The zero value is right for a model that has no
// other to fall back to.
type RetryOptions struct {
	Env
	// Policy replaces rules of DefaultPolicy, class by class.
	Policy map[model.Class]Rule
	// MaxWait is the longest wait before an attempt, 0 for DefaultMaxWait. A
	// failure that asks for more, or an open breaker that stays so longer, is
	// returned at once. A model with others to fall back to wants a short one.
	MaxWait time.Duration
	// NoReset gives up rather than take back what was passed on, for
	// consumers that cannot.
	NoReset bool
}

// Retry is a model that is asked again after failures that may pass.
type Retry struct {
	m   model.Model
	o   RetryOptions
	acq acquaintance
}

// NewRetry returns a Retry around m.
func NewRetry(m model.Model, o RetryOptions) *Retry {
	policy := DefaultPolicy()
	maps.Copy(policy, o.Policy)
	o.Policy = policy
	if o.MaxWait == 0 {
		o.MaxWait = DefaultMaxWait
	}
	o.Env = o.orSystem()
	return &Retry{m: m, o: o}
}

// Profile returns the profile of the model inside.
func (r *Retry) Profile() *model.Profile { return r.m.Profile() }

// Stream implements model.Model. Each retry is announced by a DeltaRetry, and a
// long wait before it counted down by DeltaWaits.
func (r *Retry) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		for t := (tries{}); ; {
			o := attempt(ctx, r.m, req, yield)
			e := o.failure(ctx)
			r.acq.note(o, e)
			if e == nil || o.seen && r.o.NoReset {
				o.end(ctx, yield)
				return
			}
			wait, again := r.plan(&t, e)
			if err := r.acq.giveUp(t.failed, e); err != nil {
				o.err, again = err, false
			}
			if !again {
				o.end(ctx, yield)
				return
			}
			n := model.Notice{Err: e, Attempt: t.failed, Wait: wait}
			if !o.announce(yield, model.DeltaRetry, &n) || !r.wait(ctx, n, yield) {
				return
			}
		}
	}
}

// tellEvery is how often a wait that takes longer is told of.
const tellEvery = 10 * time.Second

// wait waits as long as n says and counts it down with a DeltaWait at its
// beginning and from time to time. It reports whether to go on.
func (r *Retry) wait(ctx context.Context, n model.Notice, yield yielder) bool {
	for n.Wait > tellEvery {
		told := n
		if !yield(model.Delta{Kind: model.DeltaWait, Notice: &told}, nil) {
			return false
		}
		if err := r.o.Sleep(ctx, tellEvery); err != nil {
			yield(model.Delta{}, err)
			return false
		}
		n.Wait -= tellEvery
	}
	if err := r.o.Sleep(ctx, n.Wait); err != nil {
		yield(model.Delta{}, err)
		return false
	}
	return true
}

// tries counts what happened in one call.
type tries struct {
	// failed counts the attempts that failed.
	failed int
	// waited is set once an open breaker was waited for.
	waited bool
}

// plan decides whether another attempt follows e, and after which wait. An open
// breaker is waited for once, however often was tried before; the attempt after
// that is the last.
func (r *Retry) plan(t *tries, e *model.Error) (wait time.Duration, again bool) {
	t.failed++
	if t.waited {
		return 0, false
	}
	if open, ok := errors.AsType[*OpenError](e); ok {
		t.waited = true
		wait = max(0, open.Until.Sub(r.o.Now()))
		return wait, wait <= r.o.MaxWait
	}
	rule := r.o.Policy[e.Class]
	if t.failed >= rule.Attempts {
		return 0, false
	}
	wait = rule.wait(t.failed, r.o.Rand())
	if e.RetryAfter >= 0 {
		asked := e.RetryAfter + time.Duration(r.o.Rand()*float64(e.RetryAfter)/10)
		if t.failed == 1 && e.Class == model.RateLimit {
			wait = asked
		}
		wait = max(wait, asked)
	}
	return wait, wait <= r.o.MaxWait
}

// wait returns the wait after the n-th failure.
func (r Rule) wait(n int, random float64) time.Duration {
	if r.AtOnce {
		n--
	}
	if n == 0 {
		return 0
	}
	wait := r.Base
	for range n - 1 {
		if wait >= r.Max {
			break
		}
		wait *= 2
	}
	wait = min(wait, r.Max)
	return wait + time.Duration(random*float64(wait)/2)
}
