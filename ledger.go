package rondo

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/window"
)

// noteCompressor is the kind of the notes that hold a window.State; the last of
// them holds.
const noteCompressor = "compressor"

// ledger is what a session keeps beside its messages: the notes that still
// hold, in order, and the state of the compressor that the last of them has.
type ledger struct {
	notes []store.Note
	state window.State
}

// note keeps a record in the session, and in the store if that takes any.
func (s *Session) note(ctx context.Context, kind string, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("note about session %s: %w", s.id, err)
	}
	n := store.Note{Time: s.agent.opts.Now(), Kind: kind, Body: body}
	if st, ok := s.agent.opts.Store.(store.Noter); ok && s.stored {
		if err := st.Note(ctx, s.id, n); err != nil {
			return err
		}
	}
	s.ledger.add(n)
	return nil
}

// add takes over a note. Snapshots may hold the list as it was.
func (l *ledger) add(n store.Note) {
	l.notes = append(slices.Clone(l.notes), n)
	if n.Kind == noteCompressor {
		last := len(l.notes) - 1
		l.notes = slices.DeleteFunc(l.notes[:last:last], func(o store.Note) bool { return o.Kind == noteCompressor })
		l.notes = append(l.notes, n)
	}
}

// noteState keeps the state of the compressor, if it changed.
func (s *Session) noteState(ctx context.Context) error {
	state := s.space.keeper.State
	if state == s.ledger.state {
		return nil
	}
	if err := s.note(ctx, noteCompressor, state); err != nil {
		return fmt.Errorf("the state of the compression is not kept: %w", err)
	}
	s.ledger.state = state
	return nil
}

// storedNotes returns the notes that the store has about the session.
func (s *Session) storedNotes(ctx context.Context) ([]store.Note, error) {
	st, ok := s.agent.opts.Store.(store.Noter)
	if !ok {
		return nil, nil
	}
	return st.Notes(ctx, s.id)
}

// recallNotes brings a history that was loaded to what a model saw last, and the
// compressor to where it stood. What cannot be understood is told of and left
// out: the messages themselves are there.
func (s *Session) recallNotes(notes []store.Note) {
	s.ledger, s.space.keeper.State = ledger{}, window.State{}
	shrunk, err := store.Shrunk(notes)
	for _, n := range notes {
		s.ledger.add(n)
		if n.Kind == noteCompressor {
			state := window.State{}
			err = errors.Join(err, json.Unmarshal(n.Body, &state))
			s.space.keeper.State, s.ledger.state = state, state
		}
	}
	if err != nil {
		s.notes = append(s.notes, fmt.Sprintf("session %s was not compressed as it was before: %v", s.id, err))
	}
	if len(shrunk) > 0 {
		s.history = s.history.Map(func(m *message.Message) *message.Message { return shrunk[m.ID] })
	}
	s.history = message.Reinject(s.history)
}

// shrink takes over a history in which messages shrank: the session stays, and a
// note says what they became. It reports false if the histories differ in more
// than that.
func (r *run) shrink(ctx context.Context, old, shrunk message.History) (h message.History, ok bool, err error) {
	before, after := old.Messages(), shrunk.Messages()
	if len(before) != len(after) {
		return old, false, nil
	}
	var w store.Shrinking
	i := -1
	h = old.Map(func(m *message.Message) *message.Message {
		i++
		if after[i] == m {
			return nil
		}
		c := *after[i]
		c.ID, c.Time = m.ID, m.Time
		if c.ID != "" {
			w.Messages = append(w.Messages, &c)
		}
		return &c
	})
	for i, m := range h.Messages() {
		if m == before[i] && after[i] != before[i] {
			return old, false, nil // it was not of the same kind
		}
	}
	if line, ok := r.a.opts.Store.(store.Continuer); ok && r.s.stored {
		if _, err := r.s.tip(ctx, line); err != nil {
			return old, true, err
		}
	}
	if err := r.s.note(context.WithoutCancel(ctx), store.NoteShrunk, w); err != nil {
		return old, true, err
	}
	return h, true, nil
}
