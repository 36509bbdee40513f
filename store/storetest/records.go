package storetest

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

// sameTimes compares times as moments.
var sameTimes = cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })

func journal(t *testing.T, s store.Store) {
	j, ok := s.(store.Journal)
	if !ok {
		t.Skip("the store is no Journal")
	}
	ctx := t.Context()
	create(t, s, store.Session{ID: "a"})
	ask := say("m1", message.NewAssistant(message.Call("c", "write", "{}"), message.Call("c", "write", "{}"), message.Call("d", "sh", "{}")))
	effects := []store.Effect{
		{MessageID: "m1", Index: 0, CallID: "c", Tool: "write", ArgsDigest: "x", StartedAt: start},
		{MessageID: "m1", Index: 1, CallID: "c", Tool: "write", ArgsDigest: "y", StartedAt: start.Add(time.Second)},
	}
	if err := j.Record(ctx, "a", []*message.Message{ask}, store.Update{Calls: 1}, effects); err != nil {
		t.Fatal(err)
	}
	if err := j.Record(ctx, "a", nil, store.Update{}, []store.Effect{{MessageID: "m2", Tool: "write", StartedAt: start}}); err != nil {
		t.Fatal(err)
	}
	if err := j.Record(ctx, "a", nil, store.Update{}, effects[:1]); err != nil {
		t.Errorf("begun twice: %v", err)
	}
	result := say("m3", message.NewResult(ask.Calls()[1], message.StatusError, "no"))
	effects[1].FinishedAt, effects[1].Status = start.Add(time.Minute), message.StatusError
	if err := j.Record(ctx, "a", []*message.Message{result}, store.Update{}, effects[1:]); err != nil {
		t.Fatal(err)
	}
	got, err := j.Effects(ctx, "a", "m1")
	if d := cmp.Diff(effects, got, sameTimes); d != "" || err != nil {
		t.Errorf("effects (-want +got): %v\n%s", err, d)
	}
	if session, msgs := load(t, s, "a"); len(msgs) != 2 || session.Calls != 1 {
		t.Errorf("%d messages, %d calls; want 2, 1", len(msgs), session.Calls)
	}

	lost := say("m4", message.NewUser("lost"))
	for name, e := range map[string]store.Effect{
		"ends without having begun": {MessageID: "m1", Index: 2, FinishedAt: start, Tool: "sh"},
		"names no message":          {Tool: "sh"},
	} {
		if err := j.Record(ctx, "a", []*message.Message{lost}, store.Update{}, []store.Effect{e}); err == nil {
			t.Errorf("an effect that %s: no error", name)
		}
	}
	if _, msgs := load(t, s, "a"); len(msgs) != 2 {
		t.Errorf("a refused record left %d messages, want 2", len(msgs))
	}
	for _, id := range []string{"a", "b"} {
		if id == "a" {
			if err := s.Delete(ctx, id); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := j.Effects(ctx, id, "m1"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("effects of %s, which is not there: %v", id, err)
		}
	}
	create(t, s, store.Session{ID: "a"})
	if got, err := j.Effects(ctx, "a", "m1"); len(got) > 0 || err != nil {
		t.Errorf("a new session has the effects of a deleted one: %v, %v", got, err)
	}
}

func mends(t *testing.T, s store.Store) {
	m, ok := s.(store.Mender)
	if !ok {
		t.Skip("the store is no Mender")
	}
	ctx := t.Context()
	if err := m.Mend(ctx, "a", store.Repair{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Mend of none: %v", err)
	}
	create(t, s, store.Session{ID: "a"})
	push(t, s, "a", store.Update{}, say("m1", message.NewUser("one")), say("m2", message.NewUser("two")))
	want := []store.Repair{
		{
			Time: start, Seen: 2, Changes: []message.Change{{Rule: message.RuleMerged, Index: 1, Detail: "Joined."}},
			Edits: []store.Edit{{At: 0, Drop: 2, Put: []*message.Message{say("r1", message.NewUser("one\n\ntwo\x00"))}}},
		},
		{Time: start.Add(time.Hour), Seen: 2},
	}
	for _, r := range want {
		if err := m.Mend(ctx, "a", r); err != nil {
			t.Fatal(err)
		}
	}
	got, err := m.Repairs(ctx, "a")
	if d := cmp.Diff(want[:1], got[:min(1, len(got))], sameTimes); d != "" || err != nil || len(got) != 2 {
		t.Errorf("%d repairs, %v (-want +got):\n%s", len(got), err, d)
	}
	if _, msgs := load(t, s, "a"); len(msgs) != 2 || msgs[0].Text() != "one" {
		t.Errorf("the messages were rewritten: %v", msgs)
	}
}

func locks(t *testing.T, s store.Store) {
	l, ok := s.(store.Locker)
	if !ok {
		t.Skip("the store is no Locker")
	}
	ctx := t.Context()
	if _, held, err := l.Holder(ctx, "a/../b"); held || err != nil {
		t.Errorf("before anybody locked it: held %v, %v", held, err)
	}
	for range 2 {
		unlock, err := l.Lock(ctx, "a/../b")
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.Lock(ctx, "a/../b")
		locked, ok := errors.AsType[*store.LockedError](err)
		if !ok || locked.Session != "a/../b" || locked.Holder.PID != os.Getpid() || locked.Holder.Host == "" || locked.Holder.Since.IsZero() {
			t.Errorf("locked twice: %v (%+v)", err, locked)
		}
		if h, held, err := l.Holder(ctx, "a/../b"); !held || err != nil || h.PID != os.Getpid() {
			t.Errorf("Holder = %+v, %v, %v", h, held, err)
		}
		other, err := l.Lock(ctx, "b")
		if err != nil {
			t.Errorf("another session: %v", err)
		} else if err := other(); err != nil {
			t.Error(err)
		}
		if err := unlock(); err != nil {
			t.Error(err)
		}
	}
	if _, held, err := l.Holder(ctx, "a/../b"); held || err != nil {
		t.Errorf("after unlock: held %v, %v", held, err)
	}
}
