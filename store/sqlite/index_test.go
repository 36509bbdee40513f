package sqlite_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/sqlite"
)

// found returns the ids of the messages with that word.
func found(t *testing.T, s *sqlite.Store, word string) (ids []string) {
	t.Helper()
	hits, err := s.Search(t.Context(), word, store.SearchOptions{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hits {
		ids = append(ids, h.MessageID)
	}
	return ids
}

func TestSearchFindsWhatWasJustSaidAlsoByAnother(t *testing.T) {
	path := file(t)
	s, other := open(t, path), open(t, path)
	if err := s.Create(t.Context(), store.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		say(t, s, fmt.Sprint("m", i), "a marmot")
		if n := len(found(t, other, "marmot")); n != i+1 {
			t.Errorf("after %d messages %d are found", i+1, n)
		}
	}
}

func TestTheIndexIsBroughtUpToDateInTimeAndAtTheEnd(t *testing.T) {
	path := file(t)
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), store.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	reader := open(t, path)
	const every = sqlite.IndexEvery
	for i := range every + 5 {
		say(t, s, fmt.Sprint("m", i), "a marmot")
		want := 0
		if i+1 >= every {
			want = every
		}
		if got := sqlite.Indexed(t, reader); got != want {
			t.Fatalf("after %d messages %d are in the index, want %d", i+1, got, want)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := sqlite.Indexed(t, reader); got != every+5 {
		t.Errorf("%d are in the index, want all %d", got, every+5)
	}
	if n := len(found(t, reader, "marmot")); n != every+5 {
		t.Errorf("%d are found, want %d", n, every+5)
	}
}

// What has a text is found, whatever stands before it.
func TestTheIndexTakesWhatHasText(t *testing.T) {
	s := open(t, file(t))
	if err := s.Create(t.Context(), store.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	call := message.NewAssistant(message.Call("c", "read", `{"path":"marmot"}`))
	spoken := message.NewAssistant(message.Text("a marmot"), message.Call("c", "read", `{}`))
	result := message.NewResult(call.Calls()[0], message.StatusOK, "a marmot")
	quoted := message.NewUser(`{"role":"assistant","content":null} and a marmot`)
	for i, m := range []*message.Message{message.NewUser("a marmot"), call, result, spoken, result, quoted} {
		m := *m
		m.ID = fmt.Sprint("m", i)
		if err := s.Append(t.Context(), "s", []*message.Message{&m}, store.Update{}); err != nil {
			t.Fatal(err)
		}
	}
	if ids := found(t, s, "marmot"); !slices.Equal(ids, []string{"m5", "m3", "m0"}) {
		t.Errorf("found in %v", ids)
	}
	if r, err := s.Check(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// More sessions, and more in one of them, than enter the index at once.
func TestTheIndexCatchesUpWithManySessions(t *testing.T) {
	s := open(t, file(t))
	const many = 5 * sqlite.IndexEvery // more than 4 times are entered at once
	long := make([]*message.Message, many)
	for i := range long {
		long[i] = message.NewUser("a marmot")
		long[i].ID = fmt.Sprint("m", i)
	}
	if err := s.Start(t.Context(), store.Session{ID: "long"}, long, store.Update{}); err != nil {
		t.Fatal(err)
	}
	for i := range many {
		if err := s.Start(t.Context(), store.Session{ID: fmt.Sprint("s", i)}, long[:1], store.Update{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(found(t, s, "marmot")); n != 1000 { // as many as are asked for
		t.Errorf("%d are found", n)
	}
	if n := sqlite.Indexed(t, s); n != 2*many {
		t.Errorf("%d are in the index, want %d", n, 2*many)
	}
}
