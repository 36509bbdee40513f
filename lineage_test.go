package rondo_test

import (
	"context"
	"testing"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/hook"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

func TestThePromptOfASessionIsReplayedInItsWorkspace(t *testing.T) { // scenario 17
	m, srv := small(t, "reply times forever\n  text done\n")
	st := store.NewMemory()
	o := rondo.Options{Model: m, Store: st, System: "first", Workspace: "/one"}
	res, err := newAgent(t, o).Run(t.Context(), rondo.Request{Text: "a"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ workspace, system, want string }{
		{"/one", "second", "first"}, {"/two", "third", "third"}, {"/one", "fourth", "first"},
	} {
		o.Workspace, o.System = c.workspace, c.system
		if _, err := newAgent(t, o).Run(t.Context(), rondo.Request{SessionID: res.SessionID, Text: "b"}); err != nil {
			t.Fatal(err)
		}
		if got := srv.Requests()[len(srv.Requests())-1].System; got != c.want {
			t.Errorf("in %s the prompt is %q, want %q", c.workspace, got, c.want)
		}
	}
}

// raced is a store in which another process continues each session first.
type raced struct{ *store.Memory }

func (r raced) Continue(ctx context.Context, s store.Session, msgs []*message.Message) error {
	other := s
	other.ID += "-other"
	if err := r.Memory.Continue(ctx, other, msgs); err != nil {
		return err
	}
	return r.Memory.Continue(ctx, s, msgs)
}

func TestALateCompressionIsDiscarded(t *testing.T) { // scenario 99
	m, _ := small(t, summaryRule+"reply times forever\n  text done\n")
	var told compactions
	a := newAgent(t, rondo.Options{Model: m, Store: raced{store.NewMemory()}, Listeners: []rondo.Listener{told.listener()}})
	s := a.Session("")
	defer s.Close()
	id := s.ID()
	res, err := s.Run(t.Context(), rondo.Request{Text: "and now this", History: talk(14)})
	if err != nil || res.SessionID != id || len(res.Messages) != 30 {
		t.Errorf("session %s, then %s with %d messages, %v", id, res.SessionID, len(res.Messages), err)
	}
	if len(told) != 2 || told[1].Compaction.Failure == "" {
		t.Errorf("events %+v", told)
	}
}

func TestHooksAreToldAsWhatASessionGoesOn(t *testing.T) {
	m, _ := small(t, summaryRule+"reply times forever\n  text done\n")
	var from, to string
	a := newAgent(t, rondo.Options{Model: m, Store: store.NewMemory(), Hooks: []hook.Hooks{{
		SessionContinued: func(_ context.Context, a, b string) error { from, to = a, b; return nil },
	}}})
	s := a.Session("")
	defer s.Close()
	id := s.ID()
	res, err := s.Run(t.Context(), rondo.Request{Text: "and now this", History: talk(14)})
	if err != nil || from != id || to != res.SessionID || from == to {
		t.Errorf("session %s goes on as %s, told %q and %q, %v", id, res.SessionID, from, to, err)
	}
}
