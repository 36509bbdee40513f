package loop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// fakeHost answers from a script and writes down what the loop asked for.
type fakeHost struct {
	replies  []any // *model.Reply or error, one for each call; the last one repeats
	results  map[string]loop.Result
	steering map[int][]string // by number of the call after which it is said
	clock    time.Time
	perCall  time.Duration
	cancel   context.CancelCauseFunc
	cancelAt int // number of the call during which the user stops the run
	manage   func(overflow bool) error
	saveErr  error

	calls []loop.Call
	log   []string // "call", "save user", "tools a b", …
}

func (f *fakeHost) Now() time.Time { return f.clock }

func (f *fakeHost) Manage(_ context.Context, h message.History, overflow bool) (message.History, error) {
	if overflow {
		f.log = append(f.log, "make room")
	}
	if f.manage != nil {
		return h, f.manage(overflow)
	}
	return h, nil
}

func (f *fakeHost) Call(ctx context.Context, c loop.Call) (*model.Reply, error) {
	f.calls = append(f.calls, c)
	f.clock = f.clock.Add(f.perCall)
	if c.NoTools {
		f.log = append(f.log, "summary")
	} else {
		f.log = append(f.log, "call")
	}
	if len(f.calls) == f.cancelAt {
		f.cancel(errors.New("the user stopped the run"))
		return nil, context.Cause(ctx)
	}
	next := f.replies[min(len(f.calls), len(f.replies))-1]
	if err, ok := next.(error); ok {
		return nil, err
	}
	r := *next.(*model.Reply)
	return &r, nil
}

func (f *fakeHost) Tools(ctx context.Context, calls []*message.ToolCall) []loop.Result {
	results := make([]loop.Result, len(calls))
	names := make([]string, len(calls))
	for i, c := range calls {
		names[i] = c.Name
		r, ok := f.results[c.Name]
		if !ok {
			r = loop.Result{Message: message.NewResult(c, message.StatusOK, fmt.Sprintf("result %d", len(f.log)))}
		}
		m := *r.Message
		m.ToolCallID, m.ToolName = c.ID, c.Name
		if ctx.Err() != nil {
			m = *message.NewResult(c, message.StatusInterrupted, "interrupted")
		}
		results[i] = loop.Result{Message: &m, Unknown: r.Unknown}
	}
	f.log = append(f.log, "tools "+strings.Join(names, " "))
	return results
}

func (f *fakeHost) Save(_ context.Context, msgs ...*message.Message) error {
	for _, m := range msgs {
		f.log = append(f.log, "save "+string(m.Role))
	}
	return f.saveErr
}

func (f *fakeHost) Checkpoint(context.Context, *loop.State) error { return nil }

func (f *fakeHost) Steering() []string {
	said := f.steering[len(f.calls)]
	delete(f.steering, len(f.calls))
	return said
}

func (f *fakeHost) FollowUp() []string { return f.Steering() }

// says is a finished reply of text.
func says(text string) *model.Reply {
	r := &model.Reply{Message: message.NewAssistant(), Finish: model.FinishStop, Usage: model.Usage{Input: 100, Output: 10}}
	if text != "" {
		r.Message = message.NewAssistant(message.Text(text))
	}
	return r
}

// asks is a reply that calls tools, each "name" or "name arguments".
func asks(round int, calls ...string) *model.Reply {
	r := &model.Reply{Message: message.NewAssistant(), Finish: model.FinishToolCalls, Announced: true, Usage: model.Usage{Input: 100, Output: 10}}
	for i, c := range calls {
		name, args, _ := strings.Cut(c, " ")
		if args == "" {
			args = "{}"
		}
		r.Message.Parts = append(r.Message.Parts, message.Call(fmt.Sprintf("call_%d_%d", round, i), name, args))
	}
	return r
}

func thinks(text string) *model.Reply {
	r := says("")
	r.Message = message.NewAssistant(message.Reasoning(text))
	return r
}

func finish(r *model.Reply, f model.Finish) *model.Reply {
	r.Finish = f
	return r
}

func announced(r *model.Reply) *model.Reply {
	r.Announced = true
	return r
}

func fails(c model.Class) error {
	return &model.Error{Op: "call", Class: c, Err: errors.New("provider's words")}
}

func failing(text string) loop.Result {
	return loop.Result{Message: message.NewResult(&message.ToolCall{}, message.StatusError, text)}
}

func same(text string) loop.Result {
	return loop.Result{Message: message.NewResult(&message.ToolCall{}, message.StatusOK, text)}
}

func unknown() loop.Result {
	r := failing("no such tool")
	r.Unknown = true
	return r
}
