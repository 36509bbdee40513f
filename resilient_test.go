package rondo_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/resilient"
	"github.com/rondo-engine/rondo/tool"
)

// noJitter makes waits exact.
var noJitter = resilient.Env{Rand: func() float64 { return 0 }}

// Scenario 68: a stop ends the wait before a retry at once, also the long one
// for a breaker.
func TestStopEndsAWait(t *testing.T) {
	for _, after := range []time.Duration{500 * time.Millisecond, 30 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			m := &fakeModel{steps: []step{fails(model.ServerError)}}
			guarded := resilient.NewBreakers(resilient.BreakerOptions{}).Wrap(m)
			s := newAgent(t, rondo.Options{Model: resilient.NewRetry(guarded, resilient.RetryOptions{Env: noJitter})}).Session("")
			defer s.Close()
			var at time.Time
			time.AfterFunc(after, func() { at = time.Now(); s.Cancel() })
			res, _ := s.Run(t.Context(), rondo.Request{Text: "go"})
			if took := time.Since(at); res.Reason != loop.UserCancel || took > 100*time.Millisecond {
				t.Errorf("ended with %s after %v", res.Reason, took)
			}
		})
	}
}

// Contract row L7: five calls, silence for a minute with a countdown, one try.
func TestBreakerOfAProviderThatAlwaysFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &fakeModel{steps: []step{fails(model.ServerError)}}
		guarded := resilient.NewBreakers(resilient.BreakerOptions{}).Wrap(m)
		began := time.Now()
		var told []string
		a := newAgent(t, rondo.Options{
			Model: resilient.NewRetry(guarded, resilient.RetryOptions{Env: noJitter}),
			Listeners: []rondo.Listener{func(e rondo.Event) {
				switch e.Type {
				case rondo.EventError:
					told = append(told, fmt.Sprintf("%v error, again in %v", time.Since(began), e.Failure.RetryIn))
				case rondo.EventStatus:
					told = append(told, fmt.Sprintf("%v %s", time.Since(began), e.Text))
				}
			}},
		})
		res, err := a.Run(t.Context(), rondo.Request{Text: "go"})
		want := []string{
			"0s error, again in 0s", "0s error, again in 1s", "1s error, again in 2s", "3s error, again in 4s", "7s error, again in 1m0s",
			"7s fake/m failed 5 times in a row and is left alone: one more try in 1m0s",
			"17s fake/m failed 5 times in a row and is left alone: one more try in 50s",
			"27s fake/m failed 5 times in a row and is left alone: one more try in 40s",
			"37s fake/m failed 5 times in a row and is left alone: one more try in 30s",
			"47s fake/m failed 5 times in a row and is left alone: one more try in 20s",
			"1m7s error, again in -1ns",
		}
		if res.Reason != loop.CircuitBreaker || !errors.As(err, new(*resilient.OpenError)) || len(m.requests) != 6 {
			t.Errorf("ended with %s, %v after %d calls", res.Reason, err, len(m.requests))
		}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	})
}

// Contract row P9: what a tool prints of a key, and what an error says of it,
// goes nowhere.
func TestKeysAreHiddenInWhatToolsReturn(t *testing.T) {
	const key = "correct-horse-battery"
	secrets := new(model.Secrets)
	secrets.Add(key)
	leak := newTool("env", true, func(_ context.Context, c tool.Call) (tool.Result, error) {
		c.Progress("found " + key)
		return tool.Result{Text: "KEY=" + key, Details: map[string]string{"env": key}}, nil
	})
	m := &fakeModel{steps: []step{asks("a env"), says("ok")}}
	var log strings.Builder
	a := newAgent(t, rondo.Options{
		Model: m, Tools: []*tool.Tool{leak}, Secrets: secrets,
		Listeners: []rondo.Listener{func(e rondo.Event) { log.Write(e.AppendJSON(nil)) }},
	})
	if _, err := a.Run(t.Context(), rondo.Request{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(log.String()+m.shapes[1], key) || !strings.Contains(m.shapes[1], "KEY=[key]") || !strings.Contains(log.String(), `"details":{"env":"[key]"}`) {
		t.Errorf("sent %s\ntold %s", m.shapes[1], &log)
	}
}
