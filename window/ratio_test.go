package window_test

import (
	"math"
	"testing"

	"github.com/rondo-engine/rondo/window"
)

func TestRatioAveragesThreeObservationsAndThenFollowsSlowly(t *testing.T) {
	var r window.Ratio
	if r.Value() != 3 {
		t.Errorf("nothing known: %v", r.Value())
	}
	for i, c := range []struct {
		weight window.Weight
		tokens int
		want   float64
	}{
		{window.Weight{Chars: 400}, 100, 4},
		{window.Weight{Chars: 200}, 100, 3},
		{window.Weight{Chars: 600}, 100, 4},
		{window.Weight{Chars: 600}, 100, 4.3}, // 4 + 0.15 × 2
		{window.Weight{Chars: 50}, 100, 4.3},  // 0.5 is not believed
		{window.Weight{Chars: 800}, 100, 4.3}, // nor is 8
		{window.Weight{Chars: 0}, 100, 4.3},
		{window.Weight{Chars: 430, Media: 2}, 3300, 4.3}, // images are taken out
		{window.Weight{Chars: 430, Media: 2}, 3200, 4.3},
		{window.Weight{Chars: 230}, 100, 4}, // 4.3 − 0.15 × 2
	} {
		r = r.Observe(c.weight, c.tokens)
		if math.Abs(r.Value()-c.want) > 1e-9 {
			t.Errorf("observation %d: %v, want %v", i, r.Value(), c.want)
		}
	}
	if broken := (window.Ratio{CharsPerToken: 80, Seen: 9}); broken.Value() != 3 {
		t.Errorf("a kept value that cannot be true is used: %v", broken.Value())
	}
}
