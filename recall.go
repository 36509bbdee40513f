package rondo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/snapshot"
	"github.com/rondo-engine/rondo/window"
)

// describe adds to a snapshot what is known of the model's counting and what a
// person allowed.
func (s *Session) describe(snap *offered) {
	snap.model, snap.ratio = s.space.model, s.space.gauge.Ratio
	if snap.granted = s.grants.List(); len(snap.granted) > 0 {
		for i := range snap.granted {
			snap.granted[i].Key = s.agent.opts.Secrets.Hide(snap.granted[i].Key)
		}
	}
}

// readLeft reads what the session's snapshot says beside its messages, if the
// two belong together.
func (s *Session) readLeft(ctx context.Context) error {
	s.left = nil
	if s.agent.opts.Snapshots == nil {
		return nil
	}
	snap, err := s.snapshotHead(ctx)
	if errors.Is(err, snapshot.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the snapshot is not used, how far the run was is counted from its messages: %w", err)
	}
	if n := snap.Session.Messages; n > 0 && n <= len(s.said) && s.said[n-1].ID == snap.LastMessage {
		s.left = snap
	}
	return nil
}

// takeLeft takes over the list of things to do and how the model counts. The
// rest of what a snapshot says is for a run that goes on, see run.recall.
func (s *Session) takeLeft() {
	snap := s.left
	if snap == nil {
		return
	}
	var todo []Todo
	if len(snap.Todo) > 0 && json.Unmarshal(snap.Todo, &todo) == nil {
		s.todo.set(todo)
		s.todo.recall(s.said[snap.Session.Messages:], s.agent.todoArguments)
	}
	var known map[string]window.Ratio
	if len(snap.Calibration) == 0 || json.Unmarshal(snap.Calibration, &known) != nil {
		return
	}
	ratios := s.agent.opts.Context.Ratios
	for name, r := range known {
		if ratios.Ratio(name) == (window.Ratio{}) {
			ratios.SetRatio(name, r)
		}
	}
}

// snapshotHead reads the snapshot without its messages, if that can be done.
func (s *Session) snapshotHead(ctx context.Context) (*snapshot.Snapshot, error) {
	if h, ok := s.agent.opts.Snapshots.(snapshot.Heads); ok {
		return h.LoadHead(ctx, s.id)
	}
	snap, err := s.agent.opts.Snapshots.Load(ctx, s.id)
	if err == nil && len(snap.Messages) > 0 {
		snap.Session.Messages, snap.LastMessage = len(snap.Messages), snap.Messages[len(snap.Messages)-1].ID
	}
	return snap, err
}

// recall finds out how far the run was that broke off: its snapshot says it, as
// far as that goes, and its messages the rest.
func (r *run) recall() error {
	s := r.s
	turn := len(s.said)
	for turn > 0 && s.said[turn-1].Role != message.User {
		turn--
	}
	snap := s.left
	if snap == nil || snap.Session.Messages < turn || len(snap.Run) == 0 {
		r.state.Rounds = replies(s.said[turn:])
		r.state.Elapsed = span(s.said[max(0, turn-1):])
		if turn <= 1 { // all that the session used, this run did
			r.state.InputTokens = s.meta.Usage.Input
		}
		return nil
	}
	var state loop.State
	if err := json.Unmarshal(snap.Run, &state); err != nil {
		return fmt.Errorf("read the run's state in the snapshot: %w", err)
	}
	n := snap.Session.Messages
	if since := replies(s.said[n:]); since > 0 {
		state.Rounds += since
		state.Pending, state.Paused, state.Note, state.Attempts = nil, false, "", loop.Attempts{}
	}
	if len(s.said) > n {
		state.Elapsed += max(0, s.said[len(s.said)-1].Time.Sub(snap.SavedAt))
	}
	state.InputTokens += max(0, s.meta.Usage.Input-snap.Session.Usage.Input)
	r.state = state
	if r.req.TaskID == "" && snap.TaskID != "" {
		r.taskID, r.result.TaskID = snap.TaskID, snap.TaskID
	}
	return nil
}

// replies counts the replies of the model among msgs.
func replies(msgs []*message.Message) int {
	n := 0
	for _, m := range msgs {
		if m.Role == message.Assistant && m.Status != message.StatusInterrupted {
			n++
		}
	}
	return n
}

// span is the time between the first of msgs and the last.
func span(msgs []*message.Message) time.Duration {
	if len(msgs) == 0 || msgs[0].Time.IsZero() {
		return 0
	}
	return max(0, msgs[len(msgs)-1].Time.Sub(msgs[0].Time))
}

// unjournalled is how many of the session's first messages the journal knows
// nothing of.
func unjournalled(notes []store.Note) int {
	n := 0
	for _, note := range notes {
		var u store.Unjournalled
		if note.Kind == store.NoteUnjournalled && json.Unmarshal(note.Body, &u) == nil {
			n = max(n, u.Messages)
		}
	}
	return n
}
