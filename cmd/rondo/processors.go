package main

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/rondo-engine/rondo/tool"
)

// processors are those that the program uses. What a run does between two calls
// of the model is a chain of short steps in several goroutines. With more
// processors than one, each step wakes another one for the next, which takes
// longer than the steps do: a round takes a third less time on one. So a run
// stays with the one that the program begins with (package start), but for tools
// that can use all.
//
// It is a setting of the process. A nil *processors leaves that alone.
type processors struct {
	mu   sync.Mutex
	one  bool // but for wide tools
	wide int  // tools that are at work
}

// newProcessors returns nil where the user chose how many there are.
func newProcessors(getenv func(string) string) *processors {
	if getenv("GOMAXPROCS") != "" {
		return nil
	}
	return &processors{one: true}
}

// all has the process use all processors from now on.
func (p *processors) all() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.one = false
	runtime.SetDefaultGOMAXPROCS()
}

// widen has it use all of them until done is called.
func (p *processors) widen() (done func()) {
	if p == nil {
		return func() {}
	}
	p.count(1)
	return func() { p.count(-1) }
}

// count takes note of n more wide tools.
func (p *processors) count(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.wide
	p.wide += n
	switch {
	case !p.one:
	case before == 0:
		runtime.SetDefaultGOMAXPROCS()
	case p.wide == 0:
		runtime.GOMAXPROCS(1)
	}
}

// wideTools are the tools that share their work among processors.
func wideTools() []string { return []string{"grep", "glob"} }

// give returns tools of which those that can use all processors do.
func (p *processors) give(tools []*tool.Tool) []*tool.Tool {
	tools = slices.Clone(tools)
	for i, t := range tools {
		if !slices.Contains(wideTools(), t.Name) {
			continue
		}
		wide := *t
		wide.Run = func(ctx context.Context, call tool.Call) (tool.Result, error) {
			defer p.widen()()
			return t.Run(ctx, call)
		}
		tools[i] = &wide
	}
	return tools
}
