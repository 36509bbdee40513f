package chat

import (
	"fmt"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// longHistory is a history of n rounds.
func longHistory(t testing.TB, n int) message.History {
	msgs := []*message.Message{message.NewUser("go")}
	for i := range n {
		m := message.NewAssistant(message.Call(fmt.Sprintf("call_%d", i), "read", `{"path":"a/b/c.go"}`))
		msgs = append(msgs, m, message.NewResult(m.Calls()[0], message.StatusOK, "package a\n\nfunc f() {}\n"))
	}
	return history(t, msgs...)
}

func BenchmarkRound(b *testing.B) {
	for _, rounds := range []int{10, 1000} {
		b.Run(fmt.Sprint(rounds), func(b *testing.B) {
			p, cache := testProfile(), &model.Cache{}
			r := &model.Request{System: "Be.", Tools: readTool, Cache: cache, History: longHistory(b, rounds)}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Encode(p, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestRoundsAreNotEncodedAgain(t *testing.T) {
	p, cache := testProfile(), &model.Cache{}
	r := &model.Request{System: "Be.", Tools: readTool, Cache: cache, History: longHistory(t, 1000)}
	encodeRound := func() {
		if _, err := Encode(p, r); err != nil {
			t.Fatal(err)
		}
	}
	encodeRound()
	if n := testing.AllocsPerRun(100, encodeRound); n > 20 {
		t.Errorf("%v allocations for a request that has nothing new", n)
	}
}
