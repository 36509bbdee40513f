package rondo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/snapshot"
)

// What the model is told of calls whose results were lost.
const (
	// unknownText is for a call that was begun.
	unknownText = "[interrupted while it ran: the outcome is unknown. It may have taken effect, in whole or in part: check before repeating it]"
	// notRunText is for a call that was not.
	notRunText = "[interrupted before it was run]"
)

// openCall is a call at the end of the history that had no turn to end: the
// run broke off. result is its result, if that is known; begun says that it was
// begun and may have had effects.
type openCall struct {
	result *message.Message
	begun  bool
}

// load brings what was said before into memory, once.
func (s *Session) load(ctx context.Context, req Request) error {
	if err := s.claim(ctx); err != nil {
		return err
	}
	if req.History != nil {
		if err := s.adopt(ctx, req.History); err != nil {
			return err
		}
	}
	if s.loaded {
		return nil
	}
	s.system = s.agent.opts.System
	if !s.fresh {
		if err := s.fetch(ctx); err != nil {
			return fmt.Errorf("load session %s: %w", s.id, err)
		}
	}
	s.loaded = true
	return nil
}

// claim locks the session for as long as it is in use, if the store has locks.
// If it was continued after a compression, what continues it is locked.
func (s *Session) claim(ctx context.Context) error {
	if s.unlock != nil || s.loaded {
		return nil
	}
	if !s.fresh {
		if err := s.follow(ctx); err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("load session %s: %w", s.id, err)
		}
	}
	l, ok := s.agent.opts.Store.(store.Locker)
	if !ok {
		return nil
	}
	var err error
	s.unlock, err = l.Lock(ctx, s.id)
	return err
}

// moveTo makes the session ready to go on as child, a new session of the store
// with the given messages.
func (s *Session) moveTo(ctx context.Context, child store.Session, msgs []*message.Message) error {
	if l, ok := s.agent.opts.Store.(store.Locker); ok {
		unlock, err := l.Lock(ctx, child.ID)
		if err != nil {
			return err
		}
		if s.unlock != nil {
			_ = s.unlock() // the lock ends with its file, which is closed in any case
		}
		s.unlock = unlock
	}
	s.snaps.failed = s.snaps.close() // for the next checkpoint to tell
	s.meta, s.said, s.nextID = child, msgs, len(msgs)+1
	s.ledger = ledger{}
	return nil
}

// fetch takes the session from the store; where that does not have it, from its
// snapshot.
func (s *Session) fetch(ctx context.Context) error {
	st := s.agent.opts.Store
	if st == nil {
		return s.fromSnapshot(ctx, nil)
	}
	meta, msgs, err := st.Load(ctx, s.id)
	if d, ok := errors.AsType[*store.DamagedError](err); ok {
		s.notes = append(s.notes, d.Error())
		err = nil
	}
	if errors.Is(err, store.ErrNotFound) {
		return s.fromSnapshot(ctx, err)
	}
	if err != nil {
		return err
	}
	s.stored = true
	if meta.Messages == 0 && s.agent.opts.Snapshots != nil { // given back, but for its messages
		if snap, err := s.agent.opts.Snapshots.Load(ctx, s.id); err == nil && len(snap.Messages) > 0 {
			return s.fromSnapshot(ctx, nil)
		}
	}
	notes, err := s.storedNotes(ctx)
	if err != nil {
		return err
	}
	return s.restore(ctx, meta, msgs, notes)
}

// fromSnapshot takes the session from its snapshot and gives it to the store, if
// there is one. Without a snapshot it returns what the store said.
func (s *Session) fromSnapshot(ctx context.Context, said error) error {
	if s.agent.opts.Snapshots == nil {
		return said
	}
	snap, err := s.agent.opts.Snapshots.Load(ctx, s.id)
	if errors.Is(err, snapshot.ErrNotFound) {
		return said
	}
	if err != nil {
		return errors.Join(said, err)
	}
	meta, msgs := snap.Stored(), snap.Messages
	if st := s.agent.opts.Store; st != nil {
		if err := s.giveBack(ctx, st, snap, meta); err != nil {
			return err
		}
	}
	return s.restore(ctx, meta, msgs, snap.Notes)
}

// giveBack makes a session of the store of a snapshot. That the journal knows
// nothing of its calls is noted before they are there.
func (s *Session) giveBack(ctx context.Context, st store.Store, snap *snapshot.Snapshot, meta store.Session) error {
	if err := st.Create(ctx, meta); err != nil && !s.stored {
		return err
	}
	s.stored = true
	lost, err := json.Marshal(store.Unjournalled{Messages: len(snap.Messages)})
	if err != nil {
		return err
	}
	snap.Notes = append(snap.Notes, store.Note{Time: s.agent.opts.Now(), Kind: store.NoteUnjournalled, Body: lost})
	if n, ok := st.(store.Noter); ok {
		if err := n.Note(ctx, s.id, snap.Notes...); err != nil {
			return err
		}
	}
	return st.Append(ctx, s.id, snap.Messages, store.Update{})
}

// restore takes over what was stored. Calls that were open when the session
// broke off stay open; everything else that is amiss is mended, and what was
// mended is recorded, so that this happens once.
func (s *Session) restore(ctx context.Context, meta store.Session, msgs []*message.Message, notes []store.Note) error {
	s.meta, s.said = meta, msgs
	s.nextID = max(meta.Messages, len(msgs)) + 1
	if err := s.replayPrompt(ctx, meta); err != nil {
		return err
	}
	mended, err := s.mended(ctx, msgs)
	if err != nil {
		return err
	}
	said := slices.DeleteFunc(slices.Clone(mended), func(m *message.Message) bool {
		return m.Role == message.Assistant && m.Status == message.StatusInterrupted
	})
	history, results, changes := message.NormaliseOpen(said)
	s.history = history
	s.todo.set(carriedTodos(history.Messages()))
	s.todo.recall(history.Messages(), s.agent.todoArguments)
	if err := s.mend(ctx, mended, results, changes); err != nil {
		return err
	}
	s.recallNotes(notes)
	if err := s.readLeft(ctx); err != nil {
		s.notes = append(s.notes, err.Error())
	}
	s.takeLeft()
	return s.findOpen(ctx, results)
}

// mended returns msgs as they were mended at loads before.
func (s *Session) mended(ctx context.Context, msgs []*message.Message) ([]*message.Message, error) {
	m, ok := s.agent.opts.Store.(store.Mender)
	if !ok || !s.stored || len(msgs) < s.meta.Messages {
		return msgs, nil
	}
	repairs, err := m.Repairs(ctx, s.id)
	if err != nil {
		return nil, err
	}
	return store.Mended(msgs, repairs), nil
}

// mend records what the history has that before does not. That results stand in
// the order in which they came is no damage: they are saved so.
func (s *Session) mend(ctx context.Context, before, results []*message.Message, changes []message.Change) error {
	changes = slices.DeleteFunc(changes, func(c message.Change) bool { return c.Rule == message.RuleMoved })
	if len(changes) == 0 {
		return nil
	}
	after := slices.Clone(s.history.Messages())
	for i, m := range slices.Concat(after, results) {
		if m != nil && m.ID == "" {
			m.ID = fmt.Sprintf("r%d.%d", len(s.said), i)
		}
		if m != nil && i >= len(after) {
			after = append(after[:len(after):len(after)], m)
		}
	}
	s.notes = append(s.notes, fmt.Sprintf("the session's history was mended in %d places, the first: %s", len(changes), changes[0].Detail))
	m, ok := s.agent.opts.Store.(store.Mender)
	if !ok || !s.stored || len(s.said) < s.meta.Messages {
		return nil
	}
	return m.Mend(ctx, s.id, store.Repair{
		Time: s.agent.opts.Now(), Seen: len(s.said), Changes: changes, Edits: store.Edits(before, after),
	})
}

// findOpen finds out what became of the calls at the end of the history. Where no
// journal was kept, any that is not read-only may have been begun.
func (s *Session) findOpen(ctx context.Context, results []*message.Message) error {
	s.open = nil
	if results == nil {
		return nil
	}
	asked := s.history.Last()
	id, place := s.asked(asked)
	var begun []int
	journal, ok := s.agent.opts.Store.(store.Journal)
	if ok = ok && s.stored && place >= unjournalled(s.ledger.notes); ok {
		effects, err := journal.Effects(ctx, s.id, id)
		if err != nil {
			return err
		}
		for _, e := range effects {
			begun = append(begun, e.Index)
		}
	}
	for i, c := range asked.Calls() {
		o := openCall{result: results[i], begun: slices.Contains(begun, i)}
		if t, err := s.agent.registry.Find(c.Name); !ok && (err != nil || !t.ReadOnly) {
			o.begun = true
		}
		s.open = append(s.open, o)
	}
	return nil
}

// asked is the id under which the last message with calls was saved, also if it
// was mended since, and its place among the messages.
func (s *Session) asked(m *message.Message) (id string, place int) {
	for i, said := range slices.Backward(s.said) {
		if said.HasCalls() && said.Status != message.StatusInterrupted {
			return said.ID, i
		}
	}
	return m.ID, len(s.said)
}

// closeOpen answers the calls at the end of the history that have no result:
// something else was said instead of going on with them.
func (s *Session) closeOpen(ctx context.Context) error {
	if s.open == nil {
		return nil
	}
	calls := s.history.Last().Calls()
	results := make([]*message.Message, len(calls))
	for i, c := range calls {
		o := s.open[i]
		switch {
		case o.result != nil:
			results[i] = o.result
		case o.begun:
			results[i] = message.NewResult(c, message.StatusInterrupted, unknownText)
		default:
			results[i] = message.NewResult(c, message.StatusInterrupted, notRunText)
		}
		var err error
		if s.history, err = s.history.Append(results[i]); err != nil {
			return err
		}
	}
	s.open = nil
	return s.save(ctx, results, store.Update{})
}
