package tool

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rondo-engine/rondo/message"
)

// counter is a tool that counts its runs.
func counter(readOnly bool) (*Tool, *atomic.Int32) {
	var runs atomic.Int32
	t := echo("count")
	t.ReadOnly = readOnly
	t.Run = func(context.Context, Call) (Result, error) {
		runs.Add(1)
		return Result{Text: "counted"}, nil
	}
	return t, &runs
}

// Scenario 47.
func TestSameCallRunsOnce(t *testing.T) {
	tool, runs := counter(false)
	call := func(id, args string) Job { return Job{Tool: tool, Call: Call{ID: id, Args: []byte(args)}} }
	out := Execute(t.Context(), []Job{
		call("a", `{"x":1,"y":2}`), call("b", `{"y":2, "x":1.0}`), call("c", `{"x":1,"y":2}`),
	}, Options{})
	if runs.Load() != 1 {
		t.Errorf("%d runs, want 1", runs.Load())
	}
	if out[0].Result.Text != "counted" {
		t.Errorf("first %+v", out[0])
	}
	for _, o := range out[1:] {
		if o.Result.Status != message.StatusOK || o.Ran || !strings.Contains(o.Result.Text, "same call as a ") {
			t.Errorf("copy %+v", o)
		}
	}
}

func TestSameCallRunsAgainAfterAChange(t *testing.T) {
	tool, runs := counter(true)
	write, _ := counter(false)
	same := Job{Tool: tool, Call: Call{ID: "r", Args: []byte("{}")}}
	Execute(t.Context(), []Job{same, {Tool: write, Call: Call{ID: "w", Args: []byte("{}")}}, same}, Options{})
	if runs.Load() != 2 {
		t.Errorf("%d runs, want 2: the write between may change what is read", runs.Load())
	}
}

func TestGoexitOfAToolIsAnError(t *testing.T) {
	quits := echo("quits")
	quits.Run = func(context.Context, Call) (Result, error) { runtime.Goexit(); return Result{}, nil }
	out := Execute(t.Context(), []Job{{Tool: quits}}, Options{})
	if out[0].Result.Status != message.StatusError || out[0].Err == nil {
		t.Errorf("outcome %+v", out[0])
	}
}

func TestProgressIsNeverNil(t *testing.T) {
	talks := echo("talks")
	var got string
	talks.Run = func(_ context.Context, c Call) (Result, error) { c.Progress("half"); return Result{}, nil }
	Execute(t.Context(), []Job{{Tool: talks}}, Options{})
	Execute(t.Context(), []Job{{Tool: talks, Call: Call{Progress: func(s string) { got = s }}}}, Options{})
	if got != "half" {
		t.Errorf("progress %q", got)
	}
}
