package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rondo-engine/rondo/message"
)

// newBatch works out which job must wait for which.
func newBatch(ctx context.Context, jobs []Job, opts Options) *batch {
	n := len(jobs)
	b := &batch{
		ctx: ctx, jobs: jobs, opts: opts, slots: make([]slot, n), outcomes: make([]Outcome, n),
		ended: make(chan int, n), open: n, next: make([]int, 0, min(n, opts.Workers)),
	}
	var access []Access // nil as long as no job touches anything
	for i := range jobs {
		s := &b.slots[i]
		s.sameAs = -1
		if jobs[i].Answer != nil || n == 1 {
			continue
		}
		if same := b.original(i); same >= 0 {
			s.sameAs, s.after = same, []int{same}
			continue
		}
		a := jobs[i].Tool.access(jobs[i].Call.Args)
		if access == nil {
			if a.nothing() {
				continue
			}
			access = make([]Access, n)
		}
		access[i] = a
		for j := range i {
			if b.runs(j) && Conflict(access[j], a) {
				s.after = append(s.after, j)
			}
		}
	}
	return b
}

// runs reports whether job i is run at all.
func (b *batch) runs(i int) bool { return b.jobs[i].Answer == nil && b.slots[i].sameAs < 0 }

// original returns the latest earlier job that is the same call as job i, if
// nothing that may change its result is run between the two; -1 for none.
func (b *batch) original(i int) int {
	for j := i - 1; j >= 0; j-- {
		if !b.runs(j) {
			continue
		}
		if b.sameCall(j, i) {
			return j
		}
		if !b.jobs[j].Tool.ReadOnly {
			return -1
		}
	}
	return -1
}

// sameCall reports whether jobs i and j call the same tool with the same
// arguments, however these are written.
func (b *batch) sameCall(i, j int) bool {
	x, y := &b.jobs[i], &b.jobs[j]
	return x.Tool == y.Tool && (bytes.Equal(x.Call.Args, y.Call.Args) || bytes.Equal(b.canonical(i), b.canonical(j)))
}

// canonical returns the arguments of job i in canonical form, which is worked
// out once.
func (b *batch) canonical(i int) []byte {
	if b.slots[i].args == nil {
		b.slots[i].args = canonical(b.jobs[i].Call.Args)
	}
	return b.slots[i].args
}

// PanicError is a panic of a tool.
type PanicError struct {
	Tool  string
	Value any
	Stack []byte
}

// Error names the tool and what it panicked with. The stack is not for the
// model and stays out of it.
func (e *PanicError) Error() string {
	return fmt.Sprintf("the tool %s failed: it panicked: %v", e.Tool, e.Value)
}

var (
	errNoReturn = errors.New("it did not stop when told to")
	errExited   = errors.New("its goroutine exited without a result")
	errBlocked  = errors.New("not run: it conflicts with an earlier call that timed out and may still be at work")
)

// outcome words how a call that has returned ended. limit is the limit that it
// overran, 0 if it did not.
func outcome(ctx context.Context, t *Tool, limit time.Duration, res Result, err error) Outcome {
	if err == nil {
		if res.Status == "" {
			res.Status = message.StatusOK
		}
		return Outcome{Result: res}
	}
	if ctx.Err() == nil && limit > 0 && errors.Is(err, context.DeadlineExceeded) {
		return timedOut(t, limit, res.Text, err)
	}
	if !errors.Is(err, context.Canceled) {
		res.Text = joinText(res.Text, err.Error())
	}
	if ctx.Err() != nil {
		return interrupted(res.Text, true, err)
	}
	if res.Text == "" {
		res.Text = err.Error()
	}
	if res.Status == "" {
		res.Status = message.StatusError
	}
	return Outcome{Result: res, Err: err}
}

func timedOut(t *Tool, limit time.Duration, text string, cause error) Outcome {
	note := fmt.Sprintf("%s timed out after %v; what it had done by then stands", t.Name, limit)
	return Outcome{
		Result: Result{Text: joinText(text, note), Status: message.StatusError},
		Err:    fmt.Errorf("%s timed out after %v: %w", t.Name, limit, cause),
	}
}

func interrupted(text string, ran bool, cause error) Outcome {
	note := "Interrupted before it was run."
	if ran {
		note = "Interrupted while it ran: it may have taken effect in part."
	}
	return Outcome{Result: Result{Text: joinText(text, note), Status: message.StatusInterrupted}, Err: cause}
}

func notRun() Outcome {
	return Outcome{Result: Result{Text: errBlocked.Error(), Status: message.StatusError}, Err: errBlocked}
}

// joinText puts a note below the text of a result.
func joinText(text, note string) string {
	if text == "" {
		return note
	}
	return text + "\n" + note
}
