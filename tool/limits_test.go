package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// deaf makes a job that hears nothing for d and has the given limit.
func (tr *trace) deaf(id string, d, limit time.Duration) Job {
	job := tr.sleeper(id, 0, Access{})
	job.Tool.Timeout = limit
	job.Tool.Run = func(context.Context, Call) (Result, error) {
		time.Sleep(d)
		return Result{Text: "done " + id}, nil
	}
	return job
}

func TestEachCallHasALimitOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tr trace
		start := time.Now()
		var ends []string
		out := Execute(t.Context(), []Job{
			tr.deaf("late", time.Hour, 3*time.Minute),
			tr.deaf("early", 30*time.Second, time.Minute), // the first limit to come, but never reached
			tr.deaf("middle", time.Hour, 2*time.Minute),
			tr.deaf("free", 4*time.Minute, time.Hour),
		}, Options{Grace: time.Second, Ended: func(i int, _ Outcome) {
			ends = append(ends, fmt.Sprint(i, " ", time.Since(start)))
		}})
		if got, want := strings.Join(ends, ", "), "1 30s, 2 2m1s, 0 3m1s, 3 4m0s"; got != want {
			t.Errorf("ended: %s, want %s", got, want)
		}
		if got := statuses(out); got != "error ok error ok" || out[0].Duration != 3*time.Minute+time.Second {
			t.Errorf("statuses %s, the first ran %v", got, out[0].Duration)
		}
		time.Sleep(time.Hour) // those that were left behind end
	})
}

func TestCallThatEndsWithinTheGraceKeepsItsResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tr trace
		out := Execute(t.Context(), []Job{tr.deaf("slow", 1050*time.Millisecond, time.Second)}, Options{})
		if o := out[0]; o.Err != nil || o.Result.Text != "done slow" || o.Duration != 1050*time.Millisecond {
			t.Errorf("outcome %+v", o)
		}
	})
}

func TestLimitOfACallIsTheDeadlineOfItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		tell := echo("tell")
		tell.Run = func(ctx context.Context, _ Call) (Result, error) {
			end, ok := ctx.Deadline()
			got = append(got, fmt.Sprint(time.Until(end), " ", ok))
			return Result{}, nil
		}
		own, asks := *tell, *tell
		own.Timeout, asks.Interactive = time.Minute, true
		for _, tool := range []*Tool{tell, &own, &asks} {
			Execute(t.Context(), []Job{{Tool: tool}}, Options{Timeout: time.Hour})
		}
		if len(got) != 3 || got[0] != "1h0m0s true" || got[1] != "1m0s true" || !strings.HasSuffix(got[2], " false") {
			t.Errorf("deadlines %q", got)
		}
	})
}

func TestContextEndsAndProgressIsSilentWithTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tr trace
		var ctx context.Context
		var progress func(string)
		quick := tr.sleeper("quick", 0, Access{})
		quick.Call.Progress = func(line string) { tr.add("%s", line) }
		quick.Tool.Run = func(c context.Context, call Call) (Result, error) {
			ctx, progress = c, call.Progress
			progress("within")
			return Result{}, nil
		}
		var after error
		Execute(t.Context(), []Job{quick, tr.sleeper("slow", time.Second, Access{})}, Options{
			Ended: func(i int, _ Outcome) {
				if i == 0 {
					after = ctx.Err() // while the other call still runs
					progress("too late")
				}
			},
		})
		if after != context.Canceled || strings.Contains(strings.Join(tr.lines, " "), "too late") {
			t.Errorf("after the end: %v, %v", after, tr.lines)
		}
		if !strings.Contains(strings.Join(tr.lines, " "), "within") {
			t.Errorf("%v", tr.lines)
		}
	})
}

// A call that touches nothing runs beside all but those that run alone.
func TestExclusiveCallsWaitForThoseThatTouchNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tr trace
		looks := func(id string, d time.Duration) Job {
			job := tr.sleeper(id, d, Access{})
			job.Tool.Access, job.Tool.ReadOnly = nil, true
			return job
		}
		writes := tr.sleeper("4", time.Second, Access{})
		writes.Tool.Access = nil
		panics := tr.sleeper("5", time.Second, Access{})
		panics.Tool.Access = func(json.RawMessage) Access { panic("no path") }
		Execute(t.Context(), []Job{
			looks("1", time.Second), looks("2", 2*time.Second), tr.sleeper("3", 3*time.Second, Access{Reads: []string{"/A"}}),
			writes, panics, looks("6", time.Second),
		}, Options{})
		slices.Sort(tr.lines[:3]) // they begin together
		if got, want := strings.Join(tr.lines, " "), "+1 +2 +3 -1 -2 -3 +4 -4 +5 -5 +6 -6"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}
