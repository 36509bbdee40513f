package storetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

func search(t *testing.T, s store.Store) {
	searcher, ok := s.(store.Searcher)
	if !ok {
		t.Skip("the store does not search")
	}
	call := message.NewAssistant(message.Text("Reading the Config file"), message.Call("c", "read", `{"path":"secretpath"}`))
	create(t, s, store.Session{ID: "a", Title: "T", Workspace: "/one"})
	push(t, s, "a", store.Update{},
		say("a1", message.NewUser("Please fix the parser, 100% now")),
		say("a2", call),
		say("a3", message.NewResult(call.Calls()[0], message.StatusOK, "toolneedle")),
		say("a4", message.NewAssistant(message.Reasoning("thoughtneedle"), message.Text("The PARSER is fixed"))))
	create(t, s, store.Session{ID: "b", Workspace: "/two"})
	push(t, s, "b", store.Update{},
		say("b1", message.NewUser("東京の天気を教えてください")),
		say("b2", message.NewAssistant(message.Text(strings.Repeat("é", 300)+"\nneedle "+strings.Repeat("z", 300)))),
		say("b3", message.NewUser(`say "go on" to the parser`)))

	create(t, s, store.Session{ID: "c", Workspace: "/three"})
	push(t, s, "c", store.Update{}, say("c1", message.NewUser(`Привет ÜBER back\slash`)))

	for _, c := range []struct {
		query string
		o     store.SearchOptions
		want  string
	}{
		{"parser", store.SearchOptions{}, "b/b3 a/a4 a/a1"},
		{"parser", store.SearchOptions{Limit: 1}, "b/b3"},
		{"parser", store.SearchOptions{Workspace: "/one"}, "a/a4 a/a1"},
		{"parser", store.SearchOptions{Session: "b"}, "b/b3"},
		{"fix parser", store.SearchOptions{}, "a/a4 a/a1"},
		{`"fix the parser"`, store.SearchOptions{}, "a/a1"},
		{"PARSE", store.SearchOptions{}, "b/b3 a/a4 a/a1"},
		{"天気を", store.SearchOptions{}, "b/b1"},
		{"天気", store.SearchOptions{}, "b/b1"},
		{"天気 東京", store.SearchOptions{}, "b/b1"},
		{"0%", store.SearchOptions{}, "a/a1"},
		{"%", store.SearchOptions{}, "a/a1"},
		{"IX parser", store.SearchOptions{}, "a/a4 a/a1"},
		{"ПРИВЕТ", store.SearchOptions{}, "c/c1"},
		{"über", store.SearchOptions{}, "c/c1"},
		{`back\slash`, store.SearchOptions{}, "c/c1"},
		{"_", store.SearchOptions{}, ""},
		{"needle", store.SearchOptions{}, "b/b2"},
		{"secretpath", store.SearchOptions{}, ""},
		{"parser AND nothere", store.SearchOptions{}, ""},
		{"a*b", store.SearchOptions{}, ""},
		{"-parser", store.SearchOptions{}, ""},
	} {
		hits, err := searcher.Search(t.Context(), c.query, c.o)
		if err != nil {
			t.Errorf("Search(%q): %v", c.query, err)
		}
		var got []string
		for _, h := range hits {
			got = append(got, h.Session+"/"+h.MessageID)
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("Search(%q, %+v) = %q, want %q", c.query, c.o, g, c.want)
		}
	}
	if _, err := searcher.Search(t.Context(), ` "" `, store.SearchOptions{}); !errors.Is(err, store.ErrEmptyQuery) {
		t.Errorf("Search for nothing: %v, want ErrEmptyQuery", err)
	}
	snippets(t, searcher)
}

func snippets(t *testing.T, s store.Searcher) {
	for _, c := range []struct{ query, match, snippet string }{
		{"parser fixed", "PARSER", "The PARSER is fixed"},
		{"needle", "needle", "…" + strings.Repeat("é", 40) + " needle " + strings.Repeat("z", 79) + "…"},
		{"天気", "天気", "東京の天気を教えてください"},
	} {
		hits, err := s.Search(t.Context(), c.query, store.SearchOptions{})
		if err != nil || len(hits) != 1 {
			t.Fatalf("Search(%q) = %v, %v; want one hit", c.query, hits, err)
		}
		h := hits[0]
		if got := h.Snippet[h.Start:h.End]; got != c.match || h.Snippet != c.snippet {
			t.Errorf("Search(%q): snippet %q with match %q; want %q, %q", c.query, h.Snippet, got, c.snippet, c.match)
		}
	}
	if hits, _ := s.Search(t.Context(), "is fixed", store.SearchOptions{}); len(hits) != 1 ||
		hits[0].Title != "T" || hits[0].Seq != 3 || hits[0].Role != message.Assistant {
		t.Errorf("hits = %+v, want message 3 of T by the assistant", hits)
	}
}
