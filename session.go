package rondo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rondo-engine/rondo/guard"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/resilient"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/snapshot"
)

// Session is one conversation. Its methods are safe for concurrent use; one run
// goes on at a time, and the goroutine of that run owns all that the
// conversation consists of.
type Session struct {
	agent *Agent
	// model is the agent's, with a place of its own in a chain of fallbacks.
	model model.Model
	id    string
	fresh bool // the agent made the id: the store cannot know it yet
	users int  // guarded by agent.live.mu
	// greeted says that hooks were told that the session begins.
	greeted atomic.Bool

	// title is what the session is called since it was stored, if that changed.
	title atomic.Pointer[string]

	// parent is the session that delegated this one; empty for none.
	parent string

	// grants are what a person allowed for the session.
	grants guard.Grants

	desk desk
	todo todoList

	// What follows is owned by the holder of the turn.
	loaded  bool
	stored  bool // the store has the session
	unlock  func() error
	meta    store.Session
	history message.History
	open    []openCall         // the calls at the end of history, as loaded
	said    []*message.Message // all that is stored
	ledger  ledger
	snaps   snapshots
	left    *snapshot.Snapshot // where the session stood, as loaded; nil if unknown
	notes   []string           // what is to be told of the load
	system  string
	cache   model.Cache
	space   space
	nextID  int
	seq     int64
}

// ErrNothingToDo says that a run was asked to go on with a conversation that
// has come to its end.
var ErrNothingToDo = errors.New("there is nothing to go on with: say what to do next")

func newSession(a *Agent, id string) *Session {
	s := &Session{agent: a, model: a.opts.Model, id: id, nextID: 1}
	if f, ok := s.model.(*resilient.Fallback); ok {
		s.model = f.Conversation()
	}
	if id == "" {
		s.id, s.fresh = a.opts.NewID(), true
	}
	return s
}

// ID returns the session's id. It changes when the conversation is compressed,
// since that goes on in a session of its own.
func (s *Session) ID() string {
	s.agent.live.mu.Lock()
	defer s.agent.live.mu.Unlock()
	return s.id
}

// Run runs one turn to its end, as Agent.Run does. What it does when another run
// of the session goes on is for Request.Busy to say.
func (s *Session) Run(ctx context.Context, req Request) (Result, error) {
	return s.run(ctx, req, nil)
}

// Stream runs one turn and yields its events, as Agent.Stream does.
func (s *Session) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		q := newQueue()
		var err error
		var wg sync.WaitGroup
		wg.Go(func() {
			defer q.close()
			_, err = s.run(ctx, req, q)
		})
		defer wg.Wait()
		defer cancel()
		done := false
		for ev := range q.all(context.Background()) {
			done = done || ev.Type == EventDone
			if !yield(ev, nil) {
				return
			}
		}
		wg.Wait()
		if !done && err != nil {
			yield(Event{}, err)
		}
	}
}

// Cancel stops the run that goes on; the reply in flight is thrown away. When
// none goes on it does nothing. It does not wait for the end.
func (s *Session) Cancel() { s.desk.stop(errStopped) }

// Steer says something to the run that goes on, without stopping it: the model
// reads it with the next results of its tools, or as the next message if it has
// finished. It reports whether a run goes on that listens; what that has not
// read when it ends is in Result.Unread.
func (s *Session) Steer(text string) bool { return s.desk.leave(&s.desk.steering, text) }

// FollowUp says what the run that goes on is to do next: when the model has
// finished (end_turn), text is the next user message of the same run. Several
// are taken in order, one at a time. It reports whether a run goes on that
// listens; what that has not come to when it ends is in Result.Unread.
func (s *Session) FollowUp(text string) bool { return s.desk.leave(&s.desk.following, text) }

// run claims the session, runs one turn and gives the session back.
func (s *Session) run(ctx context.Context, req Request, q *queue) (Result, error) {
	runCtx, leave, err := s.desk.enter(ctx, &req)
	if err != nil {
		return Result{SessionID: s.id}, fmt.Errorf("session %s: %w", s.id, err)
	}
	defer leave()
	s.retain()
	defer s.Close()
	r := newRun(s, req)
	for _, l := range slices.Concat(s.agent.opts.Listeners, req.Listeners) {
		r.events.listen(l)
	}
	if q != nil {
		r.events.queues = append(r.events.queues, q)
	}
	defer r.events.close()
	return r.do(runCtx)
}

// adopt begins with a history that the caller brought. It is saved with a new
// session, under ids of its own.
func (s *Session) adopt(ctx context.Context, msgs []*message.Message) error {
	own := make([]*message.Message, len(msgs))
	for i, m := range msgs {
		c := *m
		c.ID = ""
		own[i] = &c
	}
	s.history, _ = message.Normalise(own)
	s.history = message.Reinject(s.history)
	if !s.loaded {
		s.system, s.loaded = s.agent.opts.System, true
	}
	if !s.fresh || s.stored {
		return nil
	}
	return s.save(ctx, s.history.Messages(), store.Update{})
}

// save makes messages durable and gives them their ids. A message that has one
// was saved before; one that could not be saved has none.
func (s *Session) save(ctx context.Context, msgs []*message.Message, u store.Update) error {
	return s.record(ctx, msgs, u, nil)
}

// record is save; it also writes effects into the journal.
func (s *Session) record(ctx context.Context, msgs []*message.Message, u store.Update, effects []effect) error {
	if slices.ContainsFunc(msgs, func(m *message.Message) bool { return m.ID != "" }) {
		msgs = slices.DeleteFunc(slices.Clone(msgs), func(m *message.Message) bool { return m.ID != "" })
	}
	for i, m := range msgs {
		m.ID = messageID(s.nextID + i)
		if m.Time.IsZero() {
			m.Time = s.agent.opts.Now()
		}
	}
	if err := s.write(ctx, msgs, u, journalled(effects)); err != nil {
		for _, m := range msgs {
			m.ID = ""
		}
		return err
	}
	s.nextID += len(msgs)
	s.said = append(s.said, msgs...)
	s.meta.Usage = s.meta.Usage.Add(u.Usage)
	s.meta.Calls += u.Calls
	s.meta.CostUSD += u.CostUSD
	return nil
}

// checkSaved has the session loaded anew for its next run if the last one ended
// before all that was said could be saved: what counts is what the store has.
func (s *Session) checkSaved() {
	last := s.history.Last()
	if s.stored && last != nil && last.ID == "" {
		s.loaded, s.fresh = false, false
	}
}

// write hands messages to the store, if there is one, and the session with the
// first of them.
func (s *Session) write(ctx context.Context, msgs []*message.Message, u store.Update, effects []store.Effect) error {
	if len(msgs) == 0 && len(effects) == 0 && u == (store.Update{}) {
		return nil
	}
	s.introduce(msgs)
	st := s.agent.opts.Store
	if st == nil {
		return nil
	}
	if !s.stored {
		started, err := s.create(ctx, msgs, u, effects)
		if err != nil {
			return fmt.Errorf("create session %s: %w", s.id, err)
		}
		s.stored = true
		s.entitle(msgs)
		if started {
			return nil
		}
	}
	var err error
	if j, ok := st.(store.Journal); ok && len(effects) > 0 {
		err = j.Record(ctx, s.id, msgs, u, effects)
	} else {
		err = st.Append(ctx, s.id, msgs, u)
	}
	if err != nil {
		return fmt.Errorf("save session %s: %w", s.id, err)
	}
	return nil
}

// introduce says what the session is, when the first messages are known.
func (s *Session) introduce(msgs []*message.Message) {
	if s.meta.ID != "" {
		return
	}
	p := s.model.Profile()
	now := s.agent.opts.Now()
	s.meta = store.Session{
		ID: s.id, Title: titleOf(msgs), Workspace: s.agent.opts.Workspace, Provider: p.Provider, Model: p.Model,
		System: s.system, CreatedAt: now, UpdatedAt: now, Parent: s.parent, Relation: relation(s.parent),
	}
}

// create adds the session to the store. Some stores take its first messages in
// the same step, and it has started then.
func (s *Session) create(ctx context.Context, msgs []*message.Message, u store.Update, effects []store.Effect) (started bool, err error) {
	if st, ok := s.agent.opts.Store.(store.Starter); ok && len(effects) == 0 {
		return true, st.Start(ctx, s.meta, msgs, u)
	}
	return false, s.agent.opts.Store.Create(ctx, s.meta)
}

// say puts the user's message at the end of the history. What an interruption
// left open is closed first, so that the turn is valid; a message that was
// never answered is joined with the new one.
func (s *Session) say(ctx context.Context, m *message.Message) error {
	if err := s.closeOpen(ctx); err != nil {
		return err
	}
	fresh := []*message.Message{m}
	last := s.history.Last()
	switch {
	case last != nil && last.Role == message.User:
		if err := s.save(ctx, fresh, store.Update{Running: true}); err != nil {
			return err
		}
		both, _ := message.Normalise([]*message.Message{last.Clean(), m})
		joined := *both.Last()
		joined.ID = last.ID
		var err error
		s.history, err = s.history.Replace(s.history.Len()-1, &joined)
		return err
	case last != nil && last.Role == message.Tool:
		between := message.NewAssistant(message.Text(message.InterruptedText))
		between.Injected = last.InjectedText()
		fresh = []*message.Message{between, m}
	}
	for _, m := range fresh {
		var err error
		if s.history, err = s.history.Append(m); err != nil {
			return err
		}
	}
	return s.save(ctx, fresh, store.Update{Running: true})
}
