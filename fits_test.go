package rondo_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/tool"
)

// Contract row L1, scenario 104: the fake's window has 100000 tokens, of which
// 95904 are for input; 60 % of them are 57542, or 172626 characters.
func TestPromptOverTheLimitIsRefusedWhole(t *testing.T) {
	big := fixed("look", "seen")
	big.Description = strings.Repeat("d", 50000)
	for _, c := range []struct {
		name   string
		system string
		tools  []*tool.Tool
		text   string
		fits   bool
	}{
		{"message alone, just below", "", nil, strings.Repeat("a", 172600), true},
		{"message alone, above", "", nil, strings.Repeat("a", 172700), false},
		{"Japanese counts twice", "", nil, strings.Repeat("字", 86400), false},
		{"system prompt and message", strings.Repeat("s", 100000), nil, strings.Repeat("a", 80000), false},
		{"system prompt, tools and message", strings.Repeat("s", 80000), []*tool.Tool{big}, strings.Repeat("a", 50000), false},
		{"the same without the message", strings.Repeat("s", 80000), []*tool.Tool{big}, "go", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &fakeModel{steps: []step{says("ok")}}
			st := store.NewMemory()
			a := newAgent(t, rondo.Options{Model: m, Store: st, System: c.system, Tools: c.tools})
			res, err := a.Run(t.Context(), rondo.Request{Text: c.text})
			if c.fits {
				if err != nil || m.requests[0].History.Last().Text() != c.text {
					t.Errorf("ended with %v", err)
				}
				return
			}
			e, ok := errors.AsType[*rondo.PromptTooLargeError](err)
			if !ok || e.Limit != 57542 || e.Tokens <= e.Limit || !errors.Is(err, loop.ErrOverflow) || len(m.requests) != 0 {
				t.Fatalf("got %v after %d requests", err, len(m.requests))
			}
			if _, _, err := st.Load(t.Context(), res.SessionID); err == nil {
				t.Error("the refused turn was saved")
			}
		})
	}
}
