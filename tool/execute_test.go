package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-engine/rondo/message"
)

// trace records what happens in a batch, in order.
type trace struct {
	mu    sync.Mutex
	lines []string
}

func (tr *trace) add(format string, args ...any) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.lines = append(tr.lines, fmt.Sprintf(format, args...))
}

// sleeper makes a job that takes d and touches what access says.
func (tr *trace) sleeper(id string, d time.Duration, a Access) Job {
	return Job{
		Tool: &Tool{
			Name: id, Access: func(json.RawMessage) Access { return a },
			Run: func(ctx context.Context, call Call) (Result, error) {
				tr.add("+%s", call.ID)
				defer tr.add("-%s", call.ID)
				select {
				case <-time.After(d):
					return Result{Text: "done " + call.ID}, nil
				case <-ctx.Done():
					return Result{Text: "part of " + call.ID}, ctx.Err()
				}
			},
		},
		Call: Call{ID: id, Name: id, Args: []byte("{}")},
	}
}

func statuses(out []Outcome) string {
	var all []string
	for _, o := range out {
		all = append(all, string(o.Result.Status))
	}
	return strings.Join(all, " ")
}

// Scenario 49.
func TestExecuteOrdersCallsByWhatTheyTouch(t *testing.T) {
	reads := func(keys ...string) Access { return Access{Reads: keys} }
	writes := func(keys ...string) Access { return Access{Writes: keys} }
	exclusive := Access{Exclusive: true}
	for _, tc := range []struct {
		name string
		a, b Access
		want string
	}{
		{"read A, read B", reads("/A"), reads("/B"), "+1 +2 -2 -1"},
		{"read A, read A", reads("/A"), reads("/A"), "+1 +2 -2 -1"},
		{"write A, read A", writes("/A"), reads("/A"), "+1 -1 +2 -2"},
		{"read A, write A", reads("/A"), writes("/A"), "+1 -1 +2 -2"},
		{"write A, write B", writes("/A"), writes("/B"), "+1 +2 -2 -1"},
		{"write A, write A", writes("/A"), writes("/A"), "+1 -1 +2 -2"},
		{"write below, read the directory", writes("/d/A"), reads("/d/"), "+1 -1 +2 -2"},
		{"write the directory, read it", writes("/d/"), reads("/d"), "+1 -1 +2 -2"},
		{"write beside the directory", writes("/dA"), reads("/d/"), "+1 +2 -2 -1"},
		{"shell, shell", exclusive, exclusive, "+1 -1 +2 -2"},
		{"shell, read", exclusive, reads("/A"), "+1 -1 +2 -2"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var tr trace
			Execute(t.Context(), []Job{
				tr.sleeper("1", 2*time.Second, tc.a), tr.sleeper("2", time.Second, tc.b),
			}, Options{})
			got := strings.Join(tr.lines, " ")
			if strings.HasPrefix(got, "+2 +1") { // both began at once
				got = "+1 +2" + got[5:]
			}
			if got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
			}
		})
	}
}

// Scenario 52, case 32.
func TestExecuteKeepsTheOrderOfTheCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tr trace
		panics := tr.sleeper("call_4", 0, Access{})
		panics.Tool.Run = func(context.Context, Call) (Result, error) { panic("boom") }
		out := Execute(t.Context(), []Job{
			tr.sleeper("call_1", 300*time.Millisecond, Access{}),
			{Call: Call{ID: "call_2"}, Answer: &Result{Text: "unknown tool", Status: message.StatusError}},
			tr.sleeper("call_3", 0, Access{}),
			panics,
		}, Options{})
		if got := statuses(out); got != "ok error ok error" {
			t.Errorf("statuses %s", got)
		}
		if out[0].Result.Text != "done call_1" || out[2].Result.Text != "done call_3" || out[0].Duration != 300*time.Millisecond {
			t.Errorf("outcomes %+v", out)
		}
	})
}

// Scenario 53.
func TestPanicIsAResultWithoutItsStack(t *testing.T) {
	bad := echo("bad")
	bad.Run = func(context.Context, Call) (Result, error) { panic("boom") }
	out := Execute(t.Context(), []Job{{Tool: bad}, {Tool: echo("good")}}, Options{})
	if got := out[0].Result.Text; got != "the tool bad failed: it panicked: boom" {
		t.Errorf("text for the model %q", got)
	}
	if e, ok := errors.AsType[*PanicError](out[0].Err); !ok || !strings.Contains(string(e.Stack), "execute_test.go") {
		t.Errorf("error %v, want a PanicError with the stack", out[0].Err)
	}
	if out[1].Result.Text != "good" {
		t.Errorf("the other call: %+v", out[1])
	}
}

// Scenario 54.
func TestHungCallTimesOutAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tr trace
		release := make(chan struct{})
		hung := tr.sleeper("hung", 0, Access{Writes: []string{"/A"}})
		hung.Tool.Run = func(context.Context, Call) (Result, error) {
			<-release
			return Result{Text: "late"}, nil
		}
		start := time.Now()
		out := Execute(t.Context(), []Job{
			hung,
			tr.sleeper("ok", time.Second, Access{}),
			tr.sleeper("blocked", time.Second, Access{Reads: []string{"/A"}}),
		}, Options{})
		if took := time.Since(start); took != 420*time.Second+80*time.Millisecond {
			t.Errorf("took %v", took)
		}
		if got := statuses(out); got != "error ok error" {
			t.Errorf("statuses %s", got)
		}
		if !strings.Contains(out[0].Result.Text, "timed out after 7m0s") || out[2].Ran {
			t.Errorf("outcomes %+v", out)
		}
		close(release)
		synctest.Wait()
		if strings.Contains(out[0].Result.Text, "late") {
			t.Error("the late result was kept")
		}
	})
}

func TestTimeoutOfAToolThatObeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tr trace
		slow := tr.sleeper("slow", time.Hour, Access{Exclusive: true})
		slow.Tool.Timeout = time.Minute
		out := Execute(t.Context(), []Job{slow, tr.sleeper("next", time.Second, Access{})}, Options{})
		if got := statuses(out); got != "error ok" {
			t.Errorf("statuses %s: a call that returned in time must not block the next", got)
		}
		if got := out[0].Result.Text; !strings.HasPrefix(got, "part of slow\nslow timed out after 1m0s") {
			t.Errorf("text %q", got)
		}
	})
}

// Scenario 67, contract L5.
func TestCancelKeepsWhatIsFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tr trace
		ctx, cancel := context.WithCancel(t.Context())
		release := make(chan struct{})
		defer close(release)
		deaf := tr.sleeper("deaf", 0, Access{})
		deaf.Tool.Run = func(context.Context, Call) (Result, error) { <-release; return Result{}, nil }
		var endedOrder []int
		time.AfterFunc(2*time.Second, cancel)
		start := time.Now()
		out := Execute(ctx, []Job{
			tr.sleeper("fast", time.Second, Access{}),
			deaf,
			tr.sleeper("polite", time.Hour, Access{Writes: []string{"/A"}}),
			tr.sleeper("waiting", time.Second, Access{Reads: []string{"/A"}}),
		}, Options{Ended: func(i int, _ Outcome) { endedOrder = append(endedOrder, i) }})
		if took := time.Since(start) - 2*time.Second; took > 100*time.Millisecond {
			t.Errorf("returned %v after the cancel", took)
		}
		if got := statuses(out); got != "ok interrupted interrupted interrupted" {
			t.Errorf("statuses %s", got)
		}
		if !strings.HasPrefix(out[2].Result.Text, "part of polite\nInterrupted while") || out[3].Ran ||
			out[3].Result.Text != "Interrupted before it was run." {
			t.Errorf("outcomes %+v", out)
		}
		if slices.Sort(endedOrder); !slices.Equal(endedOrder, []int{0, 1, 2, 3}) {
			t.Errorf("Ended was called for %v, want each once", endedOrder)
		}
	})
}

// Scenario 66.
func TestNothingRunsUnderACancelledContext(t *testing.T) {
	var tr trace
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := Execute(ctx, []Job{tr.sleeper("1", 0, Access{}), tr.sleeper("2", 0, Access{})}, Options{})
	if got := statuses(out); got != "interrupted interrupted" || len(tr.lines) > 0 {
		t.Errorf("statuses %s, ran %v", got, tr.lines)
	}
}

// Scenario 51.
func TestInteractiveCallsRunAloneAndHaveNoTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tr trace
		ask := func(id string) Job {
			job := tr.sleeper(id, time.Hour, Access{})
			job.Tool.Interactive = true
			return job
		}
		out := Execute(t.Context(), []Job{
			tr.sleeper("1", time.Second, Access{}), ask("2"), ask("3"), tr.sleeper("4", time.Second, Access{}),
		}, Options{})
		if got := strings.Join(tr.lines, " "); got != "+1 -1 +2 -2 +3 -3 +4 -4" {
			t.Errorf("order %s", got)
		}
		if got := statuses(out); got != "ok ok ok ok" {
			t.Errorf("statuses %s", got)
		}
	})
}

func TestAtMostSoManyWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tr trace
		var jobs []Job
		for i := range 20 {
			jobs = append(jobs, tr.sleeper(fmt.Sprint(i), time.Second, Access{}))
		}
		start := time.Now()
		Execute(t.Context(), jobs, Options{})
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("20 calls of a second took %v, want 3 s with 8 workers", took)
		}
	})
}

// Scenario 62: what follows a call begins only once its end was taken note of.
func TestEndedComesBeforeWhatWaits(t *testing.T) {
	var tr trace
	exclusive := Access{Exclusive: true}
	Execute(t.Context(), []Job{tr.sleeper("1", 0, exclusive), tr.sleeper("2", 0, exclusive)}, Options{
		Started: func(i int) { tr.add("started %d", i) },
		Ended:   func(i int, _ Outcome) { tr.add("ended %d", i) },
	})
	want := "started 0,+1,-1,ended 0,started 1,+2,-2,ended 1"
	if got := strings.Join(tr.lines, ","); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
