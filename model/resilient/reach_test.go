package resilient_test

import (
	"context"
	"errors"
	"iter"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/resilient"
)

// harbour is an endpoint that is there only now and then.
type harbour struct {
	open  []bool // by attempt; what comes after is closed
	calls int
}

func (h *harbour) Profile() *model.Profile { return &model.Profile{Provider: "p", Model: "m"} }

func (h *harbour) Stream(context.Context, *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		h.calls++
		if h.calls <= len(h.open) && h.open[h.calls-1] {
			yield(model.Delta{Kind: model.DeltaDone, Reply: &model.Reply{Message: message.NewAssistant(message.Text("ok"))}}, nil)
			return
		}
		refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
		yield(model.Delta{}, &model.Error{Op: "ask", Class: model.Timeout, RetryAfter: -1, Err: refused})
	}
}

// ask makes one call and returns how long it took and its error.
func ask(t *testing.T, m model.Model) (took time.Duration, failure error) {
	t.Helper()
	began := time.Now()
	for _, err := range m.Stream(t.Context(), &model.Request{}) {
		failure = err
	}
	return time.Since(began), failure
}

func TestStrangerThatCannotBeReachedIsGivenUpSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{}
		took, err := ask(t, resilient.NewRetry(h, resilient.RetryOptions{Env: env}))
		if !errors.Is(err, model.ErrUnreachable) || !errors.Is(err, syscall.ECONNREFUSED) || model.ClassOf(err) != model.Timeout {
			t.Errorf("the error is %v", err)
		}
		if h.calls != 3 || took != time.Second {
			t.Errorf("%d attempts in %v, want 3 in 1s", h.calls, took)
		}
	})
}

func TestAcquaintanceThatCannotBeReachedIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{open: []bool{true, false, false, false, true}}
		m := resilient.NewRetry(h, resilient.RetryOptions{Env: env})
		if _, err := ask(t, m); err != nil {
			t.Fatal(err)
		}
		if took, err := ask(t, m); err != nil || took != 3*time.Second {
			t.Errorf("the second call ended with %v after %v", err, took)
		}
		if _, err := ask(t, m); errors.Is(err, model.ErrUnreachable) || h.calls != 10 {
			t.Errorf("the third call ended with %v after %d attempts in all", err, h.calls)
		}
	})
}
