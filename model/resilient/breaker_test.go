package resilient_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/resilient"
)

func TestBreakerOpensAfterFiveFailuresInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("p", "!server_error", "!timeout", "ok.", "!server_error", "!rate_limit", "!auth", "!overloaded",
			"!stream_truncated", "!empty_response", "!timeout", "ok.")
		b := resilient.NewBreakers(resilient.BreakerOptions{Env: env})
		m := b.Wrap(f)
		for range 9 {
			if _, err := tell(t.Context(), m); errors.As(err, new(*resilient.OpenError)) {
				t.Fatalf("open after %d calls", f.count())
			}
		}
		if _, err := tell(t.Context(), m); model.ClassOf(err) != model.Timeout || !errors.As(err, new(*resilient.OpenError)) {
			t.Errorf("the fifth failure: %v; want it to say that the breaker is open", err)
		}
		_, err := tell(t.Context(), m)
		open, ok := errors.AsType[*resilient.OpenError](err)
		e, _ := errors.AsType[*model.Error](err)
		if !ok || e.Class != model.Overloaded || e.RetryAfter != time.Minute || open.Until != time.Now().Add(time.Minute) || open.Failures != 5 {
			t.Fatalf("%v; want open for a minute after 5 failures", err)
		}
		if !strings.Contains(err.Error(), "after 5 failed calls in a row; the last one: ") || f.count() != 10 {
			t.Errorf("%d calls, then %v", f.count(), err)
		}
		time.Sleep(time.Minute - time.Nanosecond)
		if _, err := tell(t.Context(), m); err == nil || f.count() != 10 {
			t.Errorf("asked before its time: %v", err)
		}
		time.Sleep(time.Nanosecond)
		if got, err := tell(t.Context(), m); got != "ok done:ok" || err != nil {
			t.Errorf("after a minute: %s, %v", got, err)
		}
	})
}

func TestBreakersAreOnePerProviderAndAccount(t *testing.T) {
	b := resilient.NewBreakers(resilient.BreakerOptions{Env: env, Failures: 1})
	failing := newFake("p-1", "!timeout")
	sibling, other, account := newFake("p-2", "ok."), newFake("q", "ok."), newFake("p-3", "ok.")
	account.profile.Account = "another"
	_, _ = tell(t.Context(), b.Wrap(failing)) // opens it
	for f, want := range map[*fake]bool{sibling: true, other: false, account: false} {
		_, err := tell(t.Context(), b.Wrap(f))
		if got := errors.As(err, new(*resilient.OpenError)); got != want {
			t.Errorf("%s: open %t, want %t", f.profile.Model, got, want)
		}
	}
}

func TestHalfOpenLetsOneCallThrough(t *testing.T) {
	for answer, want := range map[string]struct {
		others string
		calls  int
	}{
		"ok.":         {"ok done:ok", 6},
		"!overloaded": {"error:overloaded", 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake("p", "!timeout", answer, "ok.")
			m := resilient.NewBreakers(resilient.BreakerOptions{Env: env, Failures: 1}).Wrap(f)
			_, _ = tell(t.Context(), m) // opens it
			time.Sleep(time.Minute)
			release := make(chan bool)
			f.each = func(context.Context) string { <-release; return "" }
			var wg sync.WaitGroup
			got := make([]string, 5)
			for i := range got {
				wg.Go(func() { got[i], _ = tell(t.Context(), m) })
			}
			synctest.Wait()
			if f.count() != 2 {
				t.Errorf("%d calls while the probe is under way, want 2", f.count())
			}
			close(release)
			wg.Wait()
			for _, g := range got {
				if g != want.others {
					t.Errorf("probe %s: got %s, want %s", answer, g, want.others)
				}
			}
			if f.count() != want.calls {
				t.Errorf("probe %s: %d calls, want %d", answer, f.count(), want.calls)
			}
		})
	}
}

func TestProbeThatIsBrokenOffLeavesRoomForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("p", "!timeout", "ok.")
		m := resilient.NewBreakers(resilient.BreakerOptions{Env: env, Failures: 1}).Wrap(f)
		_, _ = tell(t.Context(), m) // opens it
		time.Sleep(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		f.each = func(context.Context) string { cancel(); f.each = nil; return "!timeout" }
		if _, err := tell(ctx, m); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want cancelled", err)
		}
		if got, err := tell(t.Context(), m); got != "ok done:ok" {
			t.Errorf("%s, %v; want another probe", got, err)
		}
	})
}

func TestProbeThatFailsInTheMiddleOpensAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("p", "!timeout", "!timeout", "a !timeout")
		m := resilient.NewBreakers(resilient.BreakerOptions{Env: env, Failures: 2}).Wrap(f)
		_, _ = tell(t.Context(), m)
		_, _ = tell(t.Context(), m) // opens it
		time.Sleep(time.Minute)
		_, _ = tell(t.Context(), m)
		if _, err := tell(t.Context(), m); !errors.As(err, new(*resilient.OpenError)) || f.count() != 3 {
			t.Errorf("%v after %d calls; want open after 3", err, f.count())
		}
	})
}

func TestRetryWaitsOnceForAnOpenBreaker(t *testing.T) {
	const opened = "retry1:timeout:0s retry2:timeout:1s retry3:timeout:2s retry4:timeout:4s retry5:timeout:1m0s "
	for answer, want := range map[string]string{"ok.": opened + "ok done:ok", "!overloaded": opened + "error:overloaded"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake("p", "!timeout", "!timeout", "!timeout", "!timeout", "!timeout", answer)
			m := resilient.NewRetry(resilient.NewBreakers(resilient.BreakerOptions{Env: env}).Wrap(f), resilient.RetryOptions{Env: env})
			began := time.Now()
			if got, _ := tell(t.Context(), m); got != want || f.count() != 6 {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if took := time.Since(began); took != 67*time.Second {
				t.Errorf("took %v, want 67s", took)
			}
		})
	}
}

func TestBreakerThatOthersOpenedIsWaitedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("p", "!server_error")
		breakers := resilient.NewBreakers(resilient.BreakerOptions{Env: env})
		m := resilient.NewRetry(breakers.Wrap(f), resilient.RetryOptions{Env: env, Policy: map[model.Class]resilient.Rule{
			model.ServerError: {Attempts: 3, AtOnce: true, Base: time.Second, Max: 4 * time.Second},
		}})
		if got := first(tell(t.Context(), m)); got != "retry1:server_error:0s retry2:server_error:1s error:server_error" || f.count() != 3 {
			t.Errorf("the first run: %s after %d requests, want three", got, f.count())
		}
		if got := first(tell(t.Context(), m)); got != "retry1:server_error:0s retry2:server_error:1m0s error:server_error" || f.count() != 6 {
			t.Errorf("the second run: %s after %d requests", got, f.count())
		}
		if got := first(tell(t.Context(), m)); got != "retry1:overloaded:1m0s error:server_error" || f.count() != 7 {
			t.Errorf("the third run: %s after %d requests", got, f.count())
		}
		hasty := resilient.NewRetry(breakers.Wrap(f), resilient.RetryOptions{Env: env, MaxWait: time.Second})
		if got := first(tell(t.Context(), hasty)); got != "error:overloaded" || f.count() != 7 {
			t.Errorf("one that does not wait: %s after %d requests", got, f.count())
		}
	})
}
