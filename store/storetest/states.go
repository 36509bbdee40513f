package storetest

import (
	"errors"
	"testing"

	"github.com/rondo-engine/rondo/store"
)

func states(t *testing.T, s store.Store) {
	st, ok := s.(store.Stater)
	if !ok {
		t.Skip("the store is no Stater")
	}
	ctx := t.Context()
	if err := st.SaveState(ctx, "a", []byte("{}")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the state of none was saved: %v", err)
	}
	if _, err := st.State(ctx, "a"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the state of none: %v", err)
	}
	create(t, s, store.Session{ID: "a"})
	create(t, s, store.Session{ID: "b"})
	for _, want := range []string{"", "{\"rounds\":1}\n", "two\x00\xff"} {
		if want != "" {
			if err := st.SaveState(ctx, "a", []byte(want)); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := st.State(ctx, "a"); string(got) != want || err != nil {
			t.Errorf("the state is %q, %v; want %q", got, err, want)
		}
	}
	if got, err := st.State(ctx, "b"); got != nil || err != nil {
		t.Errorf("another session has the state %q, %v", got, err)
	}
	if err := s.Delete(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	create(t, s, store.Session{ID: "a"})
	if got, err := st.State(ctx, "a"); got != nil || err != nil {
		t.Errorf("a new session has the state of a deleted one: %q, %v", got, err)
	}
}
