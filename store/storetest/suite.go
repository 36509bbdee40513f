// Package storetest holds the tests that every store.Store passes.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/store"
)

// Suite runs the tests on stores that open returns, each empty.
func Suite(t *testing.T, open func(t *testing.T) store.Store) {
	for _, c := range []struct {
		name string
		test func(*testing.T, store.Store)
	}{
		{"what is appended is loaded in order", appendLoad},
		{"a session starts with its first messages, or not at all", started},
		{"updates change what they name and add usage", updates},
		{"bad input is refused and leaves nothing behind", refusals},
		{"sessions are found by id, prefix, title and last", find},
		{"titles are made unique", titles},
		{"a title leads to the tip of a compressed line", tip},
		{"a session is continued once, and a search finds what was said once", continued},
		{"the list is in the order of use", list},
		{"a deleted session is gone", remove},
		{"concurrent appends to one session are all kept", concurrent},
		{"messages are found by their text", search},
		{"effects that began are known until they end", journal},
		{"repairs are kept beside the messages", mends},
		{"notes are kept in order, byte for byte", notes},
		{"the state of a run is kept in place of the last", states},
		{"names are kept byte for byte", texts},
		{"a session is locked once at a time", locks},
		{"a title that a person gave is not changed", retitle},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
			c.test(t, s)
		})
	}
}

var start = time.Date(2026, 8, 1, 12, 0, 0, 123456789, time.UTC)

func create(t *testing.T, s store.Store, session store.Session) {
	t.Helper()
	if err := s.Create(t.Context(), session); err != nil {
		t.Fatalf("Create: %v", err)
	}
}

func push(t *testing.T, s store.Store, id string, u store.Update, msgs ...*message.Message) {
	t.Helper()
	if err := s.Append(t.Context(), id, msgs, u); err != nil {
		t.Fatalf("Append: %v", err)
	}
}

func load(t *testing.T, s store.Store, id string) (store.Session, []*message.Message) {
	t.Helper()
	session, msgs, err := s.Load(t.Context(), id)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return session, msgs
}

// say makes a message with an id.
func say(id string, m *message.Message) *message.Message {
	m.ID = id
	return m
}

func appendLoad(t *testing.T, s store.Store) {
	created := store.Session{
		ID: "a1", Title: "First", Parent: "a0", Relation: store.Delegate, Workspace: "/w", Provider: "p", Model: "m",
		System: "Be brief.\n\x00'\"", CreatedAt: start, UpdatedAt: start,
	}
	create(t, s, created)
	origin := message.Origin{Provider: "p", Model: "m", Account: "x"}
	answer := message.NewAssistant(
		message.Part{Kind: message.KindReasoning, Text: "hm", State: &message.State{Origin: origin, Kind: "k.s", Data: `{"s":1}`}},
		message.Text("Let me see 日本語 🙂"), message.Call("c1", "read", `{"path":"x"}`), message.Call("c2", "read", `{`))
	answer.Origin, answer.Time = origin, start
	want := []*message.Message{
		say("m1", &message.Message{Role: message.User, Parts: []message.Part{message.Text("hi"), message.Image("image/png", "AAAA")}}),
		say("m2", answer),
		say("m3", message.NewResult(answer.Calls()[0], message.StatusOK, "one\x00two")),
		say("m4", message.NewResult(answer.Calls()[1], message.StatusDenied, "")),
		say("m5", message.NewAssistant(message.Text("Done."))),
	}
	push(t, s, "a1", store.Update{}, want[0])
	push(t, s, "a1", store.Update{}, want[1:4]...)
	push(t, s, "a1", store.Update{}, want[4])

	session, got := load(t, s, "a1")
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("messages (-want +got):\n%s", d)
	}
	if !session.UpdatedAt.After(start) {
		t.Errorf("UpdatedAt = %v, want after %v", session.UpdatedAt, start)
	}
	created.Messages, created.UpdatedAt = 5, session.UpdatedAt
	if d := cmp.Diff(created, session); d != "" {
		t.Errorf("session (-want +got):\n%s", d)
	}
}

func updates(t *testing.T, s store.Store) {
	create(t, s, store.Session{ID: "a", CreatedAt: start, EndReason: "end_turn"})
	use := model.Usage{Input: 5, CacheRead: 4, CacheWrite: 3, Output: 2, Reasoning: 1}
	push(t, s, "a", store.Update{Running: true, System: "S", Provider: "p", Model: "m", Usage: use, Calls: 1, CostUSD: 0.25})
	got, _ := load(t, s, "a")
	want := store.Session{
		ID: "a", CreatedAt: start, UpdatedAt: got.UpdatedAt, System: "S", Provider: "p", Model: "m", Usage: use, Calls: 1, CostUSD: 0.25,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("after the first update (-want +got):\n%s", d)
	}
	push(t, s, "a", store.Update{EndReason: "max_rounds", Model: "m2", Title: "T", Usage: use, Calls: 2, CostUSD: 0.5})
	push(t, s, "a", store.Update{})
	got, _ = load(t, s, "a")
	want.UpdatedAt, want.Usage, want.Calls, want.CostUSD = got.UpdatedAt, use.Add(use), 3, 0.75
	want.EndReason, want.Model, want.Title = "max_rounds", "m2", "T"
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("after the third update (-want +got):\n%s", d)
	}
}

func refusals(t *testing.T, s store.Store) {
	create(t, s, store.Session{ID: "a"})
	ctx := t.Context()
	user := say("m1", message.NewUser("hi"))
	gone, cancel := context.WithCancel(ctx)
	cancel()
	for name, err := range map[string]error{
		"id taken":       s.Create(ctx, store.Session{ID: "a", Title: "x"}),
		"no id":          s.Create(ctx, store.Session{}),
		"id is last":     s.Create(ctx, store.Session{ID: store.Last}),
		"message no id":  s.Append(ctx, "a", []*message.Message{user, message.NewUser("x")}, store.Update{Calls: 1}),
		"append to none": s.Append(ctx, "b", []*message.Message{user}, store.Update{}),
		"delete none":    s.Delete(ctx, "b"),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := s.Create(ctx, store.Session{ID: "a"}); !errors.Is(err, store.ErrExists) {
		t.Errorf("Create twice: %v, want ErrExists", err)
	}
	if err := s.Append(ctx, "b", nil, store.Update{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Append to none: %v, want ErrNotFound", err)
	}
	if _, _, err := s.Load(ctx, "b"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Load none: %v, want ErrNotFound", err)
	}
	if err := s.Append(gone, "a", []*message.Message{user}, store.Update{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Append with a cancelled context: %v", err)
	}
	if got, msgs := load(t, s, "a"); len(msgs) != 0 || got.Calls != 0 || got.Title != "" {
		t.Errorf("a refused write left %+v with %d messages", got, len(msgs))
	}
}

func find(t *testing.T, s store.Store) {
	if _, err := s.Find(t.Context(), store.Last, ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("last of none: %v, want ErrNotFound", err)
	}
	for i, x := range []store.Session{
		{ID: "2026-a1", Title: "Fix it", Workspace: "/one"},
		{ID: "2026-a2", Title: "Über uns", Workspace: "/two"},
		{ID: "2026-b1", Title: "fix it", Workspace: "/one"},
		{ID: "2026-b", Title: "2026-a"},
		{ID: "2026-c", Workspace: "/one", Parent: "2026-b1", Relation: store.Delegate},
		{ID: "2025-a", Title: "2025"},
		{ID: "2025-b"},
	} {
		x.CreatedAt = start.Add(time.Duration(i) * time.Second)
		create(t, s, x)
	}
	for _, c := range []struct{ ref, workspace, want string }{
		{"2026-a1", "", "2026-a1"},
		{"2026-b", "", "2026-b"}, // an id, and a prefix of another
		{"2026-b1", "", "2026-b1"},
		{"2026-c", "", "2026-c"},
		{"2026-a", "", "2026-b"}, // a prefix of two, but one's title
		{"Fix it", "", "2026-a1"},
		{"fix it", "", "2026-b1"},
		{"ÜBER UNS", "", "2026-a2"},
		{"2025", "", "2025-a"}, // a prefix of two, and the title of one of them
		{"last", "", "2025-b"}, // a delegated session is not the last
		{"last", "/one", "2026-b1"},
		{"last", "/two", "2026-a2"},
		{"last", "/three", ""},
		{"", "", ""},
		{"nope", "", ""},
		{"2026-a1x", "", ""},
		{"%", "", ""},
	} {
		got, err := s.Find(t.Context(), c.ref, c.workspace)
		if got.ID != c.want || (c.want == "") != errors.Is(err, store.ErrNotFound) {
			t.Errorf("Find(%q, %q) = %q, %v; want %q", c.ref, c.workspace, got.ID, err, c.want)
		}
	}
	for ref, want := range map[string]int{"2026": 5, "FIX IT": 2} {
		_, err := s.Find(t.Context(), ref, "")
		if a, ok := errors.AsType[*store.AmbiguousError](err); !ok || len(a.Matches) != want {
			t.Errorf("Find(%q): %v, want %d matches", ref, err, want)
		}
	}
}

func titles(t *testing.T, s store.Store) {
	for i, title := range []string{"T", "T", "T", "T #2", "", ""} {
		create(t, s, store.Session{ID: fmt.Sprint("s", i), Title: title})
	}
	push(t, s, "s4", store.Update{Title: "T"})
	push(t, s, "s1", store.Update{Title: "T #2"}) // its own
	for i, want := range []string{"T", "T #2", "T #3", "T #4", "T #5", ""} {
		if got, _ := load(t, s, fmt.Sprint("s", i)); got.Title != want {
			t.Errorf("session %d is called %q, want %q", i, got.Title, want)
		}
	}
}

func tip(t *testing.T, s store.Store) {
	create(t, s, store.Session{ID: "a", Title: "Long"})
	create(t, s, store.Session{ID: "x", Parent: "a", Relation: store.Delegate})
	create(t, s, store.Session{ID: "b", Title: "Long", Parent: "a", Relation: store.Compression})
	create(t, s, store.Session{ID: "c", Title: "Long", Parent: "b", Relation: store.Compression})
	for ref, want := range map[string]string{"Long": "c", "long #2": "c", "a": "a", "x": "x"} {
		if got, err := s.Find(t.Context(), ref, ""); got.ID != want {
			t.Errorf("Find(%q) = %q, %v; want %q", ref, got.ID, err, want)
		}
	}
}

func list(t *testing.T, s store.Store) {
	for i, w := range []string{"/one", "/two", "/one"} {
		create(t, s, store.Session{ID: fmt.Sprint(i), Workspace: w, CreatedAt: start.Add(time.Duration(i) * time.Second)})
	}
	push(t, s, "1", store.Update{Calls: 1})
	for _, c := range []struct {
		o    store.ListOptions
		want string
	}{
		{store.ListOptions{}, "1 2 0"},
		{store.ListOptions{Limit: 2}, "1 2"},
		{store.ListOptions{Workspace: "/one"}, "2 0"},
		{store.ListOptions{Workspace: "/none"}, ""},
	} {
		got, err := s.List(t.Context(), c.o)
		var ids []string
		for _, x := range got {
			ids = append(ids, x.ID)
		}
		if err != nil || strings.Join(ids, " ") != c.want {
			t.Errorf("List(%+v) = %v, %v; want %s", c.o, ids, err, c.want)
		}
	}
}

func remove(t *testing.T, s store.Store) {
	create(t, s, store.Session{ID: "a", Title: "T", System: "S"})
	push(t, s, "a", store.Update{}, say("m1", message.NewUser("needle")))
	create(t, s, store.Session{ID: "b"})
	push(t, s, "b", store.Update{}, say("m1", message.NewUser("kept")))
	push(t, s, "a", store.Update{Calls: 1})
	if err := s.Delete(t.Context(), "a"); err != nil {
		t.Fatalf("Delete: %v", err)
	}
	if err := s.Append(t.Context(), "a", nil, store.Update{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Append after Delete: %v, want ErrNotFound", err)
	}
	create(t, s, store.Session{ID: "a", Title: "T"})
	if got, msgs := load(t, s, "a"); len(msgs) != 0 || got.System != "" || got.Title != "T" {
		t.Errorf("a new session has %+v and %d messages of the deleted one", got, len(msgs))
	}
	if _, msgs := load(t, s, "b"); len(msgs) != 1 {
		t.Errorf("the other session has %d messages, want 1", len(msgs))
	}
	if f, ok := s.(store.Searcher); ok {
		if hits, err := f.Search(t.Context(), "needle", store.SearchOptions{}); len(hits) != 0 || err != nil {
			t.Errorf("Search finds the deleted: %v, %v", hits, err)
		}
	}
}

func concurrent(t *testing.T, s store.Store) {
	create(t, s, store.Session{ID: "a"})
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 25 {
				m := say(fmt.Sprintf("%d-%02d", w, i), message.NewUser("x"))
				if err := s.Append(t.Context(), "a", []*message.Message{m}, store.Update{Calls: 1}); err != nil {
					t.Errorf("Append: %v", err)
				}
				if _, msgs, err := s.Load(t.Context(), "a"); err != nil || len(msgs) <= i {
					t.Errorf("Load: %d messages, %v", len(msgs), err)
				}
			}
		})
	}
	wg.Wait()
	session, msgs := load(t, s, "a")
	last := map[byte]string{}
	for _, m := range msgs {
		if m.ID <= last[m.ID[0]] {
			t.Errorf("message %s stands after %s", m.ID, last[m.ID[0]])
		}
		last[m.ID[0]] = m.ID
	}
	if len(msgs) != 100 || session.Messages != 100 || session.Calls != 100 {
		t.Errorf("%d messages, session counts %d and %d calls; want 100", len(msgs), session.Messages, session.Calls)
	}
}
