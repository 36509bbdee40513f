// Package rondo is an agent-loop engine: it takes a task, asks a language
// model, runs the tools that the model asks for, judges the result and goes on
// until the task is done or a limit stops it.
//
//	agent, err := rondo.New(rondo.Options{Model: m, Tools: tools})
//	answer, err := agent.Chat(ctx, "Why does the build fail?")
//
// An Agent is what does not change from task to task: a model, tools, limits, a
// store. A Session is one conversation of it; the goroutine that runs a turn
// owns the session until the turn ends. Chat, Run and Stream are the same run
// seen in three ways: as its final response, as a Result, and as a sequence of
// events.
//
// What happens in a run is decided by package loop; this package is the world
// around it. It calls the model (package model and its adapters), runs tools in
// three steps (package tool: prepare in order, execute together where that is
// safe, finalise in order), saves every message when it is final (package
// store), and tells listeners what goes on.
package rondo

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rondo-engine/rondo/hook"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/snapshot"
	"github.com/rondo-engine/rondo/tool"
	"github.com/rondo-engine/rondo/window"
)

// Options say what an Agent works with. Only Model is needed.
type Options struct {
	// Model answers. Wrap it with package resilient for retries and fallback.
	Model model.Model
	// Tools are what the model may ask for.
	Tools []*tool.Tool
	// System is the system prompt of new sessions.
	System string
	// Store keeps sessions; nil keeps them only as long as they are in use.
	Store store.Store
	// Snapshots keep where each session stands, and Snapshot says when; nil
	// keeps none. A session that the store does not have is taken from its
	// snapshot.
	Snapshots snapshot.Store
	Snapshot  snapshot.Strategy
	// Workspace is the directory that sessions are said to work in.
	Workspace string
	// Limits bound each run. MaxRounds 0 is loop.DefaultMaxRounds, negative
	// is no limit.
	Limits loop.Limits
	// Effort and MaxOutputTokens are passed to the model; see model.Request.
	Effort          string
	MaxOutputTokens int
	// Workers bounds the tool calls that run at the same time; 0 is 8.
	Workers int
	// ToolTimeout bounds each tool call that has no limit of its own; 0 is 420 s.
	ToolTimeout time.Duration
	// ResultLimits bound what of a tool's result the model sees.
	ResultLimits tool.Limits
	// Approve is asked before a tool call runs; nil allows every call. See
	// GuardedBy.
	Approve func(ctx context.Context, c ApprovalRequest) Approval
	// Hooks are called at the points of a run that package hook names, in
	// order.
	Hooks []hook.Hooks
	// Ask puts a question of the agent to the user and waits for the answer;
	// nil where there is nobody to ask. See ClarifyTool.
	Ask func(ctx context.Context, q Question) (string, error)
	// AskTimeout bounds how long an answer of Ask and Confirm is waited for; 0
	// waits as long as the run goes on. No answer is ErrNoAnswer to a question
	// and a no to a plan.
	AskTimeout time.Duration
	// Confirm puts the plan of a session that plans to the user and waits for
	// the answer; nil, and an error, end the run with the plan. See Mode.
	Confirm func(ctx context.Context, p Plan) (PlanAnswer, error)
	// Secrets are hidden in what tools return and in what is told of errors,
	// before it is shown, sent or saved; nil hides nothing.
	Secrets *model.Secrets
	// Context says how the conversation is kept within the model's window.
	Context ContextOptions
	// Title says which model is asked for titles of new sessions, in the
	// background; without one of its own (Title.Model), and until an answer
	// comes, a session is called by its first words. See Agent.Close.
	Title Aside
	// Listeners take the events of every run.
	Listeners []Listener
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// NewID makes ids of sessions and tasks; nil makes them from the time
	// and random bytes. They must sort by the time of their making.
	NewID func() string
}

// Agent runs tasks. It is safe for concurrent use: each session is run by one
// goroutine at a time, and sessions do not disturb each other.
type Agent struct {
	opts     Options
	registry *tool.Registry
	tools    *model.ToolSet
	// lookers are the tools that a session is offered which plans.
	lookers func() *model.ToolSet
	// toolWeight is what the tools take of a context window; see package window.
	toolWeight window.Weight
	live       liveSessions
	background background

	// depth is how many agents stand above this one; offspring is the agent
	// that the children of its runs are sessions of.
	depth     int
	offspring offspring
}

// New makes an Agent. It refuses options that cannot work, such as two tools
// of one name.
func New(o Options) (*Agent, error) {
	if o.Model == nil {
		return nil, errors.New("rondo: Options.Model is missing: open one with package provider or give one of your own")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = newID(o.Now)
	}
	switch o.Snapshot {
	case "":
		o.Snapshot = snapshot.EveryToolRound
	case snapshot.EveryToolRound, snapshot.EveryRound, snapshot.Manual:
	default:
		return nil, fmt.Errorf("rondo: Options.Snapshot is %q: it is one of every_tool_round, every_round, manual", o.Snapshot)
	}
	switch {
	case o.Limits.MaxRounds == 0:
		o.Limits.MaxRounds = loop.DefaultMaxRounds
	case o.Limits.MaxRounds < 0:
		o.Limits.MaxRounds = 0
	}
	o.Context = o.Context.withDefaults()
	registry, err := register(slices.Concat(o.Tools, o.Context.Engine.Tools()))
	if err != nil {
		return nil, fmt.Errorf("rondo: %w", err)
	}
	a := &Agent{opts: o, registry: registry}
	if len(registry.Tools()) > 0 {
		a.tools = registry.Set()
		a.toolWeight = window.Tools(a.tools)
	}
	a.lookers = sync.OnceValue(func() *model.ToolSet { return lookersOf(registry) })
	return a, nil
}

// register makes a registry that offers all tools: naming one in the options
// is enough for a hidden one, too.
func register(tools []*tool.Tool) (*tool.Registry, error) {
	registry, err := tool.NewRegistry(tools...)
	if err != nil || len(tools) == 0 {
		return registry, err
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return registry.Select(names, nil)
}

// newID makes ids such as 20260102-150405-9f86d081.
func newID(now func() time.Time) func() string {
	return func() string {
		var b [4]byte
		rand.Read(b[:]) //nolint:errcheck // never fails
		return now().UTC().Format("20060102-150405-") + hex.EncodeToString(b[:])
	}
}
