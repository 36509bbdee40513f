package sqlite_test

import (
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/sqlite"
)

// BenchmarkAppend saves what one tool round makes.
func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		name   string
		result int
		text   string
	}{
		{"round", 200, ""},
		{"round-4096", 4096, ""},
		{"round-text", 200, "I shall read the file and then see what it says."},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := open(b, file(b))
			if err := s.Create(b.Context(), store.Session{ID: "a", System: strings.Repeat("s", 20000)}); err != nil {
				b.Fatal(err)
			}
			answer := message.NewAssistant(message.Text(c.text), message.Call("call_1", "read_file", `{"path":"main.go"}`))
			answer.ID = "0001"
			result := message.NewResult(answer.Calls()[0], message.StatusOK, strings.Repeat("x", c.result))
			result.ID = "0002"
			msgs := []*message.Message{answer, result}
			u := store.Update{Calls: 1, Usage: model.Usage{Input: 1000, Output: 10}}
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Append(b.Context(), "a", msgs, u); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpen opens and closes an existing file.
func BenchmarkOpen(b *testing.B) {
	path := file(b)
	open(b, path)
	b.ReportAllocs()
	for b.Loop() {
		s, err := sqlite.Open(b.Context(), path, sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
