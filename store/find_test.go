package store_test

import (
	"fmt"
	"testing"

	"github.com/rondo-engine/rondo/store"
)

func TestFreeTitleAsksAboutFewTitles(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 7, 1000} {
		known := map[string]bool{}
		for i := range n {
			asked := 0
			title, err := store.FreeTitle("T", func(s string) (bool, error) { asked++; return known[s], nil })
			want := fmt.Sprintf("T #%d", i+1)
			if i == 0 {
				want = "T"
			}
			if err != nil || title != want || asked > 24 {
				t.Fatalf("title %d is %q after %d questions, %v", i+1, title, asked, err)
			}
			known[title] = true
		}
	}
}
