package tool

import (
	"context"
	"fmt"
	"testing"
)

// round is the calls that a model makes of a tool that does nothing: the tool
// in its registry, and the arguments as they were sent.
func round(tb testing.TB, n int) (*Registry, []string) {
	tb.Helper()
	type args struct {
		N int `json:"n,omitzero"`
	}
	noop := Must(New(Tool{Name: "noop", ReadOnly: true}, func(context.Context, Call, args) (Result, error) {
		return Result{Text: "xxxxxxxxxxxxxxxx"}, nil
	}))
	r, err := NewRegistry(noop)
	if err != nil {
		tb.Fatal(err)
	}
	arguments := make([]string, n)
	for i := range arguments {
		arguments[i] = fmt.Sprintf(`{"n":%d}`, i+1)
	}
	return r, arguments
}

// prepared is the jobs of such a round.
func prepared(tb testing.TB, n int) []Job {
	tb.Helper()
	r, arguments := round(tb, n)
	jobs := make([]Job, n)
	for i := range jobs {
		t, args, err := r.Prepare("noop", arguments[i], false)
		if err != nil {
			tb.Fatal(err)
		}
		jobs[i] = Job{Tool: t, Call: Call{ID: fmt.Sprint("call_", i), Name: t.Name, Args: args, Progress: func(string) {}}}
	}
	return jobs
}

func BenchmarkExecute1(b *testing.B) { benchmarkExecute(b, 1) }
func BenchmarkExecute8(b *testing.B) { benchmarkExecute(b, 8) }

func benchmarkExecute(b *testing.B, n int) {
	jobs := prepared(b, n)
	b.ReportAllocs()
	for b.Loop() {
		Execute(b.Context(), jobs, Options{})
	}
}

func BenchmarkPrepare8(b *testing.B) {
	r, arguments := round(b, 8)
	b.ReportAllocs()
	for b.Loop() {
		for _, a := range arguments {
			if _, _, err := r.Prepare("noop", a, false); err != nil {
				b.Fatal(err)
			}
		}
	}
}
