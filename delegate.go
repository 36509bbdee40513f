package rondo

import (
	"cmp"
	"context"
	_ "embed" // for the text of the tool
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rondo-engine/rondo/hook"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/tool"
)

// Delegation says what child agents may do, and how many there may be.
type Delegation struct {
	// Model answers for children; nil is the parent's.
	Model model.Model
	// System is the system prompt of children; empty is the agent's with a
	// note on what a child is.
	System string
	// MaxRounds bounds each child, 50 by default.
	MaxRounds int
	// MaxConcurrent is how many children may be at work at a time, 3 by
	// default; MaxTotal how many a top-level run may have in all, their own
	// children among them, 50 by default, negative for no limit.
	MaxConcurrent, MaxTotal int
	// MaxDepth is how deep children may delegate in turn, 1 by default: they
	// may not.
	MaxDepth int
	// StallAfter is how long a child may give no sign of life, 450 s by
	// default, and while its tools run StallInTool, 1200 s. Listeners are told
	// then; after StallGrace more, 120 s by default, the child is stopped and
	// reported as stalled.
	StallAfter, StallInTool, StallGrace time.Duration
}

func (d Delegation) withDefaults() Delegation {
	d.MaxRounds = cmp.Or(d.MaxRounds, 50)
	d.MaxConcurrent = cmp.Or(d.MaxConcurrent, 3)
	d.MaxTotal = cmp.Or(d.MaxTotal, 50)
	d.MaxDepth = cmp.Or(d.MaxDepth, 1)
	d.StallAfter = cmp.Or(d.StallAfter, 450*time.Second)
	d.StallInTool = cmp.Or(d.StallInTool, 1200*time.Second)
	d.StallGrace = cmp.Or(d.StallGrace, 120*time.Second)
	return d
}

const (
	delegateName = "delegate_task"
	// delegateTime bounds a call of delegate_task. Children have limits of
	// their own; this is longer than any of them.
	delegateTime = 30 * 24 * time.Hour
	// delegateBytes bounds what the summaries of one call bring, in bytes;
	// summaryBytes that of one child.
	delegateBytes = 80_000
	summaryBytes  = 24_000
	// endWait is how long a stopped child may take to hand in what it has.
	endWait = 2 * time.Second
)

//go:embed delegate.md
var delegateText string

type delegateArgs struct {
	Goal    string         `json:"goal,omitzero" jsonschema:"a single task; for several use tasks"`
	Context string         `json:"context,omitzero"`
	Tasks   []delegateTask `json:"tasks,omitzero"`
}

type delegateTask struct {
	Goal    string `json:"goal"`
	Context string `json:"context,omitzero"`
}

// DelegateTool returns the agent-level tool delegate_task: the model gives
// tasks to child agents. A child is a session of its own, stored with the
// session that delegated it as its parent (relation store.Delegate) before that hears
// of its result. It has the tools of the agent but those that are TopOnly or
// Interactive, and delegate_task where Delegation.MaxDepth is reached. Its
// events come to the listeners of the run with its path in Event.Agent, and
// what it used counts into the Result.
func DelegateTool(d Delegation) *tool.Tool {
	del := &delegation{d.withDefaults()}
	text := strings.ReplaceAll(strings.TrimSpace(delegateText), "{max}", strconv.Itoa(del.MaxConcurrent))
	return tool.Must(tool.New(tool.Tool{
		Name: delegateName, Description: text, Toolset: agentToolset, Timeout: delegateTime, MaxResult: delegateBytes,
		// Children may touch any file, but do not wait for one another.
		Access: func(json.RawMessage) tool.Access { return tool.Access{Reads: []string{"/"}} },
		// Children of a run that plans only look, too.
		Looks: func(json.RawMessage) bool { return true },
	}, del.run))
}

// delegation is what the tool works with.
type delegation struct{ Delegation }

func (d *delegation) run(ctx context.Context, call tool.Call, a delegateArgs) (tool.Result, error) {
	turn, ok := TurnOf(ctx)
	if !ok {
		return tool.Result{}, fmt.Errorf("%s works in an agent only", delegateName)
	}
	tasks := a.list()
	if err := d.check(tasks); err != nil {
		return tool.Result{}, err
	}
	if !d.admits(turn.phase, call.ID) {
		return tool.Result{}, fmt.Errorf("nothing was started: together with the other calls of this reply there would be more than %d child agents at a time: call again when those have ended", d.MaxConcurrent)
	}
	agent, err := turn.phase.run.a.child(d)
	if err != nil {
		return tool.Result{}, err
	}
	if err := turn.phase.run.family.reserve(len(tasks), d.MaxTotal); err != nil {
		return tool.Result{}, err
	}
	children := make([]*child, len(tasks))
	var wg sync.WaitGroup
	for i, t := range tasks {
		wg.Go(func() { children[i] = d.raise(ctx, turn.phase.run, agent, t) })
	}
	wg.Wait()
	return report(ctx, children)
}

// list returns the tasks of a call in order.
func (a delegateArgs) list() []delegateTask {
	if a.Goal == "" {
		return a.Tasks
	}
	return append([]delegateTask{{a.Goal, a.Context}}, a.Tasks...)
}

func (d *delegation) check(tasks []delegateTask) error {
	if len(tasks) == 0 {
		return errors.New("nothing was started: give a goal, or tasks")
	}
	if len(tasks) > d.MaxConcurrent {
		return fmt.Errorf("nothing was started: %d tasks are too many, at most %d child agents work at a time: give the others in a later call",
			len(tasks), d.MaxConcurrent)
	}
	for i, t := range tasks {
		if strings.TrimSpace(t.Goal) == "" {
			return fmt.Errorf("nothing was started: task %d has no goal", i+1)
		}
	}
	return nil
}

// admits reports whether the call of that id is among those of its reply that
// may have their children: in the order of the calls, as many as there may be
// children at a time.
func (d *delegation) admits(p *toolPhase, id string) bool {
	used := 0
	for i := range p.jobs {
		j := &p.jobs[i]
		if j.Answer != nil || j.Tool.Name != delegateName {
			continue
		}
		var a delegateArgs
		if json.Unmarshal(j.Call.Args, &a) != nil {
			continue
		}
		n := len(a.list())
		fits := used+n <= d.MaxConcurrent
		if j.Call.ID == id {
			return fits
		}
		if fits {
			used += n
		}
	}
	return false
}

// raise runs one child to its end.
func (d *delegation) raise(ctx context.Context, parent *run, agent *Agent, t delegateTask) *child {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	id := agent.opts.NewID()
	s := agent.Session("")
	s.parent = parent.s.id
	up := &uplink{
		to: &parent.events, task: id, path: append(slices.Clone(parent.path), id), alone: []string{id}, family: &parent.family,
		looking: parent.looking(),
	}
	w := newWatch(d, s.id, up, stop)
	defer w.end()
	ended := make(chan *child, 1)
	told := hook.Subagent{Session: s.id, Task: id, Parent: parent.s.id, Goal: t.Goal}
	parent.subagent(ctx, told, false)
	go func() {
		defer s.Close()
		res, err := s.Run(ctx, Request{Text: t.prompt(up.looking), TaskID: id, up: up})
		parent.family.add(res)
		told.Reason = string(res.Reason)
		parent.subagent(ctx, told, true)
		ended <- &child{id: id, session: s.id, result: res, err: err, stalled: errors.Is(context.Cause(ctx), errStalled)}
	}()
	select {
	case c := <-ended:
		return c
	case <-ctx.Done():
	}
	late := time.NewTimer(endWait)
	defer late.Stop()
	select {
	case c := <-ended:
		return c
	case <-late.C:
		return &child{id: id, session: s.id, err: errNoEnd, stalled: errors.Is(context.Cause(ctx), errStalled)}
	}
}

// prompt is the first message of a child.
func (t delegateTask) prompt(looking bool) string {
	text := t.Goal
	if strings.TrimSpace(t.Context) != "" {
		text += "\n\n# Context\n" + t.Context
	}
	if looking {
		text += "\n\nOnly look: a plan is being made, and nothing may be changed yet."
	}
	return text
}
