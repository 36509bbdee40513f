package rondo_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeModel answers each request with the next of its steps; the last repeats.
type fakeModel struct {
	mu       sync.Mutex
	steps    []step
	requests []*model.Request
	shapes   []string // the history of each request, as it was sent
	forget   bool     // keep no record of the requests
	calls    int
}

// step yields the deltas of one reply. An error ends it.
type step func(ctx context.Context, yield func(model.Delta) bool) (*model.Reply, error)

func (f *fakeModel) Profile() *model.Profile {
	return &model.Profile{Provider: "fake", Model: "m", ContextWindow: 100000}
}

func (f *fakeModel) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		f.mu.Lock()
		n := f.calls
		f.calls++
		if !f.forget {
			f.requests = append(f.requests, req)
			f.shapes = append(f.shapes, shape(req.History.Messages()))
		}
		f.mu.Unlock()
		next := f.steps[min(n, len(f.steps)-1)]
		reply, err := next(ctx, func(d model.Delta) bool { return yield(d, nil) })
		if err != nil {
			yield(model.Delta{}, err)
			return
		}
		yield(model.Delta{Kind: model.DeltaDone, Reply: reply}, nil)
	}
}

// says answers with text, word by word.
func says(text string) step {
	return func(_ context.Context, yield func(model.Delta) bool) (*model.Reply, error) {
		for _, w := range strings.SplitAfter(text, " ") {
			if !yield(model.Delta{Kind: model.DeltaText, Text: w}) {
				return nil, context.Canceled
			}
		}
		return &model.Reply{
			Message: message.NewAssistant(message.Text(text)), Finish: model.FinishStop,
			Usage: model.Usage{Input: 10, Output: 5},
		}, nil
	}
}

// asks calls tools, each "id name arguments".
func asks(calls ...string) step {
	return func(_ context.Context, yield func(model.Delta) bool) (*model.Reply, error) {
		m := message.NewAssistant()
		for i, c := range calls {
			f := strings.SplitN(c, " ", 3)
			if len(f) < 3 {
				f = append(f, "{}")
			}
			m.Parts = append(m.Parts, message.Call(f[0], f[1], f[2]))
			yield(model.Delta{Kind: model.DeltaCall, Index: i, Name: f[1]})
		}
		return &model.Reply{Message: m, Finish: model.FinishToolCalls, Announced: true, Usage: model.Usage{Input: 10, Output: 5}}, nil
	}
}

// stalls says the beginning of a reply and then nothing until ctx ends.
func stalls(text string) step {
	return func(ctx context.Context, yield func(model.Delta) bool) (*model.Reply, error) {
		if text != "" {
			yield(model.Delta{Kind: model.DeltaText, Text: text})
		}
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
}

func fails(c model.Class) step {
	return func(context.Context, func(model.Delta) bool) (*model.Reply, error) {
		return nil, &model.Error{Op: "stream reply", Class: c, Provider: "fake", Model: "m", Err: errors.New("provider's words")}
	}
}

// shape is a history in one line: "user:go; assistant:; tool:ok".
func shape(msgs []*message.Message) string {
	var out []string
	for _, m := range msgs {
		s := string(m.Role) + ":" + m.Text()
		for _, c := range m.Calls() {
			s += "<" + c.Name + ">"
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

// newTool makes a tool that takes any object.
func newTool(name string, readOnly bool, run func(ctx context.Context, c tool.Call) (tool.Result, error)) *tool.Tool {
	return &tool.Tool{
		Name: name, Description: "A tool for tests.", ReadOnly: readOnly, Run: run,
		Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`),
	}
}

// fixed is a read-only tool that always has the same result.
func fixed(name, result string) *tool.Tool {
	return newTool(name, true, func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Text: result}, nil
	})
}

// settles is a tool that returns a while later, when all listeners of a run in
// virtual time have taken what there was.
func settles(name string) *tool.Tool {
	return newTool(name, true, func(context.Context, tool.Call) (tool.Result, error) {
		time.Sleep(time.Millisecond)
		return tool.Result{Text: "settled"}, nil
	})
}

func newAgent(t *testing.T, o rondo.Options) *rondo.Agent {
	t.Helper()
	a, err := rondo.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
