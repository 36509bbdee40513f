package rondo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/tool"
	"github.com/rondo-engine/rondo/window"
)

// DefaultThreshold is the share of a model's context window from which on a
// conversation is compressed.
const DefaultThreshold = 0.5

// ContextOptions say how a conversation is kept within the model's context
// window.
type ContextOptions struct {
	// Engine compresses; nil is a window.Compressor that leaves the last
	// ProtectLast messages as they are (0: window.DefaultProtectLast).
	Engine      window.Engine
	ProtectLast int
	// Threshold is the share of the window from which on the engine is asked;
	// 0 is DefaultThreshold. Off asks it only when a model refuses a prompt.
	Threshold float64
	Off       bool
	// Summariser says how models are asked for summaries.
	Summariser Aside
	// Ratios keep how models count; nil keeps that as long as the agent.
	Ratios window.Ratios
	// Memory is the tool that the model saves to memory with before a summary
	// is written; nil saves nothing.
	Memory *tool.Tool
	// Carry returns what has to be carried over a compression word for word,
	// beside the list of things to do; nil for nothing.
	Carry func(session string) []window.Section
	// Refresh returns the system prompt as it would be built now. It is asked
	// after a compression, when the cached prefix is lost anyhow; nil keeps
	// the session's.
	Refresh func() string
}

// withDefaults fills in what is not set.
func (o ContextOptions) withDefaults() ContextOptions {
	if o.Engine == nil {
		o.Engine = &window.Compressor{ProtectLast: o.ProtectLast}
	}
	o.Threshold = cmp.Or(o.Threshold, DefaultThreshold)
	if o.Ratios == nil {
		o.Ratios = &ratios{known: map[string]window.Ratio{}}
	}
	return o
}

// ratios keeps how models count in memory.
type ratios struct {
	mu    sync.Mutex
	known map[string]window.Ratio
}

func (r *ratios) Ratio(name string) window.Ratio {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[name]
}

func (r *ratios) SetRatio(name string, ratio window.Ratio) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known[name] = ratio
}

// space is what a session knows of how full its model's window is.
type space struct {
	gauge  window.Gauge
	keeper window.Keeper
	view   window.View
	model  string // whose ratio the gauge has
	system string // whose weight is fixed, without tools
	fixed  window.Weight
}

// look brings the view up to date with a history.
func (s *Session) look(h message.History) *window.View {
	sp, o := &s.space, &s.agent.opts
	p := s.model.Profile()
	if name := p.Provider + "/" + p.Model; name != sp.model {
		sp.model, sp.gauge.Ratio = name, o.Context.Ratios.Ratio(name)
	}
	sp.keeper.Engine = o.Context.Engine
	fixed := s.fixedWeight()
	v := &sp.view
	*v = window.View{History: h, Fixed: sp.gauge.Fixed(fixed), Tokens: sp.gauge.Tokens(fixed, h.Messages())}
	b := window.BoundsOf(p.ContextWindow, window.Room(p, o.MaxOutputTokens), v.Fixed, o.Context.Threshold)
	v.Room, v.Limit, v.Target = b.Room, b.Limit, b.Target
	return v
}

// fixedWeight is the weight of system prompt and tools.
func (s *Session) fixedWeight() window.Weight {
	if sp := &s.space; sp.system != s.system {
		sp.system, sp.fixed = s.system, window.Weight{Chars: window.Text(s.system)}
	}
	return s.space.fixed.Add(s.agent.toolWeight)
}

// counted takes over what the provider counted for a prompt, and returns what
// had been reckoned.
func (s *Session) counted(h message.History, reply *model.Reply) (reckoned int) {
	sp := &s.space
	s.look(h) // the model that answered may be another one
	fixed := s.fixedWeight()
	reckoned = sp.gauge.Tokens(fixed, h.Messages())
	before := sp.gauge.Ratio
	kept := int(reply.Usage.Output - reply.Usage.Reasoning)
	sp.gauge.Observe(fixed, h.Messages(), int(reply.Usage.Input), kept)
	if sp.gauge.Ratio != before {
		s.agent.opts.Context.Ratios.SetRatio(sp.model, sp.gauge.Ratio)
	}
	sp.keeper.Called()
	return reckoned
}

// Manage brings the history to a size that the model takes, if it is time, and
// lets hooks add to the request.
func (r *run) Manage(ctx context.Context, h message.History, overflow bool) (message.History, error) {
	h, err := r.makeRoom(ctx, h, overflow)
	if err != nil || overflow { // hooks have added to the request that is sent again
		return h, err
	}
	return r.inject(ctx, h)
}

// makeRoom brings the history to a size that the model takes, if it is time.
func (r *run) makeRoom(ctx context.Context, h message.History, overflow bool) (message.History, error) {
	s := r.s
	v := s.look(h)
	if overflow {
		return r.afterOverflow(ctx, v)
	}
	if s.agent.opts.Context.Off || v.Room <= 0 {
		return h, nil
	}
	due, urgent := s.space.keeper.Due(v, s.agent.opts.Now())
	r.noteState(ctx)
	if !due {
		return h, nil
	}
	v.Hard = urgent
	p, err := r.compress(ctx, v, TriggerThreshold)
	return p.history, err
}

// afterOverflow makes as much room as it can: the model refused the prompt.
func (r *run) afterOverflow(ctx context.Context, v *window.View) (message.History, error) {
	s, h := r.s, v.History
	room := v.Room
	if room <= 0 { // an unknown window: it is smaller than this
		room = v.Tokens
	}
	s.space.gauge.Overflowed(v.Tokens, room)
	v = s.look(h)
	if v.Room <= 0 {
		b := window.BoundsOf(room, room, v.Fixed, s.agent.opts.Context.Threshold)
		v.Room, v.Limit, v.Target = b.Room, b.Limit, b.Target
	}
	v.Hard = true
	p, err := r.compress(ctx, v, TriggerOverflow)
	if err == nil && p.failure != nil {
		return h, fmt.Errorf("%w: %w (about %d tokens, of which system prompt and tools take %d)", loop.ErrOverflow, p.failure, v.Tokens, v.Fixed)
	}
	return p.history, err
}

// endOf turns the errors of a keeper that end a run into the loop's.
func endOf(err error) error {
	switch {
	case errors.Is(err, window.ErrExhausted):
		return fmt.Errorf("%w: %w", loop.ErrExhausted, err)
	case errors.Is(err, window.ErrNoRoom):
		return fmt.Errorf("%w: %w: use fewer tools, a shorter system prompt, or a model with a larger context window", loop.ErrOverflow, err)
	}
	return err
}
