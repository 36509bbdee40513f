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
// longer than the steps do: a round takes half the time on one. So a run uses
// one processor, but all of them as long as a tool is at work that can.
//
// It is a setting of the process. A nil *processors leaves that alone.
type processors struct {
	mu   sync.Mutex
	runs int // that go on
	wide int // tools that are at work
}

// newProcessors returns nil where the user chose how many there are.
func newProcessors(getenv func(string) string) *processors {
	if getenv("GOMAXPROCS") != "" {
		return nil
	}
	return new(processors)
}

// run has the process use one processor until done is called.
func (p *processors) run() (done func()) { return p.count(func(n int) { p.runs += n }) }

// widen has it use all of them until done is called.
func (p *processors) widen() (done func()) { return p.count(func(n int) { p.wide += n }) }

func (p *processors) count(add func(n int)) (done func()) {
	if p == nil {
		return func() {}
	}
	change := func(n int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		before := p.one()
		add(n)
		switch now := p.one(); {
		case now == before:
		case now:
			runtime.GOMAXPROCS(1)
		default:
			runtime.SetDefaultGOMAXPROCS()
		}
	}
	change(1)
	return func() { change(-1) }
}

func (p *processors) one() bool { return p.runs > 0 && p.wide == 0 }

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
