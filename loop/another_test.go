package loop_test

import (
	"context"
	"testing"

	"github.com/rondo-engine/rondo/loop"
)

// switcher is a host with so many models more.
type switcher struct {
	*fakeHost
	others int
}

func (s *switcher) Another(_ context.Context, _ string, skipped int) bool {
	if skipped < s.others {
		s.log = append(s.log, "another")
		return true
	}
	return false
}

func TestEmptyRepliesLeadToAnotherModel(t *testing.T) { // scenario 34
	h := &switcher{&fakeHost{replies: []any{says(""), says(""), says(""), says(""), says("here"), says("")}}, 1}
	s := start("go")
	o := loop.Run(t.Context(), h, s, loop.Limits{})
	if o.Reason != loop.EndTurn || o.Final != "here" || s.Skipped != 0 {
		t.Errorf("%s, %q, %d skipped", o.Reason, o.Final, s.Skipped)
	}
	if len(h.calls) != 5 || h.calls[3].Note == "" || h.calls[4].Note != "" {
		t.Errorf("%d calls, the last with the note %q", len(h.calls), h.calls[len(h.calls)-1].Note)
	}
	h = &switcher{&fakeHost{replies: []any{says("")}}, 2}
	if o := loop.Run(t.Context(), h, start("go"), loop.Limits{}); o.Reason != loop.NoToolCalls || len(h.calls) != 12 {
		t.Errorf("%s after %d calls of three models, want 4 each", o.Reason, len(h.calls))
	}
}
