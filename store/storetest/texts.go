package storetest

import (
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

// texts holds that names are kept byte for byte: a directory may have any name.
func texts(t *testing.T, s store.Store) {
	for _, name := range []string{"a\x00b", "a\xff\xfeb", "\xed\xa0\x80", "\U0010ffff\U0010ff41", "x'\"\\%_"} {
		want := store.Session{
			ID: "id" + name, Title: "title" + name, Parent: "p" + name, Relation: store.Delegate, Workspace: "/" + name,
			Provider: "p" + name, Model: "m" + name, System: "s" + name, EndReason: "e" + name, CreatedAt: start, UpdatedAt: start,
		}
		create(t, s, want)
		got, _ := load(t, s, want.ID)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("session %q (-want +got):\n%s", name, d)
		}
		for _, ref := range []string{want.ID, want.Title} {
			if found, err := s.Find(t.Context(), ref, ""); err != nil || found.ID != want.ID {
				t.Errorf("Find(%q) = %q, %v", ref, found.ID, err)
			}
		}
		list, err := s.List(t.Context(), store.ListOptions{Workspace: want.Workspace})
		if err != nil || len(list) != 1 || list[0].ID != want.ID {
			t.Errorf("the sessions in %q are %v, %v", want.Workspace, list, err)
		}
		push(t, s, want.ID, store.Update{}, say("m"+name, message.NewUser("needle "+name)))
		if _, msgs := load(t, s, want.ID); utf8.ValidString(name) && msgs[0].Text() != "needle "+name {
			t.Errorf("the message %q became %q", "needle "+name, msgs[0].Text())
		}
		hits, err := s.(store.Searcher).Search(t.Context(), "needle", store.SearchOptions{Session: want.ID})
		if err != nil || len(hits) != 1 || hits[0].Session != want.ID || hits[0].Title != want.Title || hits[0].MessageID != "m"+name {
			t.Errorf("search in %q: %+v, %v", want.ID, hits, err)
		}
	}
}
