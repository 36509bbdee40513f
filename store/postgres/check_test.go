package postgres_test

import (
	"math"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/internal/pgtest"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

func TestACheckFindsWhatIsAmiss(t *testing.T) {
	url := server.Schema(t)
	s := open(t, url)
	for _, id := range []string{"a", "b", "c"} {
		if err := s.Create(t.Context(), store.Session{ID: id}); err != nil {
			t.Fatal(err)
		}
		call := message.NewAssistant(message.Text("I look É."), message.Call("1", "sh", "{}"))
		call.ID = "m2"
		effect := store.Effect{MessageID: "m2", CallID: "1", Tool: "sh"}
		if err := s.Record(t.Context(), id, append(user("m1", "go"), call), store.Update{}, []store.Effect{effect}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Continue(t.Context(), store.Session{ID: "d", Parent: "a"}, user("m1", "go")); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Check(t.Context()); err != nil || len(r.Problems) > 0 || r.Sessions != 4 || r.Messages != 7 {
		t.Errorf("a store that is whole: %+v, %v", r, err)
	}
	pgtest.Exec(t, url,
		"DELETE FROM rondo_messages WHERE seq = 1 AND session = (SELECT n FROM rondo_sessions WHERE id = 'a')",
		"UPDATE rondo_messages SET body = '{' WHERE seq = 0 AND session = (SELECT n FROM rondo_sessions WHERE id = 'b')",
		"UPDATE rondo_messages SET folded = 'x' WHERE seq = 1 AND session = (SELECT n FROM rondo_sessions WHERE id = 'b')",
		"UPDATE rondo_sessions SET parent = 'c', relation = 'delegate' WHERE id = 'c'")
	r, err := s.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range r.Problems {
		got = append(got, p.String())
	}
	for i, want := range []string{
		"lineage: session c: it descends from itself",
		"messages: session a: it counts 2 messages and has 1",
		"messages: session b: message 0 (m1) cannot be read",
		"index: session b: a search does not find message 1",
		"journal: session a: a call of sh was begun in message m2, which there is not",
	} {
		if len(got) != 5 || !strings.HasPrefix(got[i], want) {
			t.Errorf("found %q, want %q at %d", got, want, i)
		}
	}
}

func TestTheRoomOfSessionsIsMeasured(t *testing.T) {
	s := open(t, server.Schema(t))
	if used, total, err := s.Size(t.Context()); err != nil || used != 0 || total <= 0 {
		t.Errorf("empty: %d, %d, %v", used, total, err)
	}
	for id, n := range map[string]int{"small": 1, "large": 9, "none": 0} {
		if err := s.Create(t.Context(), store.Session{ID: id}); err != nil {
			t.Fatal(err)
		}
		for range n {
			if err := s.Append(t.Context(), id, user("m", strings.Repeat("some words", 50)), store.Update{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	used, total, err := s.Size(t.Context())
	if err != nil || used < 1000 || total < used {
		t.Errorf("Size = %d, %d, %v", used, total, err)
	}
	w, err := s.Weights(t.Context())
	if err != nil || len(w) != 3 || math.Abs(w["large"]-0.9) > 0.001 || math.Abs(w["small"]-0.1) > 0.001 || w["none"] != 0 {
		t.Errorf("Weights = %v, %v", w, err)
	}
	if err := s.Delete(t.Context(), "large"); err != nil {
		t.Fatal(err)
	}
	if after, _, err := s.Size(t.Context()); err != nil || after > used/5 {
		t.Errorf("after nine tenths were deleted: %d of %d, %v", after, used, err)
	}
	for _, thorough := range []bool{false, true} {
		if err := s.Shrink(t.Context(), thorough); err != nil {
			t.Error(err)
		}
	}
}
