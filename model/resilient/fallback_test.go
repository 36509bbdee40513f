package resilient_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/resilient"
)

func TestFallbackStaysWithTheOneThatAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, a, b := newFake("p", "!rate_limit", "back."), newFake("a", "!auth"), newFake("b", "ok.")
		m := resilient.NewFallback(resilient.FallbackOptions{Env: env}, p, a, b)
		if m.Profile().Model != "p" {
			t.Errorf("the first is %s, want p", m.Profile().Model)
		}
		got, err := tell(t.Context(), m)
		if want := "switch:rate_limit:a switch:auth:b ok done:ok"; got != want || err != nil {
			t.Errorf("got %s, %v; want %s", got, err, want)
		}
		m.Return() // too early
		if got, _ := tell(t.Context(), m); got != "ok done:ok" || m.Profile().Model != "b" || p.count() != 1 {
			t.Errorf("got %s from %s; want b to go on", got, m.Profile().Model)
		}
		time.Sleep(time.Minute)
		if got, _ := tell(t.Context(), m); got != "ok done:ok" {
			t.Errorf("got %s; want b to go on until Return", got)
		}
		m.Return()
		if got, _ := tell(t.Context(), m); got != "back done:back" || m.Profile().Model != "p" {
			t.Errorf("got %s from %s; want p again", got, m.Profile().Model)
		}
	})
}

func TestWhatLeadsToTheNextModel(t *testing.T) {
	for class, want := range map[model.Class]bool{
		model.RateLimit: true, model.Timeout: true, model.Overloaded: true, model.ServerError: true, model.StreamTruncated: true,
		model.EmptyResponse: true, model.Auth: true, model.Billing: true, model.ModelNotFound: true,
		model.ContentFilter: true, model.InvalidRequest: false, model.ContextOverflow: false,
	} {
		next := newFake("b", "ok.")
		_, err := tell(t.Context(), resilient.NewFallback(resilient.FallbackOptions{}, newFake("a", "!"+string(class)), next))
		if (err == nil) != want || next.count() == 1 != want {
			t.Errorf("%s: %v, next asked %d times; want %t", class, err, next.count(), want)
		}
	}
}

func TestTimeoutThenRateLimitInOneCallStillFallsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFake("p", "x !timeout", "!rate_limit 3600s")
		m := resilient.NewFallback(resilient.FallbackOptions{Env: env},
			resilient.NewRetry(p, resilient.RetryOptions{Env: env}), newFake("a", "ok."))
		if got, want := first(tell(t.Context(), m)), "x reset retry1:timeout:0s switch:rate_limit:a ok done:ok"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func first(s string, _ error) string { return s }

func TestSwitchTakesBackWhatWasSeen(t *testing.T) {
	m := resilient.NewFallback(resilient.FallbackOptions{}, newFake("p", "x y !overloaded"), newFake("a", "ok."))
	if got, want := first(tell(t.Context(), m)), "x y reset switch:overloaded:a ok done:ok"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEqualBackEndsAreSkipped(t *testing.T) {
	p, same, sibling, other := newFake("p-1", "!billing"), newFake("p-1", "ok."), newFake("p-2", "ok."), newFake("q", "ok.")
	m := resilient.NewFallback(resilient.FallbackOptions{}, p, nil, same, sibling, other)
	if got, want := first(tell(t.Context(), m)), "switch:billing:q ok done:ok"; got != want {
		t.Errorf("got %s, want %s: another model of an account without credit helps nothing", got, want)
	}
	p = newFake("p-1", "!rate_limit")
	m = resilient.NewFallback(resilient.FallbackOptions{}, p, same, sibling, other)
	if got, want := first(tell(t.Context(), m)), "switch:rate_limit:p-2 ok done:ok"; got != want || same.count() != 0 {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAllExhaustedIsOneErrorAndNoStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, a, b := newFake("p", "!auth"), newFake("a", "!rate_limit 90s"), newFake("b", "!billing")
		m := resilient.NewFallback(resilient.FallbackOptions{Env: env}, p, a, b)
		_, err := tell(t.Context(), m)
		e, _ := errors.AsType[*model.Error](err)
		all, ok := errors.AsType[*resilient.ExhaustedError](err)
		if !ok || len(all.Errs) != 3 || e.Class != model.RateLimit || e.RetryAfter != 90*time.Second {
			t.Fatalf("%v; want the three failures with the class of the one that may pass", err)
		}
		want := "ask the models of the chain: a/a: rate limit, asks to wait 1m30s: no model answered: " +
			"stream reply: p/p: auth; stream reply: a/a: rate limit, asks to wait 1m30s; stream reply: b/b: billing"
		if err.Error() != want {
			t.Errorf("got  %s\nwant %s", err, want)
		}
		_, _ = tell(t.Context(), m)
		if n := p.count() + a.count() + b.count(); n != 4 || p.count() != 2 {
			t.Errorf("%d calls after the second turn, want 4: only the current model again", n)
		}
		time.Sleep(time.Minute)
		_, _ = tell(t.Context(), m)
		if p.count() != 3 || a.count() != 1 || b.count() != 2 {
			t.Errorf("calls %d %d %d after a minute, want 3 1 2: a asked for 90s", p.count(), a.count(), b.count())
		}
	})
}

// Scenario 38: another model may answer what one refuses; the refusal is no
// reason to pass that one over in the next turn, and is what is left when all
// refuse.
func TestRefusalLeadsToTheNextModel(t *testing.T) {
	a, b := newFake("a", "No filtered."), newFake("b", "ok.", "Neither filtered.")
	m := resilient.NewFallback(resilient.FallbackOptions{}, a, b)
	if got, want := first(tell(t.Context(), m)), "No filtered reset switch:content_filter:b ok done:ok"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	m.Return()
	if got, want := first(tell(t.Context(), m)), "No filtered reset switch:content_filter:b Neither filtered done:Neitherfiltered"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestConversationsShareWhatCoolsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, b := newFake("p", "!billing", "ok."), newFake("b", "ok.")
		shared := resilient.NewFallback(resilient.FallbackOptions{Env: env}, p, b)
		one, two := shared.Conversation(), shared.Conversation()
		_, _ = tell(t.Context(), one)
		two.Return() // its turn begins
		if got := first(tell(t.Context(), two)); got != "ok done:ok" || p.count() != 1 {
			t.Errorf("got %s with %d calls of the model that cools down", got, p.count())
		}
		time.Sleep(resilient.DefaultCooldown)
		two.Return()
		if one.Profile().Model != "b" || two.Profile().Model != "p" {
			t.Errorf("one is with %s, two with %s", one.Profile().Model, two.Profile().Model)
		}
	})
}

func TestAConversationMayStayWithTheOneThatAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, a := newFake("p", "!overloaded", "back."), newFake("a", "ok.", "ok.", "!timeout")
		m := resilient.NewFallback(resilient.FallbackOptions{Env: env, Stay: true}, p, a)
		for _, want := range []string{"switch:overloaded:a ok done:ok", "ok done:ok", "switch:timeout:p back done:back"} {
			if got, _ := tell(t.Context(), m); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			time.Sleep(resilient.DefaultCooldown)
			m.Return()
		}
	})
}

func TestOtherModelsHaveASystemPromptOfTheirOwn(t *testing.T) { // scenario 82
	synctest.Test(t, func(t *testing.T) {
		var systems []string
		say := func(name string) model.Model {
			return &listening{newFake(name, "!overloaded", "ok.", "!overloaded", "ok."), &systems}
		}
		m := resilient.NewFallback(resilient.FallbackOptions{Env: env, System: func(s string, p *model.Profile) string { return s + " " + p.Model }}, say("p"), say("b"))
		req := &model.Request{System: "You are"}
		for range 3 {
			_, _ = last(m.Stream(t.Context(), req))
			time.Sleep(resilient.DefaultCooldown)
			m.Return()
		}
		if got, want := strings.Join(systems, ", "), "You are, You are b, You are, You are, You are b"; got != want {
			t.Errorf("sent %s, want %s", got, want)
		}
	})
}

// listening notes the system prompts that a model is sent.
type listening struct {
	model.Model
	systems *[]string
}

func (l *listening) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	*l.systems = append(*l.systems, req.System)
	return l.Model.Stream(ctx, req)
}

func TestAModelThatBringsNothingIsPassedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := resilient.NewFallback(resilient.FallbackOptions{Env: env}, newFake("p", "ok."), newFake("b", "ok."))
		if to, ok := m.Skip(); !ok || to.Model != "b" || m.Profile().Model != "b" || m.Len() != 2 {
			t.Errorf("it went on with %s", m.Profile().Model)
		}
		if _, ok := m.Skip(); ok || m.Profile().Model != "b" {
			t.Errorf("it went back to %s, which cools down", m.Profile().Model)
		}
		time.Sleep(resilient.DefaultCooldown)
		if to, ok := m.Skip(); !ok || to.Model != "p" {
			t.Error("a model that has cooled down is not taken")
		}
	})
}

// last returns what a stream ends with.
func last(stream iter.Seq2[model.Delta, error]) (d model.Delta, err error) {
	for d, err = range stream {
		continue
	}
	return d, err
}
