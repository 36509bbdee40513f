package rondo_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/sqlite"
	"github.com/rondo-engine/rondo/tool"
)

// endless asks for n calls of look in each of the given number of rounds.
func endless(rounds, n int) *fakeModel {
	m := &fakeModel{}
	for i := range rounds {
		calls := make([]string, n)
		for k := range calls {
			calls[k] = fmt.Sprintf(`c%d_%d look {"n":%d}`, i, k, i*n+k)
		}
		m.steps = append(m.steps, asks(calls...))
	}
	m.steps = append(m.steps, says("done"))
	return m
}

// BenchmarkRound is what a round costs beside the model's own work: the loop,
// the tool phase and, with a store, saving.
func BenchmarkRound(b *testing.B) {
	for _, calls := range []int{1, 8} {
		for _, saved := range []bool{false, true} {
			b.Run(fmt.Sprintf("calls=%d/saved=%v", calls, saved), func(b *testing.B) {
				b.ReportAllocs()
				var st store.Store
				if saved {
					s, err := sqlite.Open(b.Context(), b.TempDir()+"/s.db", sqlite.Options{})
					if err != nil {
						b.Fatal(err)
					}
					defer s.Close()
					st = s
				}
				m := endless(b.N, calls)
				m.forget = true
				look := newTool("look", true, func(context.Context, tool.Call) (tool.Result, error) {
					return tool.Result{Text: "xxxxxxxxxxxxxxxx"}, nil
				})
				a, err := rondo.New(rondo.Options{Model: m, Tools: []*tool.Tool{look}, Store: st, Limits: loop.Limits{MaxRounds: -1}})
				if err != nil {
					b.Fatal(err)
				}
				b.ResetTimer()
				res, err := a.Run(b.Context(), rondo.Request{Text: "go"})
				if err != nil || res.Rounds != b.N+1 {
					b.Fatalf("%d rounds, %v", res.Rounds, err)
				}
			})
		}
	}
}
