package snapshot

import (
	"context"
	"errors"
	"fmt"

	"github.com/rondo-engine/rondo/store"
)

// Shared is a Store for sessions that several machines share: beside the files
// of this machine, it keeps in the sessions' store what no message says, so that
// whoever resumes a session elsewhere knows how far its run was.
type Shared struct {
	Files Store
	// Sessions are where the messages are.
	Sessions Sessions
}

// Sessions is a store of sessions that keeps the state of their runs.
type Sessions interface {
	store.Store
	store.Stater
}

var (
	_ Store = Shared{}
	_ Heads = Shared{}
)

// Writer implements Store.
func (s Shared) Writer(id string) Writer { return &sharedWriter{s.Files.Writer(id), s.Sessions, id} }

type sharedWriter struct {
	Writer
	to store.Stater
	id string
}

// Write implements Writer.
func (w *sharedWriter) Write(ctx context.Context, s *Snapshot) error {
	if err := w.Writer.Write(ctx, s); err != nil {
		return err
	}
	state := *s
	state.System = "" // the session has it
	head, err := appendHead(nil, &state)
	if err == nil {
		err = w.to.SaveState(ctx, w.id, append(head, end...))
	}
	if err != nil {
		return fmt.Errorf("share snapshot of session %s: %w", w.id, err)
	}
	return nil
}

// Load implements Store. What the sessions' store has goes before the file,
// which may be older than what another machine did.
func (s Shared) Load(ctx context.Context, id string) (*Snapshot, error) {
	snap, err := s.shared(ctx, id)
	if err != nil {
		return nil, err
	}
	if snap == nil {
		return s.Files.Load(ctx, id)
	}
	session, msgs, err := s.Sessions.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	snap.System = session.System
	snap.Messages = msgs[:min(snap.Session.Messages, len(msgs))]
	return snap, nil
}

// LoadHead implements Heads.
func (s Shared) LoadHead(ctx context.Context, id string) (*Snapshot, error) {
	snap, err := s.shared(ctx, id)
	if err != nil || snap != nil && snap.LastMessage != "" {
		return snap, err
	}
	if h, ok := s.Files.(Heads); ok && snap == nil {
		return h.LoadHead(ctx, id)
	}
	return s.Load(ctx, id)
}

// shared is what the sessions' store has; nil for nothing.
func (s Shared) shared(ctx context.Context, id string) (*Snapshot, error) {
	head, err := s.Sessions.State(ctx, id)
	if head == nil && (err == nil || errors.Is(err, store.ErrNotFound)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	snap, err := Parse(head)
	if err != nil {
		return nil, fmt.Errorf("read the shared snapshot of session %s: %w", id, err)
	}
	return snap, nil
}
