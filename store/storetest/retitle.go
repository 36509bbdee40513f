package storetest

import (
	"errors"
	"testing"

	"github.com/rondo-engine/rondo/store"
)

func retitle(t *testing.T, s store.Store) {
	r, ok := s.(store.Retitler)
	if !ok {
		t.Skip("the store is no Retitler")
	}
	create(t, s, store.Session{ID: "a", Title: "why does"})
	create(t, s, store.Session{ID: "b", Title: "why does"})
	create(t, s, store.Session{ID: "c", Title: "named by hand"})
	for _, c := range []struct{ id, from, to, want string }{
		{"a", "why does", "Parser fault", "Parser fault"},
		{"b", "why does", "Parser fault", "Parser fault #2"},
		{"b", "why does", "Again", "Parser fault #2"},
		{"c", "why does", "Lexer", "named by hand"},
	} {
		got, err := r.Retitle(t.Context(), c.id, c.from, c.to)
		if session, _ := load(t, s, c.id); err != nil || got != c.want || session.Title != c.want {
			t.Errorf("%s is now %q, %q, %v; want %q", c.id, got, session.Title, err, c.want)
		}
	}
	if _, err := r.Retitle(t.Context(), "none", "x", "y"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("none: %v", err)
	}
	for title, want := range map[string]bool{"a": true, "a #2": true, "a #1": false, "a #x": false, "a b": false, "b": false} {
		if store.Numbered(title, "a") != want {
			t.Errorf("%q counts as a: %v", title, !want)
		}
	}
}
