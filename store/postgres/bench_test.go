package postgres_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/internal/pgtest"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

// BenchmarkAppend saves one message at the end of a session.
func BenchmarkAppend(b *testing.B) {
	s := open(b, server.Schema(b))
	if err := s.Create(b.Context(), store.Session{ID: "s"}); err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if err := s.Append(b.Context(), "s", user(fmt.Sprint("m", i), strings.Repeat("a text of some words ", 20)), store.Update{Calls: 1}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLarge reads a store of 100,000 messages in 1,000 sessions, 10,000 of
// them in one.
func BenchmarkLarge(b *testing.B) {
	url := server.Schema(b)
	s := open(b, url)
	fill(b, s, "long", 10_000)
	for i := range 999 {
		fill(b, s, fmt.Sprint("s", i), 90)
	}
	pgtest.Exec(b, url, "VACUUM ANALYZE")
	b.Run("load 10000", func(b *testing.B) {
		for b.Loop() {
			if _, msgs, err := s.Load(b.Context(), "long"); err != nil || len(msgs) != 10_000 {
				b.Fatal(len(msgs), err)
			}
		}
	})
	for _, query := range []string{"needle", "number", "九千号", "九千", "no such words"} {
		b.Run("search "+query, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Search(b.Context(), query, store.SearchOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("find last", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Find(b.Context(), store.Last, ""); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// fill makes a session of n messages. One in 9,000 has a word that is nowhere
// else.
func fill(b *testing.B, s store.Store, id string, n int) {
	b.Helper()
	if err := s.Create(b.Context(), store.Session{ID: id, Title: "session " + id}); err != nil {
		b.Fatal(err)
	}
	var msgs []*message.Message
	for i := range n {
		text := fmt.Sprintf("message number %d of session %s says 第%d号 %s", i, id, i, strings.Repeat("and some more ", i%20))
		if i == 9_000 {
			text += " needle 九千号"
		}
		msgs = append(msgs, user(fmt.Sprint("m", i), text)...)
	}
	if err := s.Append(b.Context(), id, msgs, store.Update{}); err != nil {
		b.Fatal(err)
	}
}
