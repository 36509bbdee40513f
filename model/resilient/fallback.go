package resilient

import (
	"cmp"
	"context"
	"errors"
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
	// Stay keeps a conversation with the model that answered, also in later
	// turns: Return changes nothing.
	Stay bool
	// System returns the system prompt as another model than the first is to
	// have it, such as with its own name; nil changes nothing.
	System func(system string, p *model.Profile) string
}

// Fallback is a chain of models. It asks the current one, at first the first;
// when that is spent, the others in order, and stays with the one that answers.
// A conversation belongs to one Fallback, of which Conversation makes any
// number over the same models. It is safe for concurrent use.
//
// A model is spent when it fails with a class that another model may not share:
// rate_limit, timeout, overloaded, server_error, stream_truncated,
// empty_response, auth, billing, model_not_found or content_filter. While all are cooling down,
// only the current one is asked, so that a session that goes on does not storm
// the whole chain each time.
type Fallback struct {
	o FallbackOptions
	// mu and chain are shared by the conversations. The chain is fixed; mu
	// guards when its links cool down, and current.
	mu      *sync.Mutex
	chain   []*link
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
	f := &Fallback{o: o, mu: new(sync.Mutex)}
	for _, m := range models {
		if m != nil && !f.has(m.Profile()) {
			f.chain = append(f.chain, &link{m: m})
		}
	}
	if len(f.chain) == 0 {
		panic("resilient: NewFallback without a model")
	}
	return f
}

// Conversation returns a Fallback over the same models for a conversation of
// its own: it has a current model of its own, but what is cooling down does so
// for all.
func (f *Fallback) Conversation() *Fallback {
	return &Fallback{o: f.o, mu: f.mu, chain: f.chain}
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

// Return is for the start of a turn: it makes the first model current that is
// not cooling down. It changes nothing where all are, and with
// FallbackOptions.Stay.
func (f *Fallback) Return() {
	if f.o.Stay {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.o.Now()
	for i, l := range f.chain {
		if !now.Before(l.coolsAt) {
			f.current = i
			return
		}
	}
}

// Skip passes over the current model, which fails in a way that no error tells:
// it cools down, and the next that does not is current. It reports false, and
// changes nothing, if there is none.
func (f *Fallback) Skip() (to *model.Profile, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.o.Now()
	for i, l := range f.chain {
		if i != f.current && !now.Before(l.coolsAt) {
			f.chain[f.current].coolsAt = now.Add(f.o.Cooldown)
			f.current = i
			return l.m.Profile(), true
		}
	}
	return nil, false
}

// Len returns the number of models.
func (f *Fallback) Len() int { return len(f.chain) }

// Stream implements model.Model. Each switch is announced by a DeltaSwitch.
func (f *Fallback) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		w := walk{failed: make([]*model.Error, len(f.chain))}
		w.at = f.start()
		for {
			o := f.ask(ctx, &w, req, yield)
			e := o.failure(ctx)
			if e == nil || !isSpent(e.Class) {
				switch {
				case o.over:
					f.settle(w.at)
				case e != nil && e.Class == model.ContextOverflow:
					f.turn(w.at)
				}
				o.end(ctx, yield)
				return
			}
			next, ok := f.next(&w, e)
			if !ok {
				w.end(f, yield)
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

// ask asks the model at hand. A reply that the model or a filter refused to
// give is held back and counts as a failure, for another model may give it.
func (f *Fallback) ask(ctx context.Context, w *walk, req *model.Request, yield yielder) outcome {
	w.refusal = nil
	if w.at > 0 && f.o.System != nil {
		own := *req
		own.System = f.o.System(req.System, f.chain[w.at].m.Profile())
		req = &own
	}
	o := attempt(ctx, f.chain[w.at].m, req, func(d model.Delta, err error) bool {
		if d.Kind == model.DeltaDone && d.Reply.Finish == model.FinishContentFilter {
			held := d // d itself stays off the heap
			w.refusal = &held
			return true
		}
		return yield(d, err)
	})
	if w.refusal == nil {
		return o
	}
	p := f.chain[w.at].m.Profile()
	words := cmp.Or(w.refusal.Reply.Refusal, "the reply was withheld")
	o.over, o.err = false, &model.Error{
		Op: "stream reply", Class: model.ContentFilter, Provider: p.Provider, Model: p.Model, RetryAfter: -1, Err: errors.New(words),
	}
	return o
}

// walk is one call's way along the chain.
type walk struct {
	at     int
	failed []*model.Error
	order  []int
	// refusal is the reply of the model at hand, if that refused.
	refusal *model.Delta
}

// end ends a call that no model answered: with the refusal of the last one, if
// that refused.
func (w *walk) end(f *Fallback, yield yielder) {
	if w.refusal != nil {
		yield(*w.refusal, nil)
		return
	}
	yield(model.Delta{}, f.exhausted(w))
}

func isSpent(c model.Class) bool {
	switch c {
	case model.Auth, model.Billing, model.ModelNotFound, model.ContentFilter:
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

// turn makes the model current for which the prompt is too large: it is to be
// made to fit that one, and then asked again.
func (f *Fallback) turn(at int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.current = at
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
	if e.Class != model.ContentFilter {
		f.chain[w.at].coolsAt = now.Add(max(f.o.Cooldown, e.RetryAfter))
	}
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
