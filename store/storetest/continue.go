package storetest

import (
	"errors"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

func continued(t *testing.T, s store.Store) {
	c, ok := s.(store.Continuer)
	if !ok {
		t.Skip("the store is no Continuer")
	}
	create(t, s, store.Session{ID: "a", Title: "line"})
	push(t, s, "a", store.Update{},
		say("m1", message.NewUser("look for the heron")),
		say("m2", message.NewAssistant(message.Call("1", "read", `{"path":"birds/heron.txt","limit":3}`))))
	next := store.Session{ID: "b", Title: "line", Parent: "a", System: "prompt"}
	kept := []*message.Message{say("m1", message.NewUser("look for the heron"))}
	if err := c.Continue(t.Context(), next, kept); err != nil {
		t.Fatalf("Continue: %v", err)
	}
	push(t, s, "b", store.Update{}, say("m2", message.NewAssistant(message.Text("a second bird"))))
	got, msgs := load(t, s, "b")
	if got.Title != "line #2" || got.Relation != store.Compression || got.Parent != "a" || got.System != "prompt" || len(msgs) != 2 {
		t.Errorf("the new session is %+v with %d messages", got, len(msgs))
	}
	if old, msgs := load(t, s, "a"); old.EndReason != store.Compression || len(msgs) != 2 {
		t.Errorf("the old session is %+v with %d messages", old, len(msgs))
	}
	for _, id := range []string{"a", "b"} {
		if tip, err := c.Tip(t.Context(), id); err != nil || tip.ID != "b" {
			t.Errorf("Tip(%s) = %s, %v; want b", id, tip.ID, err)
		}
	}
	late := store.Session{ID: "c", Parent: "a"}
	if err := c.Continue(t.Context(), late, kept); !errors.Is(err, store.ErrContinued) {
		t.Errorf("a second session that continues the same one: %v, want ErrContinued", err)
	}
	if _, _, err := s.Load(t.Context(), "c"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("it left something behind: %v", err)
	}
	found(t, s, map[string]string{"heron": "a", "second": "b"})
}

// found checks in which sessions a search finds words, the newest first.
func found(t *testing.T, s store.Store, want map[string]string) {
	t.Helper()
	for query, session := range want {
		hits, err := s.(store.Searcher).Search(t.Context(), query, store.SearchOptions{})
		if err != nil || len(hits) == 0 {
			t.Errorf("search for %s: %d hits, %v", query, len(hits), err)
		}
		for _, h := range hits {
			if h.Session != session {
				t.Errorf("%s is found in %s", query, h.Session)
			}
		}
	}
}
