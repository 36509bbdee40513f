package rondo

import (
	"context"
	"fmt"
	"slices"

	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/window"
)

// ErrNothingToCompress says that a conversation is too short to be compressed.
var ErrNothingToCompress = window.ErrNothing

// CompressRequest says how a session is compressed between its turns.
type CompressRequest struct {
	// Focus is what is to be kept above all; empty for nothing.
	Focus string
	// Over leaves a session alone that fills no more than this share of the
	// model's window, and compresses others harder; 0 compresses in any case.
	// A gateway does that between turns, at 0.85.
	Over float64
	// Listeners take the events besides the agent's own.
	Listeners []Listener
}

// Compress compresses the session between its turns, as a user asks for it, and
// tells how that went. The conversation goes on in a session of its own, see ID.
// The error wraps ErrBusy when a run goes on, and ErrNothingToCompress when
// there is nothing to leave out; nothing was changed then. The zero Compaction
// says that there was no need, see CompressRequest.Over.
func (s *Session) Compress(ctx context.Context, req CompressRequest) (Compaction, error) {
	ctx, leave, err := s.desk.enter(ctx, &Request{})
	if err != nil {
		return Compaction{}, fmt.Errorf("compress session %s: %w", s.ID(), err)
	}
	defer leave()
	s.desk.close() // nothing can be said to it
	r := newRun(s, Request{})
	for _, l := range slices.Concat(s.agent.opts.Listeners, req.Listeners) {
		r.events.listen(l)
	}
	defer r.events.close()
	r.users = ctx
	told, err := r.compressIdle(ctx, req)
	s.seq = r.events.last()
	if err != nil {
		return told, fmt.Errorf("compress session %s: %w", s.id, err)
	}
	return told, nil
}

func (r *run) compressIdle(ctx context.Context, req CompressRequest) (Compaction, error) {
	s := r.s
	if err := s.load(ctx, r.req); err != nil {
		return Compaction{}, err
	}
	r.events.rename(s.id)
	r.system = s.system
	v := s.look(s.history)
	why := TriggerRequested
	if req.Over > 0 {
		if v.Room <= 0 || float64(v.Tokens) <= req.Over*float64(v.Room) {
			return Compaction{}, nil
		}
		why = TriggerBetween
	}
	v.Focus, v.Asked, v.Hard = req.Focus, req.Over == 0, req.Over > 0
	p, err := r.compress(ctx, v, why)
	s.history = p.history
	if err == nil {
		err = p.failure
	}
	if saveErr := r.saver.save(context.WithoutCancel(ctx), nil, store.Update{}); err == nil {
		err = saveErr
	}
	return p.told, err
}
