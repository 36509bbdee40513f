package rondo_test

import (
	"slices"
	"testing"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/tool"
)

func TestTheListOfThingsToDoSurvivesCompressionAndResuming(t *testing.T) { // scenario 101
	m, _ := small(t, summaryRule+`reply
  call todo {"todos":[{"id":"a","content":"read it"},{"id":"b","content":"mend it\nwell","status":"in_progress"},{"id":"c","content":"old","status":"completed"}]}
reply times forever
  text done
`)
	o := rondo.Options{Model: m, Store: store.NewMemory(), Tools: []*tool.Tool{rondo.TodoTool()}, Context: rondo.ContextOptions{ProtectLast: 2}}
	s := newAgent(t, o).Session("")
	if _, err := s.Run(t.Context(), rondo.Request{Text: "go", History: talk(5)}); err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(s.Todo())
	for range 3 {
		if _, err := s.Run(t.Context(), rondo.Request{Text: "more"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Compress(t.Context(), rondo.CompressRequest{}); err != nil {
		t.Fatal(err)
	}
	id := s.ID()
	s.Close()
	s = newAgent(t, o).Session(id)
	defer s.Close()
	if _, err := s.Run(t.Context(), rondo.Request{Text: "again"}); err != nil {
		t.Fatal(err)
	}
	if got := s.Todo(); len(want) != 3 || !slices.Equal(got, want) {
		t.Errorf("the list was %v and is %v", want, got)
	}
}
