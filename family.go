package rondo

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/tool"
)

// childSystem is what a child agent is told behind the system prompt.
const childSystem = "\n\n# You are a child agent\n" +
	"Another agent gave you the task below. It sees nothing of your work but your last message, and nobody can answer questions. " +
	"Carry the task to its end, then reply with a summary: what you did, what you found, which files you changed, what is left open."

// family is the child agents of a run.
type family struct {
	// started counts the children of the whole tree of agents below the
	// top-level run.
	started *atomic.Int64

	mu    sync.Mutex
	ended []Result // what is not in the books of the parent yet
}

// adoptedBy begins the books of a run, which shares the count with its parent.
func (f *family) adoptedBy(up *uplink) {
	f.started = new(atomic.Int64)
	if up != nil {
		f.started = up.family.started
	}
}

// reserve counts n more children, if there may be so many; 0 is no limit.
func (f *family) reserve(n, limit int) error {
	total := f.started.Add(int64(n))
	if limit <= 0 || total <= int64(limit) {
		return nil
	}
	f.started.Add(-int64(n))
	return fmt.Errorf("nothing was started: this run may have %d child agents in all and has had %d: do the rest yourself", limit, total-int64(n))
}

func (f *family) add(r Result) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = append(f.ended, r)
}

// account takes what children used into their parent's result.
func (f *family) account(into *Result) {
	f.mu.Lock()
	ended := f.ended
	f.ended = nil
	f.mu.Unlock()
	for i := range ended {
		into.addUsage(&ended[i])
	}
}

// addUsage adds what a child's run used.
func (r *Result) addUsage(child *Result) {
	if child.APICalls == 0 {
		return
	}
	r.Usage = r.Usage.Add(child.Usage)
	for name, u := range child.UsageByModel {
		r.UsageByModel[name] = r.UsageByModel[name].Add(u)
	}
	r.APICalls += child.APICalls
	if r.CostUSD == nil || child.CostUSD == nil {
		r.CostUSD = nil
		return
	}
	sum := *r.CostUSD + *child.CostUSD
	r.CostUSD = &sum
}

// uplink is the way from a child's run to its parent's.
type uplink struct {
	to   *emitter
	task string
	// path is the child's, from the top-level run.
	path   []string
	alone  []string // the path from the parent
	family *family
	// looking says that the child may only look.
	looking bool
	// beat is told of each event.
	beat func(*Event)
}

// pass hands an event of the child to the listeners of its parent. The end of
// the child is not the end of that run, so it becomes a status.
func (u *uplink) pass(e Event) {
	u.beat(&e)
	if e.Type == EventDone && len(e.Agent) == 0 {
		e.Type, e.Text = EventStatus, "the child agent ended: "+string(e.Done.Reason)
	}
	if len(e.Agent) == 0 {
		e.Agent = u.alone
	} else {
		e.Agent = append([]string{u.task}, e.Agent...)
	}
	u.to.pass(e)
}

// relation says what a session is to its parent.
func relation(parent string) string {
	if parent == "" {
		return ""
	}
	return store.Delegate
}

// offspring is the agent for the children of an agent, made when it is first
// needed.
type offspring struct {
	once  sync.Once
	agent *Agent
	err   error
}

// child returns the agent that carries out what a delegates.
func (a *Agent) child(d *delegation) (*Agent, error) {
	a.offspring.once.Do(func() {
		o := a.opts
		o.Listeners, o.Ask, o.Confirm, o.Context.Refresh = nil, nil, nil, nil
		o.Limits = childLimits(o.Limits, d.MaxRounds)
		o.Tools = slices.DeleteFunc(slices.Clone(o.Tools), func(t *tool.Tool) bool {
			return t.TopOnly || t.Interactive || t.Name == delegateName && a.depth+1 >= d.MaxDepth
		})
		if d.Model != nil {
			o.Model = d.Model
		}
		if a.depth == 0 {
			o.System += childSystem
			if d.System != "" {
				o.System = d.System
			}
		}
		if a.offspring.agent, a.offspring.err = New(o); a.offspring.err == nil {
			a.offspring.agent.depth = a.depth + 1
		}
	})
	return a.offspring.agent, a.offspring.err
}

// childLimits are those of the parent with rounds of its own.
func childLimits(l loop.Limits, rounds int) loop.Limits {
	l.MaxRounds = rounds
	return l
}

// todoArguments checks the arguments of a call of the tool todo.
func (a *Agent) todoArguments(arguments string) (json.RawMessage, error) {
	_, args, err := a.registry.Prepare(todoName, arguments, false)
	return args, err
}
