package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

func notes(t *testing.T, s store.Store) {
	n, ok := s.(store.Noter)
	if !ok {
		t.Skip("the store is no Noter")
	}
	ctx := t.Context()
	if err := n.Note(ctx, "a", store.Note{Kind: "k", Body: jsontext.Value("1")}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a note about none: %v", err)
	}
	if _, err := n.Notes(ctx, "a"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the notes about none: %v", err)
	}
	create(t, s, store.Session{ID: "a"})
	create(t, s, store.Session{ID: "b"})
	push(t, s, "a", store.Update{}, say("m1", message.NewUser("one")))
	want := []store.Note{
		{Time: start, Kind: "first", Body: jsontext.Value(`{"b":1,"a":["é\u0000 <>", 1.50]}`)},
		{Time: start.Add(time.Hour), Kind: "second", Body: jsontext.Value(`null`)},
		{Time: start, Kind: "first", Body: jsontext.Value(`{"b":2}`)},
	}
	for _, some := range [][]store.Note{want[:1], want[1:], nil} {
		if err := n.Note(ctx, "a", some...); err != nil {
			t.Fatal(err)
		}
	}
	for name, bad := range map[string]store.Note{"no kind": {Body: jsontext.Value("1")}, "no JSON": {Kind: "k", Body: jsontext.Value("{")}} {
		if err := n.Note(ctx, "a", want[0], bad); err == nil {
			t.Errorf("a note with %s was taken", name)
		}
	}
	got, err := n.Notes(ctx, "a")
	if d := cmp.Diff(want, got, sameTimes); d != "" || err != nil {
		t.Errorf("notes (-want +got): %v\n%s", err, d)
	}
	if got, err := n.Notes(ctx, "b"); len(got) > 0 || err != nil {
		t.Errorf("another session has the notes %v, %v", got, err)
	}
	if session, msgs := load(t, s, "a"); len(msgs) != 1 || session.Messages != 1 {
		t.Errorf("notes made %d messages of 1", len(msgs))
	}
	if err := s.Delete(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	create(t, s, store.Session{ID: "a"})
	if got, err := n.Notes(ctx, "a"); len(got) > 0 || err != nil {
		t.Errorf("a new session has the notes about a deleted one: %v, %v", got, err)
	}
}
