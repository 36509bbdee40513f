package rondo_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/tool"
)

// after waits before it answers.
func after(d time.Duration, next step) step {
	return func(ctx context.Context, yield func(model.Delta) bool) (*model.Reply, error) {
		select {
		case <-time.After(d):
			return next(ctx, yield)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Scenario 72: what a second message does to a busy session, by mode. The first
// run takes ten seconds, the second message comes after one.
func TestSecondMessageWhileBusy(t *testing.T) {
	for _, c := range []struct {
		busy   rondo.Busy
		err    error
		first  loop.Reason
		begins time.Duration // when the model is asked for the second time
		said   string
	}{
		{"", rondo.ErrBusy, loop.EndTurn, 0, "user:one; assistant:First."},
		{rondo.BusyReject, rondo.ErrBusy, loop.EndTurn, 0, "user:one; assistant:First."},
		{rondo.BusyQueue, nil, loop.EndTurn, 10 * time.Second, "user:one; assistant:First.; user:two; assistant:Second."},
		{rondo.BusyInterrupt, nil, loop.UserCancel, time.Second, "user:one\n\ntwo; assistant:Second."},
		{rondo.BusySteer, rondo.ErrSteered, loop.EndTurn, 10 * time.Second, "user:one; assistant:First.; user:two; assistant:Second."},
	} {
		t.Run("mode "+string(c.busy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var asked time.Duration
				m := &fakeModel{steps: []step{after(10*time.Second, says("First.")), func(ctx context.Context, y func(model.Delta) bool) (*model.Reply, error) {
					asked = time.Since(began)
					return says("Second.")(ctx, y)
				}}}
				s := newAgent(t, rondo.Options{Model: m}).Session("")
				defer s.Close()
				var first, second rondo.Result
				var wg sync.WaitGroup
				wg.Go(func() { first, _ = s.Run(t.Context(), rondo.Request{Text: "one"}) })
				time.Sleep(time.Second)
				second, err := s.Run(t.Context(), rondo.Request{Text: "two", Busy: c.busy})
				wg.Wait()
				if !errors.Is(err, c.err) || first.Reason != c.first || asked != c.begins {
					t.Errorf("first ended with %s, second with %v; asked again after %v", first.Reason, err, asked)
				}
				last := first
				if err == nil {
					last = second
				}
				if got := shape(last.Messages); got != c.said {
					t.Errorf("got  %s\nwant %s", got, c.said)
				}
			})
		})
	}
}

func TestQueuedRequestsComeInOrderAndCanBeGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &fakeModel{steps: []step{after(time.Second, says("ok"))}}
		s := newAgent(t, rondo.Options{Model: m}).Session("")
		defer s.Close()
		var wg sync.WaitGroup
		for i, text := range []string{"a", "b", "c", "d"} {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			wg.Go(func() {
				_, err := s.Run(ctx, rondo.Request{Text: text, Busy: rondo.BusyQueue})
				if (text == "c") != errors.Is(err, context.Canceled) {
					t.Errorf("%s ended with %v", text, err)
				}
			})
			synctest.Wait()
			if i == 2 {
				cancel() // c gives up while it waits
			}
		}
		wg.Wait()
		if got, want := m.shapes[2], "user:a; assistant:ok; user:b; assistant:ok; user:d"; got != want {
			t.Errorf("sent %s, want %s", got, want)
		}
	})
}

// Steering goes into the running turn, what is to follow becomes turns of the
// same run, in order; one done ends it all.
func TestFollowUpsAreTheNextTurnsOfTheSameRun(t *testing.T) {
	var s *rondo.Session
	look := newTool("look", true, func(context.Context, tool.Call) (tool.Result, error) {
		if !s.FollowUp("then the docs") || !s.FollowUp("then the changelog") || !s.Steer("mind the tests") {
			return tool.Result{}, errors.New("nobody listens")
		}
		return tool.Result{Text: "seen"}, nil
	})
	m := &fakeModel{steps: []step{asks("a look"), says("code"), says("docs"), says("changelog")}}
	a := newAgent(t, rondo.Options{Model: m, Tools: []*tool.Tool{look}})
	s = a.Session("")
	defer s.Close()
	dones := 0
	count := func(e rondo.Event) {
		if e.Type == rondo.EventDone {
			dones++
		}
	}
	res, err := s.Run(t.Context(), rondo.Request{Text: "go", Listeners: []rondo.Listener{count}})
	var got []string
	for _, m := range res.Messages {
		if m.Role == message.User || m.Role == message.Assistant && m.Text() != "" {
			got = append(got, m.Text())
		}
	}
	want := []string{"go", "code", "then the docs", "docs", "then the changelog", "changelog"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil || res.FinalResponse != "changelog" || dones != 1 {
		t.Errorf("%q, %v, %d times done; said (-want +got):\n%s", res.FinalResponse, err, dones, diff)
	}
	if !strings.Contains(m.shapes[1], "mind the tests") || len(res.Unread) != 0 {
		t.Errorf("sent %s, unread %q", m.shapes[1], res.Unread)
	}
	if s.FollowUp("too late") || s.Steer("too late") {
		t.Error("an idle session took a message")
	}
}

func TestWhatARunHasNotReadIsHandedBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &fakeModel{steps: []step{stalls("Half")}}
		s := newAgent(t, rondo.Options{Model: m}).Session("")
		defer s.Close()
		time.AfterFunc(time.Millisecond, func() { s.FollowUp("later"); s.Steer("now") })
		res, _ := interruptedRun(t, s, "one")
		if diff := cmp.Diff([]string{"now", "later"}, res.Unread); diff != "" {
			t.Errorf("unread (-want +got):\n%s", diff)
		}
	})
}
