package rondo_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/tool"
)

// titled runs a first turn with a model for titles and returns what the store
// says of the session when the agent is closed, and how long closing took.
func titled(t *testing.T, titles *fakeModel, meanwhile func(st *store.Memory, id string)) (store.Session, time.Duration) {
	t.Helper()
	st := store.NewMemory()
	m := &fakeModel{steps: []step{says("done")}}
	a := newAgent(t, rondo.Options{Model: m, Store: st, Title: rondo.Aside{Model: titles}})
	began := time.Now()
	res, err := a.Run(t.Context(), rondo.Request{Text: "why does the parser\nend too early?"})
	if err != nil || time.Since(began) > 0 {
		t.Fatalf("the answer took %v, %v", time.Since(began), err)
	}
	if meanwhile != nil {
		meanwhile(st, res.SessionID)
	}
	began = time.Now()
	a.Close()
	took := time.Since(began)
	session, _, err := st.Load(t.Context(), res.SessionID)
	if err != nil {
		t.Fatal(err)
	}
	return session, took
}

// answersAfter answers with text after a while.
func answersAfter(d time.Duration, text string) step {
	return func(ctx context.Context, yield func(model.Delta) bool) (*model.Reply, error) {
		select {
		case <-time.After(d):
			return says(text)(ctx, yield)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func TestANewSessionGetsATitleInTheBackground(t *testing.T) {
	const first = "why does the parser"
	for name, c := range map[string]struct {
		step  step
		title string
		took  time.Duration
	}{
		"at once":        {says("**“Parser ends too early.”**\nbecause"), "Parser ends too early", 0},
		"soon":           {answersAfter(200*time.Millisecond, "Title: Parser"), "Parser", 200 * time.Millisecond},
		"too late":       {answersAfter(time.Minute, "Parser"), first, 300 * time.Millisecond},
		"nothing":        {says(" \n"), first, 0},
		"an essay":       {says(strings.Repeat("long ", 50)), first, 0},
		"a failure":      {fails(model.Auth), first, 0},
		"in other words": {says("パーサーの不具合。"), "パーサーの不具合", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				titles := &fakeModel{steps: []step{c.step}}
				session, took := titled(t, titles, nil)
				if session.Title != c.title || took != c.took {
					t.Errorf("the title is %q after %v, want %q after %v", session.Title, took, c.title, c.took)
				}
				asked := titles.requests[0].History.Messages()
				if len(asked) != 1 || !strings.HasPrefix(asked[0].Text(), first) {
					t.Errorf("it was asked about %s", shape(asked))
				}
			})
		})
	}
}

func TestATitleOfAPersonStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		titles := &fakeModel{steps: []step{answersAfter(100*time.Millisecond, "Parser")}}
		session, _ := titled(t, titles, func(st *store.Memory, id string) {
			if err := st.Append(t.Context(), id, nil, store.Update{Title: "my own"}); err != nil {
				t.Error(err)
			}
		})
		if session.Title != "my own" || session.Calls != 2 {
			t.Errorf("%+v", session)
		}
	})
}

func TestOnlyNewSessionsOfUsersGetTitles(t *testing.T) {
	st := store.NewMemory()
	titles := &fakeModel{steps: []step{says("Parser")}}
	m := &fakeModel{steps: []step{
		asks(`a delegate_task {"goal":"look"}`), says("child done"), says("done"), says("two"),
	}}
	o := rondo.Options{Model: m, Store: st, Title: rondo.Aside{Model: titles}, Tools: []*tool.Tool{rondo.DelegateTool(rondo.Delegation{})}}
	a := newAgent(t, o)
	res, err := a.Run(t.Context(), rondo.Request{Text: "go"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Run(t.Context(), rondo.Request{Text: "again", SessionID: res.SessionID}); err != nil {
		t.Fatal(err)
	}
	a.Close()
	if n := len(titles.requests); n != 1 {
		t.Errorf("%d titles were asked for", n)
	}
	if _, err := a.Run(t.Context(), rondo.Request{Text: "after the end"}); err != nil && !errors.Is(err, rondo.ErrBusy) {
		t.Error(err)
	}
	if n := len(titles.requests); n != 1 {
		t.Errorf("a closed agent asked for %d titles", n-1)
	}
}
