package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/model"
)

// output is what run writes: the final response or the events to stdout,
// progress to stderr.
type output struct {
	env      *environment
	events   *eventLines
	progress *progress
	quiet    bool
}

func newOutput(env *environment, o *runOptions) *output {
	out := &output{env: env, quiet: o.quiet}
	if o.json {
		out.events = &eventLines{w: bufio.NewWriter(env.Stdout)}
	}
	terminal := isTerminal(env.Stderr)
	if o.verbose || terminal && !o.quiet {
		out.progress = &progress{w: env.Stderr, verbose: o.verbose, colour: terminal && env.Getenv("NO_COLOR") == ""}
	}
	return out
}

// listener passes events on; nil where nobody wants any.
func (o *output) listener() rondo.Listener {
	if o.events == nil && o.progress == nil {
		return nil
	}
	return func(e rondo.Event) {
		if o.progress != nil {
			o.progress.event(e)
		}
		if o.events != nil {
			o.events.write(&e)
		}
	}
}

// denied tells of a command that was not run, unless progress shows it anyway.
func (o *output) denied(text string) {
	if !o.quiet && o.progress == nil {
		fmt.Fprintf(o.env.Stderr, "rondo: %s\n", text)
	}
}

// finish writes how the run ended and returns the error that tells the
// program's exit status.
func (o *output) finish(res rondo.Result, err error) error {
	switch {
	case o.events != nil:
		if werr := o.events.close(&res, err); werr != nil {
			return fmt.Errorf("write the events: %w", werr)
		}
	case res.Reason == loop.UserCancel:
		if !o.quiet {
			fmt.Fprintf(o.env.Stderr, "rondo: stopped; rondo run --resume %s goes on\n", res.SessionID)
		}
	case res.FinalResponse != "":
		if _, werr := io.WriteString(o.env.Stdout, strings.TrimRight(res.FinalResponse, "\n")+"\n"); werr != nil {
			return fmt.Errorf("write the response: %w", werr)
		}
		o.planHint(&res)
	}
	return runStatus(res, err)
}

// planHint says how a plan goes on.
func (o *output) planHint(res *rondo.Result) {
	if res.Planning && res.Reason == loop.EndTurn && !o.quiet {
		fmt.Fprintf(o.env.Stderr, "rondo: this is a plan: rondo run --resume %[1]s --execute carries it out, rondo run --resume %[1]s REMARKS makes another\n", res.SessionID)
	}
}

// flushWithin is how long an event may wait in a buffer.
const flushWithin = 10 * time.Millisecond

// eventLines writes events as lines of JSON. Deltas are gathered for a moment,
// so that a fast stream does not cost a system call for each.
type eventLines struct {
	mu    sync.Mutex
	w     *bufio.Writer
	buf   []byte
	done  bool
	err   error
	timer *time.Timer
}

func (l *eventLines) write(e *rondo.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = append(e.AppendJSON(l.buf[:0]), '\n')
	_, err := l.w.Write(l.buf)
	l.keep(err)
	l.done = l.done || e.Type == rondo.EventDone
	switch {
	case e.Type != rondo.EventText && e.Type != rondo.EventThinking:
		l.keep(l.w.Flush())
	case l.timer == nil:
		l.timer = time.AfterFunc(flushWithin, l.flush)
	default:
		l.timer.Reset(flushWithin)
	}
}

func (l *eventLines) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(l.w.Flush())
}

func (l *eventLines) keep(err error) {
	if l.err == nil {
		l.err = err
	}
}

// close writes what is left. A run that could not begin had no events: its end
// is told all the same.
func (l *eventLines) close(res *rondo.Result, err error) error {
	if l.timer != nil {
		l.timer.Stop()
	}
	if !l.done {
		failed := *res
		failed.Reason = unbegunReason(err)
		if err != nil {
			failed.Detail = err.Error()
		}
		l.write(&rondo.Event{Type: rondo.EventDone, SessionID: res.SessionID, Done: &failed})
	}
	l.flush()
	return l.err
}

// unbegunReason is the reason told for a run that could not begin.
func unbegunReason(err error) loop.Reason {
	if errors.Is(err, loop.ErrOverflow) {
		return loop.ContextOverflow
	}
	return loop.FatalError
}

// isTerminal reports whether v is a terminal.
func isTerminal(v any) bool {
	f, ok := isFile(v)
	return ok && isatty.IsTerminal(f.Fd())
}

// advice words a failed run for a person: what happened, and what to do.
func advice(e *rondo.RunError) string {
	todo := ""
	switch model.ClassOf(e.Err) {
	case model.Auth:
		todo = "check the key; rondo config shows where it comes from"
	case model.Billing:
		todo = "the account has no credit or its quota is used up; choose another provider with --model, or name fallback_providers"
	case model.ModelNotFound:
		todo = "rondo models lists known models; --model PROVIDER/NAME chooses one"
	case model.Timeout:
		todo = "check the network and --base-url; rondo run --resume last goes on"
	case model.RateLimit, model.Overloaded, model.ServerError, model.StreamTruncated, model.EmptyResponse:
		todo = "the provider has trouble; rondo run --resume last goes on later"
	case model.ContextOverflow:
		todo = "begin a new session, or choose a model with a larger window"
	}
	if errors.Is(e.Err, model.ErrUnreachable) {
		todo = "start the server, or check the network and --base-url; rondo run --resume last goes on"
	}
	text := fmt.Sprintf("the run ended with %s: %s", e.Reason, e.Detail)
	if todo != "" {
		text += "\n  " + todo
	}
	return text
}
