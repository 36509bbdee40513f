package window_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/tool"
	"github.com/rondo-engine/rondo/window"
)

// engine is an engine of a test: it brings what compress returns.
type engine struct {
	compress func(v *window.View) []*message.Message
}

func (e *engine) Due(v *window.View) bool { return v.Tokens > v.Limit }
func (e *engine) Describe() string        { return "a test" }
func (e *engine) Tools() []*tool.Tool     { return nil }
func (e *engine) Compress(_ context.Context, v *window.View) (window.Pass, error) {
	return window.Pass{Messages: e.compress(v), Method: window.Summarised}, nil
}

func TestAPassIsJudgedByWhatItBrought(t *testing.T) {
	h := history(long(40, 400)...)
	msgs := h.Messages()
	for name, c := range map[string]struct {
		compressed []*message.Message
		want       string
	}{
		"nothing":                     {nil, "empty"},
		"no smaller":                  {msgs[:len(msgs):len(msgs)], "saved 0 tokens"},
		"hardly smaller":              {append(msgs[:1:1], msgs[3:]...), "saved"},
		"a result without its call":   {append(msgs[:1:1], msgs[len(msgs)-1]), "not valid"},
		"another request of the user": {append([]*message.Message{message.NewUser("else")}, msgs[len(msgs)-2:]...), "lacks the user's last message"},
		"good":                        {append(msgs[:1:1], msgs[len(msgs)-2:]...), ""},
	} {
		k := window.Keeper{Engine: &engine{func(*window.View) []*message.Message { return c.compressed }}}
		o, err := k.Compress(t.Context(), view(h, 8000, 500, nil), noon)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch {
		case c.want == "" && (o.Failure != nil || o.History.Len() != 3 || k.State.Passes != 1):
			t.Errorf("%s: %v, %d messages", name, o.Failure, o.History.Len())
		case c.want != "" && (o.Failure == nil || !strings.Contains(o.Failure.Error(), c.want)):
			t.Errorf("%s: %v, want %q", name, o.Failure, c.want)
		case c.want != "" && (o.History.Len() != h.Len() || k.State.Failed != 1):
			t.Errorf("%s: the history was changed, or the failure not counted", name)
		}
	}
}

func TestAPassThatFailedWaitsForGrowth(t *testing.T) { // scenario 98
	k := window.Keeper{Engine: &engine{func(v *window.View) []*message.Message { return v.History.Messages() }}}
	h := history(long(40, 380)...)
	v := view(h, 10000, 500, nil)
	if due, urgent := k.Due(v, noon); !due || urgent {
		t.Fatalf("%d tokens of %d: due %v, urgent %v", v.Tokens, v.Room, due, urgent)
	}
	if _, err := k.Compress(t.Context(), v, noon); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		more int
		want bool
	}{{0, false}, {999, false}, {1000, true}} {
		again := *v
		again.Tokens += c.more
		if due, _ := k.Due(&again, noon); due != c.want {
			t.Errorf("%d tokens later: due %v", c.more, due)
		}
	}
}

func TestARoughEstimateAfterACompressionCausesNoOther(t *testing.T) { // scenario 100
	msgs := long(40, 400)
	k := window.Keeper{Engine: &engine{func(*window.View) []*message.Message { return append(msgs[:1:1], msgs[len(msgs)-2:]...) }}}
	v := view(history(msgs...), 8000, 500, nil)
	if o, err := k.Compress(t.Context(), v, noon); err != nil || o.Failure != nil {
		t.Fatal(o.Failure, err)
	}
	v.Tokens = v.Limit + 1000 // an estimate that is far off
	if due, _ := k.Due(v, noon); due {
		t.Error("another pass is due before the provider has counted")
	}
	k.Called()
	if due, _ := k.Due(v, noon); due {
		t.Error("another pass is due although nothing was added")
	}
	v.Tokens += v.Room / 5
	if due, _ := k.Due(v, noon); !due {
		t.Error("no pass is due after a fifth of the window was added")
	}
}

func TestFivePassesMayFail(t *testing.T) { // case 26
	k := window.Keeper{Engine: &window.Compressor{}}
	v := view(history(message.NewUser("hi")), 8000, 500, says("S"))
	v.Tokens = 7700
	for i := range window.MaxFailed {
		if due, urgent := k.Due(v, noon); !due || !urgent {
			t.Fatalf("pass %d: due %v, urgent %v", i, due, urgent)
		}
		_, err := k.Compress(t.Context(), v, noon)
		if last := i == window.MaxFailed-1; errors.Is(err, window.ErrExhausted) != last {
			t.Errorf("pass %d: %v", i+1, err)
		}
	}
	k.Said()
	if _, err := k.Compress(t.Context(), v, noon); err != nil {
		t.Errorf("after the user spoke: %v", err)
	}
	v.Fixed = 7600
	if _, err := k.Compress(t.Context(), v, noon); !errors.Is(err, window.ErrNoRoom) || !strings.Contains(err.Error(), "7600") {
		t.Errorf("with an overhead that leaves no room: %v", err)
	}
}
