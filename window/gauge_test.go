package window_test

import (
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/window"
)

// words makes a text of n weighted characters.
func words(n int) string { return strings.Repeat("word ", n/5+1)[:n] }

func TestGaugeEstimatesOnlyWhatTheProviderHasNotCounted(t *testing.T) {
	var g window.Gauge
	fixed := window.Weight{Chars: 3000}
	ask, reply := message.NewUser(words(288)), message.NewAssistant(message.Call("1", "look", "{}"))
	result := message.NewResult(reply.Calls()[0], message.StatusOK, words(588))
	msgs := []*message.Message{ask, reply, result}
	if got := g.Tokens(fixed, msgs[:1]); got != 1100 {
		t.Errorf("before anything was counted: %d, want 1100", got)
	}
	g.Observe(fixed, msgs[:1], 1000, 50)
	// 3300 characters were 1000 tokens; a result of 600 is 182 more.
	if got := g.Tokens(fixed, msgs); got != 1000+50+182 {
		t.Errorf("after a count: %d, want 1232", got)
	}
	if got := g.Tokens(fixed, []*message.Message{message.NewUser(words(288))}); got != 1000 {
		t.Errorf("another conversation: %d, want 1000", got)
	}
}

func TestGaugeTakesWhatNothingExplainsForOverhead(t *testing.T) {
	var g window.Gauge
	msgs := []*message.Message{message.NewUser("hi")}
	g.Observe(window.Weight{}, msgs, 7600, 10)
	if got := g.Fixed(window.Weight{}); got < 7500 || got > 7600 {
		t.Errorf("the overhead is %d, want nearly 7600", got)
	}
	if g.Ratio.Seen != 0 {
		t.Error("the ratio was learned from it")
	}
}

func TestGaugeReckonsHigherAfterAnOverflow(t *testing.T) {
	var g window.Gauge
	msgs := []*message.Message{message.NewUser(words(2988))}
	before := g.Tokens(window.Weight{}, msgs)
	g.Overflowed(before, 2000)
	if got := g.Tokens(window.Weight{}, msgs); got < 2000 {
		t.Errorf("%d tokens after it did not fit into 2000", got)
	}
}

// BenchmarkGauge is what a round costs when nothing has to be done.
func BenchmarkGauge(b *testing.B) {
	msgs := make([]*message.Message, 2000)
	for i := range msgs {
		msgs[i] = message.NewUser(words(500))
	}
	var g window.Gauge
	g.Tokens(window.Weight{}, msgs)
	for b.Loop() {
		g.Tokens(window.Weight{}, msgs)
	}
}
