package rondo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/tool"
)

var (
	errStalled = errors.New("the child agent gave no sign of life")
	errNoEnd   = errors.New("it did not stop when told to")
)

// child is how a child agent ended.
type child struct {
	id, session string
	result      Result
	err         error
	stalled     bool
}

// ChildReport is how a child agent ended, in the Details of a delegate_task call.
type ChildReport struct {
	Task    string `json:"task_id"`
	Session string `json:"session_id"`
	// Status is done, partial (a limit ended it), failed, stalled or
	// interrupted; Reason why its run ended.
	Status string      `json:"status"`
	Reason loop.Reason `json:"reason,omitempty"`
	Rounds int         `json:"rounds"`
	Usage  model.Usage `json:"usage"`
	// CostUSD is nil where a price is not known.
	CostUSD *float64 `json:"cost_usd"`
}

func (c *child) report() ChildReport {
	r := &c.result
	return ChildReport{
		Task: c.id, Session: c.session, Status: c.status(), Reason: r.Reason, Rounds: r.Rounds, Usage: r.Usage, CostUSD: r.CostUSD,
	}
}

func (c *child) status() string {
	switch c.result.Reason {
	case loop.EndTurn:
		return "done"
	case loop.MaxRounds, loop.MaxBudget, loop.Deadline, loop.MaxErrors, loop.LoopDetected:
		return "partial"
	}
	switch {
	case c.stalled:
		return "stalled"
	case c.result.Reason == loop.UserCancel:
		return "interrupted"
	}
	return "failed"
}

// text is what the parent reads of the child.
func (c *child) text() string {
	why := c.result.Detail
	if c.stalled && c.status() == "stalled" {
		why = errStalled.Error() + ", so it was stopped"
	} else if why == "" && c.err != nil {
		why = c.err.Error()
	}
	head := c.status()
	if c.result.Rounds > 0 {
		head += fmt.Sprintf(" after %d rounds", c.result.Rounds)
	}
	if why != "" {
		head += ": " + why
	}
	said := c.said()
	if len(said) > summaryBytes {
		said = strings.ToValidUTF8(said[:summaryBytes], "") + fmt.Sprintf("\n[%d bytes cut; the whole is in session %s]", len(said)-summaryBytes, c.session)
	}
	return head + "\n" + said
}

// said is the child's summary, or else the last thing that it said.
func (c *child) said() string {
	if c.result.Reason != loop.UserCancel && c.result.FinalResponse != "" {
		return c.result.FinalResponse
	}
	msgs := c.result.Messages
	for i := len(msgs) - 1; i >= 0; i-- {
		if text := msgs[i].Text(); msgs[i].Role == message.Assistant && text != "" && text != message.InterruptedText {
			return "The last thing it said: " + text
		}
	}
	return "It said nothing."
}

// report words how the children of a call ended, in the order of the tasks.
func report(ctx context.Context, children []*child) (tool.Result, error) {
	var b strings.Builder
	details := make([]ChildReport, len(children))
	good := false
	for i, c := range children {
		details[i] = c.report()
		good = good || details[i].Status == "done" || details[i].Status == "partial"
		if i > 0 {
			b.WriteString("\n\n")
		}
		if len(children) > 1 {
			fmt.Fprintf(&b, "## Task %d: ", i+1)
		}
		b.WriteString(c.text())
	}
	res := tool.Result{Text: b.String(), Details: details}
	if err := context.Cause(ctx); err != nil {
		return res, ctx.Err()
	}
	if !good {
		res.Status = message.StatusError
	}
	return res, nil
}

// watch notices when a child gives no sign of life. It tells so first, and
// stops the child if none follows.
type watch struct {
	d       *delegation
	session string
	up      *uplink
	stop    context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	tools int // calls of the child that run
	told  bool
	over  bool
}

func newWatch(d *delegation, session string, up *uplink, stop context.CancelCauseFunc) *watch {
	w := &watch{d: d, session: session, up: up, stop: stop}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(d.StallAfter, w.quiet)
	up.beat = w.beat
	return w
}

// beat takes a sign of life.
func (w *watch) beat(e *Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case len(e.Agent) > 0: // a child of the child
	case e.Type == EventToolUse:
		w.tools++
	case e.Type == EventToolResult:
		w.tools--
	}
	if w.told = false; !w.over {
		w.timer.Reset(w.patience())
	}
}

func (w *watch) patience() time.Duration {
	if w.tools > 0 {
		return w.d.StallInTool
	}
	return w.d.StallAfter
}

// quiet is called when there was nothing for too long.
func (w *watch) quiet() {
	w.mu.Lock()
	told, waited := w.told, w.patience()
	w.told = true
	if !told {
		w.timer.Reset(w.d.StallGrace)
	}
	w.mu.Unlock()
	if told {
		w.stop(errStalled)
		return
	}
	w.up.to.pass(Event{
		Type: EventStatus, SessionID: w.session, Agent: w.up.alone,
		Text: fmt.Sprintf("the child agent has given no sign of life for %v; it is stopped in %v if none comes", waited, w.d.StallGrace),
	})
}

func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.timer.Stop()
}
