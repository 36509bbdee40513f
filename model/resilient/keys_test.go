package resilient_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/resilient"
)

// keyed is a model whose client takes its key from the pool; answers are by key.
func keyed(k *resilient.Keys, answers map[string]string) (*fake, func() string) {
	var mu sync.Mutex
	var used []string
	f := newFake("p", "ok.")
	f.each = func(ctx context.Context) string {
		key, err := k.Key(ctx)
		if err != nil {
			return "!invalid_request"
		}
		mu.Lock()
		defer mu.Unlock()
		used = append(used, key)
		return answers[key]
	}
	return f, func() string {
		mu.Lock()
		defer mu.Unlock()
		s := strings.Join(used, " ")
		used = nil
		return s
	}
}

func TestKeysRotate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := resilient.NewKeys(resilient.KeyOptions{Env: env}, model.StaticKey("k1"), model.StaticKey("k2"), model.StaticKey("k3"))
		answers := map[string]string{"k1": "x !rate_limit", "k2": "!billing"}
		f, used := keyed(k, answers)
		m := k.Wrap(f)
		if got, want := first(tell(t.Context(), m)), "x reset retry1:rate_limit:0s retry2:billing:0s ok done:ok"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		_, _ = tell(t.Context(), m)
		if got := used(); got != "k1 k2 k3 k3" {
			t.Errorf("used %s, want to stay with k3", got)
		}
		answers["k3"] = "!rate_limit 5s"
		if got := first(tell(t.Context(), m)); got != "error:rate_limit" {
			t.Errorf("got %s; want the failure: no other key can be used", got)
		}
		used()
		time.Sleep(5 * time.Second)
		answers["k3"] = ""
		_, _ = tell(t.Context(), m)
		if got := used(); got != "k3" {
			t.Errorf("used %s after its wait, want k3", got)
		}
	})
}

func TestOtherFailuresAreNotTheKeys(t *testing.T) {
	k := resilient.NewKeys(resilient.KeyOptions{}, model.StaticKey("k1"), model.StaticKey("k2"))
	f, used := keyed(k, map[string]string{"k1": "!server_error"})
	if got := first(tell(t.Context(), k.Wrap(f))); got != "error:server_error" || used() != "k1" {
		t.Errorf("got %s", got)
	}
}

func TestRefusedKeyIsRenewedOnce(t *testing.T) {
	var refused []string
	fresh := "new"
	k := resilient.NewKeys(resilient.KeyOptions{Refresh: func(_ context.Context, key string) (string, error) {
		refused = append(refused, key)
		return fresh, nil
	}}, model.StaticKey("old"))
	answers := map[string]string{"old": "!auth"}
	f, used := keyed(k, answers)
	m := k.Wrap(f)
	if got, want := first(tell(t.Context(), m)), "retry1:auth:0s ok done:ok"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	answers["new"], fresh = "!auth", "newer"
	answers["newer"] = "!auth"
	if got, want := first(tell(t.Context(), m)), "retry1:auth:0s error:auth"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := used(); got != "old new new newer" || strings.Join(refused, " ") != "old new" {
		t.Errorf("used %s, renewed %v", got, refused)
	}
}

func TestWithoutRefreshARefusalIsFinal(t *testing.T) {
	k := resilient.NewKeys(resilient.KeyOptions{}, model.StaticKey("k1"))
	f, _ := keyed(k, map[string]string{"k1": "!auth"})
	if got := first(tell(t.Context(), resilient.NewRetry(k.Wrap(f), resilient.RetryOptions{}))); got != "error:auth" || f.count() != 1 {
		t.Errorf("got %s after %d calls, want one", got, f.count())
	}
}

func TestTroubleWithRenewingIsTold(t *testing.T) {
	bad := errors.New("the token server is down")
	k := resilient.NewKeys(resilient.KeyOptions{Refresh: func(context.Context, string) (string, error) { return "", bad }}, model.StaticKey("k1"))
	f, _ := keyed(k, map[string]string{"k1": "!auth"})
	_, err := tell(t.Context(), k.Wrap(f))
	if !errors.Is(err, bad) || model.ClassOf(err) != model.Auth {
		t.Errorf("%v, want that %v", err, bad)
	}
}

func TestCallsAtTheSameTimeRenewOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		renewals := 0
		k := resilient.NewKeys(resilient.KeyOptions{Refresh: func(context.Context, string) (string, error) {
			renewals++
			time.Sleep(time.Second)
			return fmt.Sprint("new", renewals), nil
		}}, model.StaticKey("old"))
		f, _ := keyed(k, map[string]string{"old": "!auth"})
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if got, err := tell(t.Context(), k.Wrap(f)); got != "retry1:auth:0s ok done:ok" {
					t.Errorf("%s, %v", got, err)
				}
			})
		}
		wg.Wait()
		if renewals != 1 {
			t.Errorf("renewed %d times, want once", renewals)
		}
	})
}

func TestSecondKeyBeforeAnotherProvider(t *testing.T) {
	k := resilient.NewKeys(resilient.KeyOptions{}, model.StaticKey("k1"), model.StaticKey("k2"))
	f, used := keyed(k, map[string]string{"k1": "!rate_limit"})
	other := newFake("q", "other.")
	m := resilient.NewFallback(resilient.FallbackOptions{}, resilient.NewRetry(k.Wrap(f), resilient.RetryOptions{}), other)
	if got, want := first(tell(t.Context(), m)), "retry1:rate_limit:0s ok done:ok"; got != want || used() != "k1 k2" || other.count() != 0 {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEmptyPoolSaysSo(t *testing.T) {
	k := resilient.NewKeys(resilient.KeyOptions{})
	_, err := tell(t.Context(), k.Wrap(newFake("p", "ok.")))
	if model.ClassOf(err) != model.Auth || !strings.Contains(err.Error(), "pool of keys is empty") {
		t.Errorf("%v", err)
	}
}
