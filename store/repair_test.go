package store_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

func TestEditsLeadFromBeforeToAfter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var before []*message.Message
		for range rapid.IntRange(0, 8).Draw(t, "n") {
			before = append(before, message.NewUser("x"))
		}
		after := slices.DeleteFunc(slices.Clone(before), func(*message.Message) bool { return rapid.IntRange(0, 3).Draw(t, "drop") == 0 })
		for range rapid.IntRange(0, 3).Draw(t, "new") {
			after = slices.Insert(after, rapid.IntRange(0, len(after)).Draw(t, "at"), message.NewUser("new"))
		}
		if n := len(after); n > 1 {
			i, j := rapid.IntRange(0, n-1).Draw(t, "i"), rapid.IntRange(0, n-1).Draw(t, "j")
			after[i], after[j] = after[j], after[i]
		}
		later := message.NewUser("later")
		all := append(slices.Clone(before), later)
		r := store.Repair{Seen: len(before), Edits: store.Edits(before, after)}
		if got := store.Mended(all, []store.Repair{r}); !slices.Equal(got, append(after, later)) {
			t.Fatalf("edits %+v lead elsewhere", r.Edits)
		}
	})
}

func TestRepairsBuildOnOneAnother(t *testing.T) {
	var msgs []*message.Message
	for _, s := range strings.Split("abcdef", "") {
		msgs = append(msgs, message.NewUser(s))
	}
	first := store.Repair{Seen: 3, Edits: []store.Edit{{At: 1, Drop: 1, Put: []*message.Message{message.NewUser("B"), message.NewUser("+")}}}}
	second := store.Repair{Seen: 5, Edits: []store.Edit{{At: 2, Drop: 2}, {At: 6, Put: []*message.Message{message.NewUser("!")}}}}
	var got string
	for _, m := range store.Mended(msgs, []store.Repair{first, second}) {
		got += m.Text()
	}
	if got != "aBde!f" {
		t.Errorf("got %s, want aBde!f", got)
	}
	if got := store.Mended(msgs[:2], []store.Repair{first, second}); len(got) == 0 {
		t.Error("repairs of messages that are not there must not lose those that are")
	}
}
