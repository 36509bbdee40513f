package resilient

import (
	"context"
	"iter"
	"net/url"
	"sync"

	"github.com/rondo-engine/rondo/model"
)

// Bounds are limits of a model in tokens that its provider gave away when it
// refused a request; 0 for what is not known.
type Bounds struct {
	ContextWindow int `json:"context_window,omitzero"`
	MaxOutput     int `json:"max_output_tokens,omitzero"`
}

// lower returns the smaller of each of b and other.
func (b Bounds) lower(other Bounds) Bounds {
	return Bounds{ContextWindow: least(b.ContextWindow, other.ContextWindow), MaxOutput: least(b.MaxOutput, other.MaxOutput)}
}

// least returns the smaller of a and b, of which 0 is none.
func least(a, b int) int {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// BoundsOptions say where a Limits keeps what is learned. Its functions are
// called one at a time.
type BoundsOptions struct {
	// Load returns what was learned before, by BoundsKey. It is called once,
	// when a limit is first asked for; nil has nothing.
	Load func() (map[string]Bounds, error)
	// Save keeps what was learned of a model; nil keeps it in memory alone.
	Save func(key string, b Bounds) error
	// Warn is told of what could not be loaded or saved, which stops no run;
	// nil leaves that unsaid.
	Warn func(error)
}

// Limits remembers the context windows and caps on replies that providers give
// away in their errors, for all models that it wraps. It is safe for concurrent
// use.
type Limits struct {
	o      BoundsOptions
	load   sync.Once
	mu     sync.Mutex
	before map[string]Bounds // by earlier processes
	now    map[string]Bounds // by this one
}

// NewLimits makes an empty memory over what o keeps.
func NewLimits(o BoundsOptions) *Limits {
	return &Limits{o: o, now: map[string]Bounds{}}
}

// BoundsKey names the model of p at its endpoint: provider/model@host.
func BoundsKey(p *model.Profile) string {
	key := p.Provider + "/" + p.Model
	if u, err := url.Parse(p.BaseURL); err == nil && u.Host != "" {
		key += "@" + u.Host
	}
	return key
}

// Fixed says which limits a user has set: they outweigh what earlier processes
// have learned.
type Fixed struct{ ContextWindow, MaxOutput bool }

// Wrap returns m held to what is known of its limits: its profile tells a
// context window no larger than the provider's, and its requests ask for no
// longer replies. A request that is refused for the length of the reply it asks
// for is sent once more with the one that the provider names.
func (l *Limits) Wrap(m model.Model, fixed Fixed) model.Model {
	return &limited{m: m, limits: l, fixed: fixed, key: BoundsKey(m.Profile())}
}

// of returns what is known of the limits of a model.
func (l *Limits) of(key string, fixed Fixed) Bounds {
	l.load.Do(func() {
		if l.o.Load == nil {
			return
		}
		before, err := l.o.Load()
		l.warn(err)
		l.mu.Lock()
		l.before = before
		l.mu.Unlock()
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.before[key]
	if fixed.ContextWindow {
		before.ContextWindow = 0
	}
	if fixed.MaxOutput {
		before.MaxOutput = 0
	}
	return before.lower(l.now[key])
}

// learn takes over what an error gave away.
func (l *Limits) learn(key string, b Bounds) {
	if b == (Bounds{}) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.now[key].lower(b)
	if known == l.now[key] {
		return
	}
	l.now[key] = known
	if known.ContextWindow < leastKept {
		known.ContextWindow = 0
	}
	if l.o.Save != nil && known != (Bounds{}) {
		l.warn(l.o.Save(key, known))
	}
}

// leastKept is the smallest context window in tokens that is kept for later
// processes: in less, a prompt with tools does not fit, and what may have been a
// slip of the provider would keep each of them from asking.
const leastKept = 8192

func (l *Limits) warn(err error) {
	if err != nil && l.o.Warn != nil {
		l.o.Warn(err)
	}
}

// leastReply is the room for a reply, in tokens, that is worth asking again for.
const leastReply = 256

// limited is a model held to known limits.
type limited struct {
	m      model.Model
	limits *Limits
	fixed  Fixed
	key    string

	mu      sync.Mutex
	held    Bounds
	profile *model.Profile // of m, with held
}

// Profile returns the profile of the model inside with the limits that are
// known by now. It is the same as long as they are.
func (m *limited) Profile() *model.Profile {
	b := m.limits.of(m.key, m.fixed)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.profile == nil || m.held != b {
		p := *m.m.Profile()
		p.ContextWindow = least(p.ContextWindow, b.ContextWindow)
		p.MaxOutput = least(p.MaxOutput, b.MaxOutput)
		m.profile, m.held = &p, b
	}
	return m.profile
}

// Stream implements model.Model. The second attempt is announced by a
// DeltaRetry without a wait.
func (m *limited) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		r := shorter(req, m.asked(req), m.limits.of(m.key, m.fixed).MaxOutput)
		o := attempt(ctx, m.m, r, yield)
		e := o.failure(ctx)
		if e == nil {
			o.end(ctx, yield)
			return
		}
		m.limits.learn(m.key, lasting(e))
		again := r
		if e.LearnedMaxOutput >= leastReply {
			again = shorter(r, m.asked(r), e.LearnedMaxOutput)
		}
		if again == r || !o.announce(yield, model.DeltaRetry, &model.Notice{Err: e, Attempt: 1}) {
			o.end(ctx, yield)
			return
		}
		o = attempt(ctx, m.m, again, yield)
		o.end(ctx, yield)
	}
}

// asked returns the length of reply that req asks for; 0 where the adapter
// chooses or sets no limit.
func (m *limited) asked(req *model.Request) int {
	if req.MaxOutputTokens > 0 {
		return req.MaxOutputTokens
	}
	return m.m.Profile().MaxOutput
}

// shorter returns req with at most most tokens of reply, req itself if it asks
// for no more or most is unknown.
func shorter(req *model.Request, asked, most int) *model.Request {
	if most <= 0 || asked > 0 && asked <= most {
		return req
	}
	r := *req
	r.MaxOutputTokens = most
	return &r
}

// lasting returns what of e holds for other requests, too: what room one prompt
// leaves or one balance pays for does not.
func lasting(e *model.Error) Bounds {
	b := Bounds{ContextWindow: e.LearnedWindow}
	if e.Class == model.InvalidRequest {
		b.MaxOutput = e.LearnedMaxOutput
	}
	return b
}
