package tool

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/rondo-engine/rondo/message"
)

// Job is one call of a reply, ready to be executed.
type Job struct {
	// Tool runs the call. It is not used where Answer is set.
	Tool *Tool
	Call Call
	// Answer is the result of a call that is not to be run: its tool is
	// unknown, its arguments do not fit, it was denied.
	Answer *Result
}

// Outcome is how a job ended.
type Outcome struct {
	// Result is never without a Status.
	Result Result
	// Err is the error that Run returned, a *PanicError, or why the call was
	// stopped or not run; nil for a call that went well.
	Err error
	// Ran says that the call was begun, so that it may have had effects.
	Ran bool
	// Duration is how long the call ran.
	Duration time.Duration
}

// Options say how Execute runs jobs. The zero value has the defaults.
type Options struct {
	// Workers is how many calls run at the same time, 8 by default.
	Workers int
	// Timeout is how long a call may run whose tool has no Timeout of its own,
	// 420 s by default. It does not bind interactive tools.
	Timeout time.Duration
	// Grace is how long a call that was cancelled or whose time is up may take
	// to hand in what it has, 80 ms by default.
	Grace time.Duration
	// Starting, if not nil, is called with the jobs that are about to begin at
	// the same time, and each time that Execute is about to wait, then with
	// none. If it returns an error, the jobs are not begun, and the error is
	// their outcome.
	Starting func(jobs []int) error
	// Started and Ended, if not nil, are called when a call begins to run and
	// when its outcome is known; Ended exactly once for each job, before any
	// call that had to wait for it begins. They are called from the goroutine
	// of Execute, one at a time, and hold up the batch.
	Started func(i int)
	Ended   func(i int, o Outcome)
}

func (o Options) withDefaults() Options {
	if o.Workers <= 0 {
		o.Workers = 8
	}
	if o.Timeout <= 0 {
		o.Timeout = 420 * time.Second
	}
	if o.Grace <= 0 {
		o.Grace = 80 * time.Millisecond
	}
	if o.Starting == nil {
		o.Starting = func([]int) error { return nil }
	}
	if o.Started == nil {
		o.Started = func(int) {}
	}
	if o.Ended == nil {
		o.Ended = func(int, Outcome) {}
	}
	return o
}

// Execute runs the calls of one reply and returns their outcomes in the order
// of the jobs, whichever finished first.
//
// Calls run at the same time as far as their Access allows; one that conflicts
// with an earlier one waits for it, interactive calls run alone. A call with the
// same tool and arguments as an earlier one is not run again, unless a call that
// may have changed something stands between them.
//
// A panic is an error of that call alone. A call whose time is up is reported as
// timed out; if it does not return then, its goroutine is left behind, its late
// result is dropped, and calls that conflict with it are not run. When ctx ends,
// outcomes that are known are kept and all others are StatusInterrupted; Execute
// then returns within Options.Grace, also when a tool ignores its context.
//
// The jobs must not be changed any more: a goroutine that was left behind may
// still look at its own.
func Execute(ctx context.Context, jobs []Job, opts Options) []Outcome {
	b := newBatch(ctx, jobs, opts.withDefaults())
	b.answer()
	for b.open > 0 {
		if ctx.Err() != nil {
			b.cancel()
			break
		}
		b.launch()
		switch {
		case b.running > 0:
			b.wait()
		case len(b.next) == 0:
			b.giveUp()
		}
	}
	return b.outcomes
}

// batch is the state of one Execute. All of it belongs to one goroutine, but for
// what the calls hand in.
type batch struct {
	ctx      context.Context
	jobs     []Job
	opts     Options
	slots    []slot
	outcomes []Outcome
	ended    chan int // the jobs whose calls have returned
	open     int      // slots without an outcome
	running  int
	next     []int       // what launch is about to begin
	timer    *time.Timer // see after
}

// slot is where a job stands.
type slot struct {
	state  state
	sameAs int    // the earlier job that is the same call; -1 for none
	after  []int  // the earlier jobs that it must wait for
	args   []byte // what batch.canonical found out

	// Of a call that was begun:
	begun  time.Time
	ctx    context.Context
	cancel context.CancelFunc
	// What it hands in belongs to its own goroutine until that has sent to
	// batch.ended; of a call that was abandoned it is not read at all.
	result Result
	err    error
}

type state uint8

const (
	waiting state = iota
	running
	finished
	abandoned // timed out without returning
)

// answer settles the jobs that are not to be run.
func (b *batch) answer() {
	for i := range b.jobs {
		if a := b.jobs[i].Answer; a != nil {
			r := *a
			if r.Status == "" {
				r.Status = message.StatusError
			}
			b.settle(i, finished, Outcome{Result: r})
		}
	}
}

// settle records the outcome of job i.
func (b *batch) settle(i int, s state, o Outcome) {
	if b.slots[i].state == running {
		b.running--
		b.slots[i].cancel()
		o.Ran, o.Duration = true, time.Since(b.slots[i].begun)
	}
	b.slots[i].state = s
	b.outcomes[i] = o
	b.open--
	b.opts.Ended(i, o)
}

// launch begins every call that waits for nothing, in order, as far as there
// are workers.
func (b *batch) launch() {
	b.next = b.next[:0]
	for i := range b.slots {
		if b.slots[i].state != waiting || !b.ready(i) {
			continue
		}
		if same := b.slots[i].sameAs; same >= 0 {
			b.settle(i, finished, copyOf(b.jobs[same].Call, b.outcomes[same]))
			continue
		}
		if b.running+len(b.next) < b.opts.Workers {
			b.next = append(b.next, i)
		}
	}
	err := b.opts.Starting(b.next)
	for _, i := range b.next {
		if err != nil {
			b.settle(i, finished, refused(err))
			continue
		}
		b.begin(i)
	}
}

// refused is the outcome of a call that Options.Starting did not let begin.
func refused(err error) Outcome {
	return Outcome{Result: Result{Text: "Not run: " + err.Error(), Status: message.StatusError}, Err: err}
}

func (b *batch) ready(i int) bool {
	for _, j := range b.slots[i].after {
		if b.slots[j].state != finished {
			return false
		}
	}
	return true
}

// copyOf answers a call that is the same as one that was run.
func copyOf(original Call, o Outcome) Outcome {
	return Outcome{Result: Result{
		Text: fmt.Sprintf("This is the same call as %s of this reply. It was run once; its result is there.",
			original.ID),
		Status: o.Result.Status,
	}, Err: o.Err}
}

func (b *batch) begin(i int) {
	s := &b.slots[i]
	s.state, s.begun = running, time.Now()
	if limit := b.limit(i); limit > 0 {
		s.ctx, s.cancel = context.WithDeadline(b.ctx, s.begun.Add(limit))
	} else {
		s.ctx, s.cancel = context.WithCancel(b.ctx)
	}
	b.running++
	b.opts.Started(i)
	go b.run(i)
}

// limit returns how long job i may run, 0 if there is no limit.
func (b *batch) limit(i int) time.Duration {
	switch t := b.jobs[i].Tool; {
	case t.Timeout > 0:
		return t.Timeout
	case t.Interactive:
		return 0
	}
	return b.opts.Timeout
}

// run runs job i in a goroutine of its own and hands in what comes of it. A panic
// is an error, and so is the end of the goroutine.
func (b *batch) run(i int) {
	s, t, call := &b.slots[i], b.jobs[i].Tool, b.jobs[i].Call
	s.err = errExited
	defer func() {
		if v := recover(); v != nil {
			s.result, s.err = Result{}, &PanicError{Tool: t.Name, Value: v, Stack: debug.Stack()}
		}
		b.ended <- i
	}()
	call.Progress = whileRunning(s.ctx, call.Progress)
	s.result, s.err = t.Run(s.ctx, call)
}

// whileRunning makes progress silent once ctx has ended.
func whileRunning(ctx context.Context, progress func(string)) func(string) {
	return func(line string) {
		if progress != nil && ctx.Err() == nil {
			progress(line)
		}
	}
}

// wait waits for a call to end, for the next limit or for the end of ctx.
func (b *batch) wait() {
	var expired <-chan time.Time
	if next, ok := b.nextLimit(); ok {
		expired = b.after(time.Until(next))
	}
	select {
	case i := <-b.ended:
		b.take(i)
	case <-b.ctx.Done():
	case <-expired:
		b.expire()
	}
}

// after is time.After with the one timer of the batch: the channel is good until
// the next call. The timer needs no stop once nobody waits for it.
func (b *batch) after(d time.Duration) <-chan time.Time {
	if b.timer == nil {
		b.timer = time.NewTimer(d)
	} else {
		b.timer.Reset(d)
	}
	return b.timer.C
}

// take settles a call that has returned. What comes from a call that was given
// up is dropped.
func (b *batch) take(i int) {
	s := &b.slots[i]
	if s.state != running {
		return
	}
	overran := b.limit(i)
	if time.Since(s.begun) < overran {
		overran = 0
	}
	b.settle(i, finished, outcome(b.ctx, b.jobs[i].Tool, overran, s.result, s.err))
}

// nextLimit returns when the first of the running calls has overrun its limit
// and the grace after it.
func (b *batch) nextLimit() (next time.Time, ok bool) {
	for i := range b.slots {
		if end, limited := b.overrun(i); limited && (!ok || end.Before(next)) {
			next, ok = end, true
		}
	}
	return next, ok
}

// overrun returns when job i has overrun its limit and the grace after it; false
// if it does not run or has no limit.
func (b *batch) overrun(i int) (end time.Time, limited bool) {
	if b.slots[i].state != running {
		return time.Time{}, false
	}
	limit := b.limit(i)
	return b.slots[i].begun.Add(limit + b.opts.Grace), limit > 0
}

// expire gives up the calls that have overrun.
func (b *batch) expire() {
	now := time.Now()
	for i := range b.slots {
		if end, limited := b.overrun(i); limited && !now.Before(end) {
			b.settle(i, abandoned, timedOut(b.jobs[i].Tool, b.limit(i), "", errNoReturn))
		}
	}
}

// cancel ends the batch: running calls have the grace to hand in what they have.
func (b *batch) cancel() {
	expired := b.after(b.opts.Grace)
	for over := false; b.running > 0 && !over; {
		select {
		case i := <-b.ended:
			b.take(i)
		case <-expired:
			over = true
		}
	}
	for i := range b.slots {
		switch s := &b.slots[i]; s.state {
		case running:
			b.settle(i, abandoned, interrupted("", true, context.Cause(b.ctx)))
		case waiting:
			b.settle(i, finished, interrupted("", false, context.Cause(b.ctx)))
		}
	}
}

// giveUp settles the calls that wait for one that was abandoned.
func (b *batch) giveUp() {
	for i := range b.slots {
		if b.slots[i].state == waiting {
			b.settle(i, finished, notRun())
		}
	}
}
