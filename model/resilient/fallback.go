package resilient

import (
	"context"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/rondo-engine/rondo/model"
)

// DefaultCooldown is how long a model that failed is passed over when
// FallbackOptions name no time.
const DefaultCooldown = 60 * time.Second

// FallbackOptions adjust a Fallback.
type FallbackOptions struct {
	Env
	// Cooldown is how long a model that failed is passed over; 0 stands for
	// DefaultCooldown. It is longer where the provider asks for more.
	Cooldown time.Duration
}

// Fallback is a chain of models. It asks the current one, at first the first;
// when that is spent, the others in order, and stays with the one that answers.
// The conversation of one session belongs to one Fallback; it is safe for
// concurrent use by the calls of that session.
//
// A model is spent when it fails with a class that another model may not share:
// rate_limit, timeout, overloaded, server_error, stream_truncated,
// empty_response, auth, billing or model_not_found. While all are cooling down,
// only the current one is asked, so that a session that goes on does not storm
// the whole chain each time.
type Fallback struct {
	o  FallbackOptions
	mu sync.Mutex
	// chain is fixed; current and the rest of each link are guarded by mu.
	chain   []link
	current int
}

type link struct {
	m       model.Model
	coolsAt time.Time
}

// NewFallback returns a Fallback over models, of which there must be one at
// least. Nil models are left out, and so are those behind which stands the same
// model of the same endpoint and account as before.
func NewFallback(o FallbackOptions, models ...model.Model) *Fallback {
	if o.Cooldown == 0 {
		o.Cooldown = DefaultCooldown
	}
	o.Env = o.orSystem()
	f := &Fallback{o: o}
	for _, m := range models {
		if m != nil && !f.has(m.Profile()) {
			f.chain = append(f.chain, link{m: m})
		}
	}
	if len(f.chain) == 0 {
		panic("resilient: NewFallback without a model")
	}
	return f
}

func (f *Fallback) has(p *model.Profile) bool {
	for _, l := range f.chain {
		if q := l.m.Profile(); sameAccount(p, q) && p.Model == q.Model && p.Mode == q.Mode {
			return true
		}
	}
	return false
}

func sameAccount(p, q *model.Profile) bool {
	return p.Provider == q.Provider && p.BaseURL == q.BaseURL && p.Account == q.Account
}

// Profile returns the profile of the current model.
func (f *Fallback) Profile() *model.Profile {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.chain[f.current].m.Profile()
}

// Return makes the first model current again that is not cooling down, if it
// stands before the current one. It is for the start of a turn, where the
// configuration says fallback_return: next_turn.
func (f *Fallback) Return() {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.o.Now()
	for i := range f.current {
		if !now.Before(f.chain[i].coolsAt) {
			f.current = i
			return
		}
	}
}

// Stream implements model.Model. Each switch is announced by a DeltaSwitch.
func (f *Fallback) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		w := walk{failed: make([]*model.Error, len(f.chain))}
		w.at = f.start()
		for {
			o := attempt(ctx, f.chain[w.at].m, req, yield)
			e := o.failure(ctx)
			if e == nil || !isSpent(e.Class) {
				if o.over {
					f.settle(w.at)
				}
				o.end(ctx, yield)
				return
			}
			next, ok := f.next(&w, e)
			if !ok {
				yield(model.Delta{}, f.exhausted(&w))
				return
			}
			n := &model.Notice{Err: e, To: f.chain[next].m.Profile()}
			if !o.announce(yield, model.DeltaSwitch, n) {
				return
			}
			w.at = next
		}
	}
}

// walk is one call's way along the chain.
type walk struct {
	at     int
	failed []*model.Error
	order  []int
}

func isSpent(c model.Class) bool {
	switch c {
	case model.Auth, model.Billing, model.ModelNotFound:
		return true
	}
	return c.Retryable()
}

func (f *Fallback) start() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.current
}

// settle makes the model that answered the current one.
func (f *Fallback) settle(at int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.current = at
	f.chain[at].coolsAt = time.Time{}
}

// next notes how the model at hand failed and chooses the one to ask next: the
// first of the chain that has not failed in this call, is not cooling down and
// does not share what was refused.
func (f *Fallback) next(w *walk, e *model.Error) (int, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.o.Now()
	w.failed[w.at] = e
	w.order = append(w.order, w.at)
	f.chain[w.at].coolsAt = now.Add(max(f.o.Cooldown, e.RetryAfter))
	for i := range f.chain {
		if w.failed[i] == nil && !now.Before(f.chain[i].coolsAt) && !f.shares(i, w) {
			return i, true
		}
	}
	return 0, false
}

// shares reports whether the model at i has the account that was refused as
// such before.
func (f *Fallback) shares(i int, w *walk) bool {
	for j, e := range w.failed {
		if e != nil && (e.Class == model.Auth || e.Class == model.Billing) &&
			sameAccount(f.chain[i].m.Profile(), f.chain[j].m.Profile()) {
			return true
		}
	}
	return false
}

// exhausted returns the error of a call that no model answered. A failure that
// may pass gives it its class, so that it tells whether trying later helps.
func (f *Fallback) exhausted(w *walk) *model.Error {
	if len(f.chain) == 1 {
		return w.failed[w.at]
	}
	all := &ExhaustedError{}
	e := *w.failed[w.order[0]]
	for _, i := range w.order {
		all.Errs = append(all.Errs, w.failed[i])
		if !e.Class.Retryable() && w.failed[i].Class.Retryable() {
			e = *w.failed[i]
		}
	}
	e.Op, e.Partial, e.Err = "ask the models of the chain", nil, all
	return &e
}

// ExhaustedError says that each model that was asked failed. It is the cause of
// a *model.Error.
type ExhaustedError struct {
	// Errs are the failures, in the order of the calls.
	Errs []*model.Error
}

// Error lists the failures.
func (e *ExhaustedError) Error() string {
	var b strings.Builder
	b.WriteString("no model answered: ")
	for i, err := range e.Errs {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(err.Error())
	}
	return b.String()
}

// Unwrap returns the failures.
func (e *ExhaustedError) Unwrap() []error {
	errs := make([]error, len(e.Errs))
	for i, err := range e.Errs {
		errs[i] = err
	}
	return errs
}
