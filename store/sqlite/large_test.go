//go:build unix

package sqlite_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/sqlite"
)

// fillLarge makes a store of 1,000 sessions with 100,000 messages in all, of
// which the session "large" has 10,000.
func fillLarge(b *testing.B, s *sqlite.Store) {
	b.Helper()
	fill := func(id string, n int) {
		if err := s.Create(b.Context(), store.Session{ID: id, Title: "work on it"}); err != nil {
			b.Fatal(err)
		}
		msgs := make([]*message.Message, 0, n)
		for i := range n / 2 {
			ask := message.NewAssistant(message.Text(fmt.Sprintf("In step %d of %s I read the parser and look for the fault.", i, id)),
				message.Call("c", "read_file", fmt.Sprintf(`{"path":"f%d.go"}`, i)))
			result := message.NewResult(ask.Calls()[0], message.StatusOK, strings.Repeat("line of text\n", 40))
			ask.ID, result.ID = fmt.Sprint("m", 2*i+1), fmt.Sprint("m", 2*i+2)
			msgs = append(msgs, ask, result)
		}
		if err := s.Append(b.Context(), id, msgs, store.Update{}); err != nil {
			b.Fatal(err)
		}
	}
	fill("large", 10000)
	for i := range 999 {
		fill(fmt.Sprintf("s%03d", i), 90)
	}
}

// cpu is the time that the process has used, in user and system mode.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkLarge loads a session of 10,000 messages out of 100,000 with opening
// the file, and searches all of them.
func BenchmarkLarge(b *testing.B) {
	path := file(b)
	fillLarge(b, open(b, path))
	b.Run("open-and-load", func(b *testing.B) {
		began := cpu(b)
		defer func() { b.ReportMetric(float64((cpu(b)-began).Microseconds())/1000/float64(b.N), "cpu-ms/op") }()
		for b.Loop() {
			s, err := sqlite.Open(b.Context(), path, sqlite.Options{})
			if err != nil {
				b.Fatal(err)
			}
			_, msgs, err := s.Load(b.Context(), "large")
			if err == nil {
				_, _, _ = message.NormaliseOpen(msgs)
				err = s.Close()
			}
			if err != nil || len(msgs) != 10000 {
				b.Fatal(len(msgs), err)
			}
		}
	})
	s := open(b, path)
	for _, query := range []string{"parser fault", "step 4321", "zebra", "of", "zq", `"step 77 of s500"`} {
		b.Run("search="+strings.ReplaceAll(query, " ", "_"), func(b *testing.B) {
			began := cpu(b)
			defer func() { b.ReportMetric(float64((cpu(b)-began).Microseconds())/1000/float64(b.N), "cpu-ms/op") }()
			for b.Loop() {
				if _, err := s.Search(b.Context(), query, store.SearchOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
