package main

import (
	"context"
	"runtime"
	"testing"

	"github.com/rondo-engine/rondo/tool"
)

func TestARunUsesOneProcessorAndSearchesUseAll(t *testing.T) { // not parallel: it is about the process
	all := runtime.GOMAXPROCS(0)
	if all == 1 {
		t.Skip("this machine has one processor")
	}
	t.Cleanup(runtime.SetDefaultGOMAXPROCS)
	p := newProcessors(func(string) string { return "" })
	seen := map[string]int{}
	look := func(name string) *tool.Tool {
		return &tool.Tool{Name: name, Run: func(context.Context, tool.Call) (tool.Result, error) {
			seen[name] = runtime.GOMAXPROCS(0)
			return tool.Result{}, nil
		}}
	}
	tools := p.give([]*tool.Tool{look("grep"), look("shell")})
	done, other := p.run(), p.run()
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
	done()
	if n := runtime.GOMAXPROCS(0); n != 1 {
		t.Errorf("while one of two runs goes on there are %d processors", n)
	}
	other()
	if n := runtime.GOMAXPROCS(0); n != all {
		t.Errorf("after the runs there are %d processors, want %d", n, all)
	}
}

func TestTheUsersChoiceOfProcessorsHolds(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	p := newProcessors(func(string) string { return "2" })
	defer p.run()()
	defer p.widen()()
	if n := runtime.GOMAXPROCS(0); n != before {
		t.Errorf("%d processors became %d", before, n)
	}
}
