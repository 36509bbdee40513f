package rondo

import (
	"context"
	"fmt"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

// goOn begins the session in which a compressed conversation goes on, and
// returns its history. Without a store that keeps lines of sessions, the session
// stays the same.
func (r *run) goOn(ctx context.Context, h message.History) (message.History, error) {
	s, o := r.s, &r.a.opts
	line, ok := o.Store.(store.Continuer)
	if !ok || !s.stored {
		return h, nil
	}
	parent, err := s.tip(ctx, line)
	if err != nil {
		return h, err
	}
	system := s.system
	if o.Context.Refresh != nil && r.req.System == "" {
		system = o.Context.Refresh()
	}
	copies := make([]*message.Message, h.Len())
	for i, m := range h.Messages() {
		c := *m
		c.ID = messageID(i + 1)
		if c.Time.IsZero() {
			c.Time = o.Now()
		}
		if i > 0 && c.Role == message.Assistant {
			c.Injected = copies[i-1].InjectedText() // what it answered may be gone
		}
		copies[i] = &c
	}
	p := s.model.Profile()
	child := store.Session{
		ID: o.NewID(), Title: parent.Title, Parent: s.id, Workspace: parent.Workspace,
		Provider: p.Provider, Model: p.Model, System: system, CreatedAt: o.Now(),
	}
	if err := line.Continue(ctx, child, copies); err != nil {
		return h, err
	}
	if err := s.moveTo(ctx, child, copies); err != nil {
		return h, err
	}
	s.rename(child.ID)
	r.continued(ctx, parent.ID, child.ID)
	s.system, r.system = system, system
	r.result.SessionID = child.ID
	r.events.rename(child.ID)
	history, _ := message.Normalise(copies)
	return history, nil
}

// tip returns the session itself. The error wraps store.ErrContinued if another
// process went on with it meanwhile.
func (s *Session) tip(ctx context.Context, line store.Continuer) (store.Session, error) {
	tip, err := line.Tip(ctx, s.id)
	if err == nil && tip.ID != s.id {
		err = fmt.Errorf("%w: it goes on as %s", store.ErrContinued, tip.ID)
	}
	return tip, err
}

// follow turns to the session in which s goes on after compressions, if there
// is one.
func (s *Session) follow(ctx context.Context) error {
	line, ok := s.agent.opts.Store.(store.Continuer)
	if !ok {
		return nil
	}
	tip, err := line.Tip(ctx, s.id)
	if err != nil || tip.ID == s.id {
		return err
	}
	if !s.rename(tip.ID) {
		return fmt.Errorf("session %s goes on as %s: %w", s.id, tip.ID, ErrBusy)
	}
	return nil
}

// rename gives s the id of the session that continues it. Those who know it by
// the old one still find it. It reports false if that session is in use apart
// from s.
func (s *Session) rename(id string) bool {
	live := &s.agent.live
	live.mu.Lock()
	defer live.mu.Unlock()
	if other := live.byID[id]; other != nil && other != s {
		return false
	}
	s.id = id
	if live.byID != nil {
		live.byID[id] = s
	}
	return true
}

// replayPrompt takes over the system prompt that a session began with, byte for
// byte. In another workspace or with another model the agent's own counts, which
// is stored to be replayed from now on.
func (s *Session) replayPrompt(ctx context.Context, meta store.Session) error {
	p, workspace := s.model.Profile(), s.agent.opts.Workspace
	moved := workspace != "" && meta.Workspace != "" && workspace != meta.Workspace
	if meta.System != "" && meta.Model == p.Model && !moved {
		s.system = meta.System
		return nil
	}
	if !s.stored || moved { // where a session works is not changed by looking at it from elsewhere
		return nil
	}
	err := s.agent.opts.Store.Append(ctx, s.id, nil, store.Update{System: s.system, Provider: p.Provider, Model: p.Model})
	if err != nil {
		return fmt.Errorf("store the prompt of session %s: %w", s.id, err)
	}
	return nil
}
