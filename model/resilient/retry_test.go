package resilient_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/resilient"
)

func TestRetryFollowsTheClass(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []string
		want    string
		calls   int
		took    time.Duration
	}{
		{"a good answer passes", []string{"a b."}, "a b done:ab", 1, 0},
		{
			"429 with Retry-After 0 then good: two requests, no wait",
			[]string{"!rate_limit 0s", "ok."},
			"retry1:rate_limit:0s ok done:ok", 2, 0,
		},
		{
			"Retry-After is honoured",
			[]string{"!rate_limit 30s", "ok."},
			"retry1:rate_limit:30s ok done:ok", 2, 30 * time.Second,
		},
		{
			"429 without Retry-After backs off",
			[]string{"!rate_limit"},
			"retry1:rate_limit:2s retry2:rate_limit:4s retry3:rate_limit:8s retry4:rate_limit:16s error:rate_limit", 5, 30 * time.Second,
		},
		{
			"Retry-After 0 again and again still backs off",
			[]string{"!rate_limit 0s"},
			"retry1:rate_limit:0s retry2:rate_limit:4s retry3:rate_limit:8s retry4:rate_limit:16s error:rate_limit", 5, 28 * time.Second,
		},
		{"Retry-After over the cap is not waited for", []string{"!rate_limit 3600s"}, "error:rate_limit", 1, 0},
		{"Retry-After at the cap is waited for", []string{"!rate_limit 600s", "ok."}, "retry1:rate_limit:10m0s ok done:ok", 2, 600 * time.Second},
		{
			"500 for ever: at once, then 1, 2, 4 s",
			[]string{"!server_error"},
			"retry1:server_error:0s retry2:server_error:1s retry3:server_error:2s retry4:server_error:4s error:server_error", 5, 7 * time.Second,
		},
		{
			"503 with Retry-After waits that long",
			[]string{"!server_error 7s", "ok."},
			"retry1:server_error:7s ok done:ok", 2, 7 * time.Second,
		},
		{
			"timeouts: at once, then 1, 2, 4 s",
			[]string{"!timeout"},
			"retry1:timeout:0s retry2:timeout:1s retry3:timeout:2s retry4:timeout:4s error:timeout", 5, 7 * time.Second,
		},
		{
			"a cut stream is taken back first",
			[]string{"Partial ans !stream_truncated", "The full answer."},
			"Partial ans reset retry1:stream_truncated:0s The full answer done:Thefullanswer", 2, 0,
		},
		{"empty response", []string{"!empty_response", "ok."}, "retry1:empty_response:0s ok done:ok", 2, 0},
		{"overloaded then timeout count together", []string{"!overloaded", "!timeout", "ok."}, "retry1:overloaded:0s retry2:timeout:1s ok done:ok", 3, time.Second},
		{"auth", []string{"!auth"}, "error:auth", 1, 0},
		{"billing", []string{"!billing 1s"}, "error:billing", 1, 0},
		{"model not found", []string{"!model_not_found"}, "error:model_not_found", 1, 0},
		{"invalid request", []string{"!invalid_request"}, "error:invalid_request", 1, 0},
		{"content filter", []string{"a !content_filter"}, "a error:content_filter", 1, 0},
		{"context overflow", []string{"!context_overflow"}, "error:context_overflow", 1, 0},
		{"an error that is not the model's", []string{"!plain"}, "error:", 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake("m", c.answers...)
				began := time.Now()
				got, _ := tell(t.Context(), resilient.NewRetry(f, resilient.RetryOptions{Env: env}))
				if got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
				if took := time.Since(began); f.count() != c.calls || took != c.took {
					t.Errorf("%d calls in %v, want %d in %v", f.count(), took, c.calls, c.took)
				}
			})
		})
	}
}

func TestRetryOptionsReplaceRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("m", "!server_error")
		m := resilient.NewRetry(f, resilient.RetryOptions{Env: env, MaxWait: time.Second, Policy: map[model.Class]resilient.Rule{
			model.ServerError: {Attempts: 9, Base: time.Second, Max: time.Minute},
		}})
		if got, _ := tell(t.Context(), m); got != "retry1:server_error:1s error:server_error" {
			t.Errorf("got %s, want one retry: the second wait is over MaxWait", got)
		}
	})
}

func TestJitterAddsUpToHalfAndNeverWaitsLessThanAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := resilient.Env{Rand: func() float64 { return 0.999999 }}
		f := newFake("m", "!rate_limit", "!rate_limit 100s", "ok.")
		got, _ := tell(t.Context(), resilient.NewRetry(f, resilient.RetryOptions{Env: all}))
		if want := "retry1:rate_limit:2.999999s retry2:rate_limit:1m49.99999s ok done:ok"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestNoResetGivesUpAfterVisibleOutput(t *testing.T) {
	f := newFake("m", "!overloaded", "a !overloaded", "ok.")
	got, _ := tell(t.Context(), resilient.NewRetry(f, resilient.RetryOptions{Env: env, NoReset: true, Policy: map[model.Class]resilient.Rule{
		model.Overloaded: {Attempts: 5},
	}}))
	if want := "retry1:overloaded:0s a error:overloaded"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCancelEndsTheWaitAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		f := newFake("m", "!rate_limit 500s")
		began := time.Now()
		_, err := tell(ctx, resilient.NewRetry(f, resilient.RetryOptions{Env: env}))
		if !errors.Is(err, context.Canceled) || time.Since(began) != 3*time.Second || f.count() != 1 {
			t.Errorf("%v after %v and %d calls; want cancelled after 3s and 1", err, time.Since(began), f.count())
		}
	})
}

func TestNothingIsAskedAfterTheContextEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := newFake("m", "!timeout")
	f.each = func(context.Context) string { cancel(); return "" }
	chain := resilient.NewFallback(resilient.FallbackOptions{}, resilient.NewRetry(f, resilient.RetryOptions{}), newFake("n", "ok."))
	if got, err := tell(ctx, chain); !errors.Is(err, context.Canceled) || f.count() != 1 {
		t.Errorf("%s, %v after %d calls; want cancelled after 1", got, err, f.count())
	}
}

func TestConsumerThatStopsEndsTheCall(t *testing.T) {
	for _, stop := range []model.DeltaKind{model.DeltaText, model.DeltaReset, model.DeltaRetry, model.DeltaSwitch} {
		f := newFake("a", "x !stream_truncated")
		last := newFake("b", "ok.")
		m := resilient.NewFallback(resilient.FallbackOptions{}, resilient.NewRetry(f, resilient.RetryOptions{
			Policy: map[model.Class]resilient.Rule{model.StreamTruncated: {Attempts: 2, AtOnce: true}},
		}), last)
		for d := range m.Stream(t.Context(), &model.Request{}) {
			if d.Kind == stop {
				break
			}
		}
		if last.count() > 0 {
			t.Errorf("stopped at kind %d: the next model was asked", stop)
		}
	}
}

func TestDecoratorsCostNoAllocationPerDelta(t *testing.T) {
	long := ""
	for range 1000 {
		long += "x "
	}
	short, many := newFake("m", "x."), newFake("m", long+".")
	allocs := func(f *fake) (bare, wrapped float64) {
		w := resilient.NewFallback(resilient.FallbackOptions{}, resilient.NewRetry(
			resilient.NewBreakers(resilient.BreakerOptions{}).Wrap(resilient.NewKeys(resilient.KeyOptions{}, model.StaticKey("k")).Wrap(f)),
			resilient.RetryOptions{}))
		run := func(m model.Model) float64 {
			return testing.AllocsPerRun(20, func() {
				for range m.Stream(t.Context(), &model.Request{}) {
				}
			})
		}
		return run(f), run(w)
	}
	bare1, wrapped1 := allocs(short)
	bare2, wrapped2 := allocs(many)
	if extra := (wrapped2 - bare2) - (wrapped1 - bare1); extra > 5 {
		t.Errorf("%v allocations more for 1000 deltas than for 1", extra)
	}
}

func TestLongWaitIsCountedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := resilient.NewRetry(newFake("m", "!rate_limit 25s", "ok."), resilient.RetryOptions{Env: env})
		var got []string
		began := time.Now()
		for d, err := range m.Stream(t.Context(), &model.Request{}) {
			if err != nil {
				t.Fatal(err)
			}
			if d.Kind == model.DeltaRetry || d.Kind == model.DeltaWait {
				got = append(got, fmt.Sprintf("%d@%v: %v", d.Kind, time.Since(began), d.Notice.Wait))
			}
		}
		want := []string{"7@0s: 25s", "9@0s: 25s", "9@10s: 15s"}
		if diff := cmp.Diff(want, got); diff != "" || time.Since(began) != 25*time.Second {
			t.Errorf("after %v (-want +got):\n%s", time.Since(began), diff)
		}
	})
}
