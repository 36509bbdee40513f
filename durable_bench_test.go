//go:build unix

package rondo_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/snapshot"
	"github.com/rondo-engine/rondo/store/sqlite"
	"github.com/rondo-engine/rondo/tool"
)

// cpu is the time that the process has used, in user and system mode.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkDurableRound is a round with one effect in a session of 2,000
// messages of 1,000 bytes: what of its CPU time is for saving and snapshots
// shows beside "plain". The model takes 20 ms, so that every round has its
// snapshot.
func BenchmarkDurableRound(b *testing.B) {
	for _, durable := range []bool{false, true} {
		b.Run(map[bool]string{false: "plain", true: "durable"}[durable], func(b *testing.B) {
			write := newTool("look", false, func(context.Context, tool.Call) (tool.Result, error) {
				return tool.Result{Text: strings.Repeat("x", 1000)}, nil
			})
			m := endless(b.N, 1)
			m.forget = true
			for i, next := range m.steps {
				m.steps[i] = slow(next)
			}
			o := rondo.Options{Model: wide{m}, Tools: []*tool.Tool{write}, Limits: loop.Limits{MaxRounds: -1}}
			request := rondo.Request{Text: "go", History: long(2000)}
			if durable {
				s, err := sqlite.Open(b.Context(), b.TempDir()+"/s.db", sqlite.Options{})
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				if err := s.Create(b.Context(), store.Session{ID: "s"}); err != nil {
					b.Fatal(err)
				}
				if err := s.Append(b.Context(), "s", long(2000), store.Update{}); err != nil {
					b.Fatal(err)
				}
				o.Store, o.Snapshots = s, snapshot.Dir(b.TempDir())
				request = rondo.Request{Text: "go", SessionID: "s"}
			}
			a, err := rondo.New(o)
			if err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			began := cpu(b)
			res, err := a.Run(b.Context(), request)
			if err != nil || res.Rounds != b.N+1 {
				b.Fatalf("%d rounds, %v", res.Rounds, err)
			}
			b.ReportMetric(float64((cpu(b)-began).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

// wide is a model with room for all of it.
type wide struct{ *fakeModel }

func (wide) Profile() *model.Profile {
	return &model.Profile{Provider: "fake", Model: "m", ContextWindow: 100_000_000}
}

// slow takes its time before it answers.
func slow(next step) step {
	return func(ctx context.Context, yield func(model.Delta) bool) (*model.Reply, error) {
		time.Sleep(20 * time.Millisecond)
		return next(ctx, yield)
	}
}

// long is a history of n messages, n being even.
func long(n int) []*message.Message {
	var msgs []*message.Message
	for i := range n / 2 {
		user, answer := message.NewUser(fmt.Sprint("question ", i)), message.NewAssistant(message.Text(strings.Repeat("y", 1900)))
		user.ID, answer.ID = fmt.Sprint("m", 2*i+1), fmt.Sprint("m", 2*i+2)
		msgs = append(msgs, user, answer)
	}
	return msgs
}
