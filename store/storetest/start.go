package storetest

import (
	"errors"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/store"
)

func started(t *testing.T, s store.Store) {
	st, ok := s.(store.Starter)
	if !ok {
		t.Skip("the store is no Starter")
	}
	session := store.Session{ID: "a", Title: "heron", System: "prompt", Model: "m"}
	said := []*message.Message{say("m1", message.NewUser("look for the heron"))}
	if err := st.Start(t.Context(), session, said, store.Update{Running: true, Usage: model.Usage{Input: 3}, Calls: 1}); err != nil {
		t.Fatalf("Start: %v", err)
	}
	push(t, s, "a", store.Update{}, say("m2", message.NewAssistant(message.Text("there"))))
	got, msgs := load(t, s, "a")
	if got.Title != "heron" || got.System != "prompt" || got.Usage.Input != 3 || got.Calls != 1 || len(msgs) != 2 || msgs[0].Text() != "look for the heron" {
		t.Errorf("the session is %+v with %d messages", got, len(msgs))
	}
	if err := st.Start(t.Context(), session, said, store.Update{}); !errors.Is(err, store.ErrExists) {
		t.Errorf("the same session once more: %v, want ErrExists", err)
	}
	nameless := []*message.Message{message.NewUser("no id")}
	if err := st.Start(t.Context(), store.Session{ID: "b"}, nameless, store.Update{}); err == nil {
		t.Error("a message without an id is taken")
	}
	if _, _, err := s.Load(t.Context(), "b"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("it left a session behind: %v", err)
	}
	if second := (store.Session{ID: "c", Title: "heron"}); st.Start(t.Context(), second, nil, store.Update{}) != nil {
		t.Error("a session without messages is refused")
	} else if got, _ := load(t, s, "c"); got.Title != "heron #2" {
		t.Errorf("the title that is taken became %q", got.Title)
	}
	if _, ok := s.(store.Searcher); ok {
		found(t, s, map[string]string{"heron": "a", "there": "a"})
	}
}
