package main

import (
	"context"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/tool"
)

func TestARunUsesOneProcessorAndSearchesUseAll(t *testing.T) { // not parallel: it is about the process
	all := runtime.GOMAXPROCS(0)
	if all == 1 {
		t.Skip("this machine has one processor")
	}
	t.Cleanup(runtime.SetDefaultGOMAXPROCS)
	runtime.GOMAXPROCS(1) // as the program begins
	p := newProcessors(func(string) string { return "" })
	seen := map[string]int{}
	look := func(name string) *tool.Tool {
		return &tool.Tool{Name: name, Run: func(context.Context, tool.Call) (tool.Result, error) {
			seen[name] = runtime.GOMAXPROCS(0)
			return tool.Result{}, nil
		}}
	}
	tools := p.give([]*tool.Tool{look("grep"), look("shell")})
	for _, one := range tools {
		if _, err := one.Run(t.Context(), tool.Call{}); err != nil {
			t.Fatal(err)
		}
	}
	if seen["grep"] != all || seen["shell"] != 1 || runtime.GOMAXPROCS(0) != 1 {
		t.Errorf("of %d processors grep used %d, shell %d, then there were %d", all, seen["grep"], seen["shell"], runtime.GOMAXPROCS(0))
	}
	wide, wider := p.widen(), p.widen()
	wide()
	if n := runtime.GOMAXPROCS(0); n != all {
		t.Errorf("while one of two searches goes on there are %d processors", n)
	}
	wider()
	if n := runtime.GOMAXPROCS(0); n != 1 {
		t.Errorf("after the searches there are %d processors", n)
	}
	p.all()
	p.widen()()
	if n := runtime.GOMAXPROCS(0); n != all {
		t.Errorf("where all are wanted there are %d processors, want %d", n, all)
	}
}

func TestTheUsersChoiceOfProcessorsHolds(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	p := newProcessors(func(string) string { return "2" })
	p.all()
	defer p.widen()()
	if n := runtime.GOMAXPROCS(0); n != before {
		t.Errorf("%d processors became %d", before, n)
	}
}

func TestOnlyRunsStayWithOneProcessor(t *testing.T) {
	for _, c := range []struct {
		args   []string
		status int
		one    bool
	}{
		{[]string{"version"}, 0, false},
		{[]string{"wire", "classify"}, 2, false},
		{[]string{"run"}, 2, true}, // there is no prompt
	} {
		p := newProcessors(func(string) string { return "" })
		env := &environment{
			Args: c.args, Dir: t.TempDir(), Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard,
			Now: time.Now, Getenv: func(string) string { return "" }, Processors: p,
		}
		if status := execute(t.Context(), env); status != c.status || p.one != c.one {
			t.Errorf("%v ends with %d, one processor: %v", c.args, status, p.one)
		}
	}
}
