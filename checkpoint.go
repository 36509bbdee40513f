package rondo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rondo-engine/rondo/guard"
	"github.com/rondo-engine/rondo/internal/stack"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/snapshot"
	"github.com/rondo-engine/rondo/window"
)

// resume goes on with a session whose last turn broke off.
func (r *run) resume(ctx context.Context) error {
	s := r.s
	last := s.history.Last()
	if last == nil || s.open == nil && (last.Role == message.Assistant || last.Role == message.System) {
		return fmt.Errorf("session %s: %w", s.id, ErrNothingToDo)
	}
	if s.left == nil {
		if err := s.readLeft(ctx); err != nil {
			r.events.emit(Event{Type: EventStatus, Text: err.Error()})
		}
	}
	if err := r.recall(); err != nil {
		r.events.emit(Event{Type: EventStatus, Text: err.Error()})
	}
	s.left = nil
	for _, o := range s.open {
		if o.result == nil {
			break
		}
		var err error
		if s.history, err = s.history.Append(o.result); err != nil {
			return err
		}
	}
	return s.save(ctx, nil, store.Update{Running: true})
}

// Checkpoint writes a snapshot after a round, as the strategy says.
func (r *run) Checkpoint(_ context.Context, s *loop.State) error {
	ranTools := s.History.Last().Role == message.Tool
	r.toolRounds = r.toolRounds || ranTools
	switch strategy := r.a.opts.Snapshot; {
	case r.a.opts.Snapshots == nil, strategy == snapshot.Manual, strategy == snapshot.EveryToolRound && !ranTools:
		return nil
	}
	if err := r.s.snaps.failure(); err != nil {
		return r.snapshotFailed(err)
	}
	r.offer(s, "")
	return nil
}

// carryOver writes where the run stands after the conversation went on as another
// session, whose snapshot is its first.
func (r *run) carryOver() {
	if r.a.opts.Snapshots != nil && r.a.opts.Snapshot != snapshot.Manual && r.state.Rounds > 0 {
		r.offer(&r.state, "")
	}
}

// lastSnapshot writes where the session stands after the run.
func (r *run) lastSnapshot(ctx context.Context, o loop.Outcome) error {
	strategy := r.a.opts.Snapshot
	if r.a.opts.Snapshots == nil || strategy == snapshot.Manual || strategy == snapshot.EveryToolRound && !r.toolRounds {
		return nil
	}
	r.offer(&r.state, o.Reason)
	if err := r.s.snaps.wait(); err != nil {
		return r.snapshotFailed(err)
	}
	return nil
}

// snapshotFailed ends the run, unless the store has the session anyway.
func (r *run) snapshotFailed(err error) error {
	if r.a.opts.Store == nil {
		return err
	}
	r.events.emit(Event{Type: EventStatus, Text: err.Error()})
	return nil
}

// offer hands a snapshot to be written.
func (r *run) offer(state *loop.State, reason loop.Reason) {
	snap := r.s.snapshot()
	snap.TaskID, snap.Reason = r.taskID, string(reason)
	snap.state, snap.ofRun = *state, true // what it points to does not change
	snap.state.History = message.History{}
	r.s.snaps.offer(snap)
}

// snapshot is where the session stands, but for what only a run knows.
func (s *Session) snapshot() *offered {
	if s.snaps.w == nil {
		s.snaps.w = s.agent.opts.Snapshots.Writer(s.id)
	}
	snap := s.snaps.draft()
	*snap = offered{Snapshot: snapshot.Snapshot{
		SavedAt: s.agent.opts.Now(), Strategy: s.agent.opts.Snapshot, Session: snapshot.SessionOf(s.meta),
		System: s.system, Messages: slices.Clip(s.said), Notes: s.ledger.notes,
	}}
	snap.todo = s.todo.get()
	if title := s.title.Load(); title != nil {
		snap.Session.Title = *title
	}
	s.describe(snap)
	for _, c := range s.history.OpenCalls() {
		snap.OpenCalls = append(snap.OpenCalls, snapshot.OpenCall{ID: c.ID, Name: c.Name})
	}
	return snap
}

// SaveSnapshot writes a snapshot of the session as it stands, whatever the
// strategy. It refuses with ErrBusy while a run goes on.
func (s *Session) SaveSnapshot(ctx context.Context) error {
	if s.agent.opts.Snapshots == nil {
		return errors.New("this agent keeps no snapshots: Options.Snapshots is nil")
	}
	ctx, leave, err := s.desk.enter(ctx, &Request{})
	if err != nil {
		return fmt.Errorf("session %s: %w", s.id, err)
	}
	defer leave()
	s.retain()
	defer s.Close()
	if err := s.load(ctx, Request{}); err != nil {
		return err
	}
	if len(s.said) == 0 {
		return fmt.Errorf("session %s: %w: it has no messages yet", s.id, ErrNothingToDo)
	}
	snap := s.snapshot()
	if old, err := s.agent.opts.Snapshots.Load(ctx, s.id); err == nil && old.Session.Messages == len(s.said) {
		snap.Run, snap.TaskID, snap.Reason = old.Run, old.TaskID, old.Reason
	}
	s.snaps.offer(snap)
	return s.snaps.wait()
}

// release gives up what the session holds as long as it is in use.
func (s *Session) release() {
	_ = s.snaps.close() // what it could not clean up does no harm
	if s.unlock != nil {
		_ = s.unlock() // the lock ends with its file, which is closed in any case
		s.unlock = nil
	}
	if s.stored { // another process may go on with the session
		s.loaded, s.fresh = false, false
	}
}

// offered is a snapshot that is to be written. Most are replaced before that, so
// that what has to be encoded is encoded then.
type offered struct {
	snapshot.Snapshot
	ofRun   bool // state is in place of Run
	state   loop.State
	todo    []Todo
	granted []guard.Grant
	model   string // whose tokens ratio is about
	ratio   window.Ratio
}

// encode completes the snapshot.
func (o *offered) encode() (*snapshot.Snapshot, error) {
	var err error
	if o.ofRun {
		if o.Run, err = json.Marshal(&o.state); err != nil {
			return nil, fmt.Errorf("snapshot of session %s: %w", o.Session.ID, err)
		}
	}
	if len(o.todo) > 0 {
		o.Todo, _ = json.Marshal(o.todo) // strings and numbers alone always encode
	}
	if len(o.granted) > 0 {
		o.Approvals, _ = json.Marshal(o.granted)
	}
	if o.ratio != (window.Ratio{}) {
		o.Calibration, _ = json.Marshal(map[string]window.Ratio{o.model: o.ratio})
	}
	return &o.Snapshot, nil
}

// snapshots writes the snapshots of a session, one at a time and while the run
// goes on. One that was not begun when the next is there is left out: that holds
// all that it did.
type snapshots struct {
	w snapshot.Writer

	mu     sync.Mutex
	next   *offered
	spare  *offered      // one that was replaced, to be used again
	busy   chan struct{} // closed when nothing is left to write; nil before
	last   time.Time     // when the last one was written
	hurry  chan struct{} // holds a token when somebody waits
	failed error
}

// snapshotPause is the least time between two snapshots of a run. What they lack
// meanwhile is in the store, and rounds that take less than this would spend
// most of their time on snapshots.
const snapshotPause = 200 * time.Millisecond

// draft returns what the next offer is to be made of.
func (n *snapshots) draft() *offered {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.spare == nil {
		return new(offered)
	}
	snap := n.spare
	n.spare = nil
	return snap
}

// offer has snap written soon.
func (n *snapshots) offer(snap *offered) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.spare, n.next = n.next, snap
	if n.busy == nil {
		n.busy, n.hurry = make(chan struct{}), make(chan struct{}, 1)
		go n.write()
	}
}

func (n *snapshots) write() {
	stack.Grow()
	n.mu.Lock()
	defer n.mu.Unlock()
	for n.next != nil {
		pause := time.Until(n.last.Add(snapshotPause))
		n.mu.Unlock()
		n.rest(pause)
		n.mu.Lock()
		snap := n.next
		n.next = nil
		n.mu.Unlock()
		err := n.writeOne(snap)
		n.mu.Lock()
		n.failed, n.last = err, time.Now()
	}
	close(n.busy)
	n.busy = nil
}

func (n *snapshots) writeOne(o *offered) error {
	snap, err := o.encode()
	if err != nil {
		return err
	}
	return n.w.Write(context.Background(), snap)
}

// rest waits for pause to pass, or for somebody who waits.
func (n *snapshots) rest(pause time.Duration) {
	if pause <= 0 {
		return
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-n.hurry:
	}
}

// wait returns when all is written, and how that went.
func (n *snapshots) wait() error {
	n.mu.Lock()
	busy, hurry := n.busy, n.hurry
	n.mu.Unlock()
	if busy != nil {
		select {
		case hurry <- struct{}{}:
		default:
		}
		<-busy
	}
	return n.failure()
}

// close writes what is left and cleans up. What comes next is written anew, to a
// place that the session's id names.
func (n *snapshots) close() error {
	if n.w == nil {
		return nil
	}
	err := errors.Join(n.wait(), n.w.Close())
	n.w = nil
	return err
}

// failure returns why the last snapshot could not be written, once.
func (n *snapshots) failure() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	err := n.failed
	n.failed = nil
	return err
}
