package resilient_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/resilient"
)

// capped refuses requests for longer replies than its cap, and all requests
// while full is set; it writes down what was asked for.
type capped struct {
	profile model.Profile
	refuse  func(asked int) *model.Error
	asked   []int
}

func (c *capped) Profile() *model.Profile { return &c.profile }

func (c *capped) Stream(_ context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		n := req.MaxOutputTokens
		if n == 0 {
			n = c.profile.MaxOutput
		}
		c.asked = append(c.asked, n)
		if e := c.refuse(n); e != nil {
			yield(model.Delta{}, e)
			return
		}
		yield(model.Delta{Kind: model.DeltaDone, Reply: &model.Reply{Message: message.NewAssistant(message.Text("ok"))}}, nil)
	}
}

func newCapped(refuse func(int) *model.Error) *capped {
	return &capped{profile: model.Profile{Provider: "p", Model: "m", BaseURL: "https://h/v1", ContextWindow: 200_000, MaxOutput: 64_000}, refuse: refuse}
}

func tooLong(most int) func(int) *model.Error {
	return func(asked int) *model.Error {
		if asked > most {
			return &model.Error{Class: model.InvalidRequest, LearnedMaxOutput: most, RetryAfter: -1, Err: fmt.Errorf("%d > %d", asked, most)}
		}
		return nil
	}
}

func TestACapOnRepliesIsLearnedOnce(t *testing.T) {
	c := newCapped(tooLong(8000))
	saved := map[string]resilient.Bounds{}
	limits := resilient.NewLimits(resilient.BoundsOptions{Save: func(key string, b resilient.Bounds) error { saved[key] = b; return nil }})
	m := limits.Wrap(c, resilient.Fixed{})
	first := m.Profile()
	for _, want := range []string{"retry1:invalid_request:0s done:ok", "done:ok"} {
		if got, _ := tell(t.Context(), m); got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	}
	if want := []int{64_000, 8000, 8000}; !cmp.Equal(c.asked, want) {
		t.Errorf("asked for %v, want %v", c.asked, want)
	}
	later := m.Profile()
	if first.MaxOutput != 64_000 || later.MaxOutput != 8000 || m.Profile() != later {
		t.Errorf("profiles tell %d, then %d, and are the same as long as the limits are: %v", first.MaxOutput, later.MaxOutput, m.Profile() == later)
	}
	if want := map[string]resilient.Bounds{"p/m@h": {MaxOutput: 8000}}; !cmp.Equal(saved, want) {
		t.Errorf("saved %v, want %v", saved, want)
	}
}

func TestRoomForOneReplyIsNotRemembered(t *testing.T) {
	for name, class := range map[string]model.Class{"the prompt fills the window": model.ContextOverflow, "the balance pays for less": model.Billing} {
		t.Run(name, func(t *testing.T) {
			refused := 0
			c := newCapped(func(asked int) *model.Error {
				if refused++; refused > 1 {
					return nil
				}
				return &model.Error{Class: class, LearnedMaxOutput: 5000, RetryAfter: -1}
			})
			m := resilient.NewLimits(resilient.BoundsOptions{}).Wrap(c, resilient.Fixed{})
			for range 2 {
				if _, err := tell(t.Context(), m); err != nil {
					t.Fatal(err)
				}
			}
			if want := []int{64_000, 5000, 64_000}; !cmp.Equal(c.asked, want) {
				t.Errorf("asked for %v, want %v", c.asked, want)
			}
		})
	}
}

func TestAWindowIsLearnedFromAnOverflow(t *testing.T) {
	c := newCapped(func(int) *model.Error {
		return &model.Error{Class: model.ContextOverflow, LearnedWindow: 32_768, RetryAfter: -1}
	})
	limits := resilient.NewLimits(resilient.BoundsOptions{})
	m := limits.Wrap(c, resilient.Fixed{})
	if got, _ := tell(t.Context(), m); got != "error:context_overflow" || len(c.asked) != 1 {
		t.Errorf("told %s after %d requests", got, len(c.asked))
	}
	for who, p := range map[string]*model.Profile{"it": m.Profile(), "another around the same model": limits.Wrap(newCapped(nil), resilient.Fixed{}).Profile()} {
		if p.ContextWindow != 32_768 || p.MaxOutput != 64_000 {
			t.Errorf("%s has a window of %d and replies of %d", who, p.ContextWindow, p.MaxOutput)
		}
	}
}

func TestAWindowInWhichNothingFitsIsForgottenWithTheProcess(t *testing.T) { // scenario 91
	for window, kept := range map[int]bool{600: false, 8000: false, 32_768: true} {
		c := newCapped(func(int) *model.Error {
			return &model.Error{Class: model.ContextOverflow, LearnedWindow: window, RetryAfter: -1}
		})
		saved := map[string]resilient.Bounds{}
		limits := resilient.NewLimits(resilient.BoundsOptions{Save: func(key string, b resilient.Bounds) error {
			saved[key] = b
			return nil
		}})
		m := limits.Wrap(c, resilient.Fixed{})
		_, _ = tell(t.Context(), m)
		if got := m.Profile().ContextWindow; got != window || (len(saved) > 0) != kept {
			t.Errorf("a window of %d: the profile says %d, saved is %v", window, got, saved)
		}
	}
}

func TestEarlierProcessesAreOutweighedByTheUser(t *testing.T) {
	loads := 0
	limits := resilient.NewLimits(resilient.BoundsOptions{Load: func() (map[string]resilient.Bounds, error) {
		loads++
		return map[string]resilient.Bounds{"p/m@h": {ContextWindow: 1000, MaxOutput: 100}}, nil
	}})
	for fixed, want := range map[resilient.Fixed]resilient.Bounds{
		{}:                                     {ContextWindow: 1000, MaxOutput: 100},
		{ContextWindow: true}:                  {ContextWindow: 200_000, MaxOutput: 100},
		{ContextWindow: true, MaxOutput: true}: {ContextWindow: 200_000, MaxOutput: 64_000},
	} {
		p := limits.Wrap(newCapped(nil), fixed).Profile()
		if p.ContextWindow != want.ContextWindow || p.MaxOutput != want.MaxOutput {
			t.Errorf("%+v: %d and %d, want %+v", fixed, p.ContextWindow, p.MaxOutput, want)
		}
	}
	if loads != 1 {
		t.Errorf("loaded %d times", loads)
	}
}

func TestLimitsThatCannotBeKeptAreTold(t *testing.T) {
	var warned []string
	limits := resilient.NewLimits(resilient.BoundsOptions{
		Load: func() (map[string]resilient.Bounds, error) { return nil, errors.New("no load") },
		Save: func(string, resilient.Bounds) error { return errors.New("no save") },
		Warn: func(err error) { warned = append(warned, err.Error()) },
	})
	if got, _ := tell(t.Context(), limits.Wrap(newCapped(tooLong(9000)), resilient.Fixed{})); got != "retry1:invalid_request:0s done:ok" {
		t.Errorf("told %s", got)
	}
	if want := []string{"no load", "no save"}; !cmp.Equal(warned, want) {
		t.Errorf("warned of %v, want %v", warned, want)
	}
}

func TestARequestIsNotSentAgainForNothing(t *testing.T) {
	for name, e := range map[string]*model.Error{
		"no cap named":             {Class: model.InvalidRequest},
		"cap above what was asked": {Class: model.InvalidRequest, LearnedMaxOutput: 100_000},
		"hardly any room":          {Class: model.Billing, LearnedMaxOutput: 12},
	} {
		c := newCapped(func(int) *model.Error { return e })
		got, _ := tell(t.Context(), resilient.NewLimits(resilient.BoundsOptions{}).Wrap(c, resilient.Fixed{}))
		if len(c.asked) != 1 || got != "error:"+string(e.Class) {
			t.Errorf("%s: %d requests, told %s", name, len(c.asked), got)
		}
	}
}
