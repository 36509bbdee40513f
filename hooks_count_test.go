package rondo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/hook"
	"github.com/rondo-engine/rondo/tool"
)

// hookCount counts the hooks of each call. The ids of calls tell what becomes of
// them.
type hookCount struct {
	mu          sync.Mutex
	before      map[string]int
	after       map[string][]string
	decides     func(c hook.ToolCall) hook.Decision
	crashesWith any
}

func (h *hookCount) hooks() hook.Hooks {
	h.before, h.after = map[string]int{}, map[string][]string{}
	return hook.Hooks{
		PreToolCall: func(_ context.Context, c hook.ToolCall) (hook.Decision, error) {
			h.mu.Lock()
			h.before[c.ID]++
			h.mu.Unlock()
			if h.crashesWith != nil {
				panic(h.crashesWith)
			}
			return h.decides(c), nil
		},
		PostToolCall: func(_ context.Context, c hook.ToolCall, r *hook.Result) error {
			h.mu.Lock()
			h.after[c.ID] = append(h.after[c.ID], string(r.Status))
			h.mu.Unlock()
			if h.crashesWith != nil {
				panic(h.crashesWith)
			}
			return nil
		},
	}
}

// A hook is called once for each call, whatever becomes of that: before it if its
// tool exists and its arguments fit, and after it in any case.
func TestHooksAreCalledOnceForEachCall(t *testing.T) {
	for _, crash := range []any{nil, "fell over"} {
		h := &hookCount{crashesWith: crash, decides: func(c hook.ToolCall) hook.Decision { return hook.Decision{Block: c.ID == "blocked"} }}
		work := newTool("work", false, func(_ context.Context, c tool.Call) (tool.Result, error) {
			switch c.ID {
			case "panics":
				panic("tool fell over")
			case "fails":
				return tool.Result{}, errors.New("no")
			}
			return tool.Result{Text: "worked"}, nil
		})
		a := newAgent(t, rondo.Options{
			Model: cast(map[string][]step{
				"go": {
					asks(`ok work {"n":1}`, `blocked work {"n":2}`, `denied work {"n":3}`, `moved work {"n":4}`, `panics work {"n":5}`, `fails work {"n":6}`, `unknown nothing`,
						`wrong work {"n":"x"}`, `todo todo {"todos":[]}`, `clarify clarify {"question":"Which?"}`, `child delegate_task {"goal":"look"}`, `again work {"n":1}`),
					says("done"),
				},
				"look": {says("seen")},
			}),
			Tools: []*tool.Tool{work, rondo.TodoTool(), rondo.ClarifyTool(), rondo.DelegateTool(rondo.Delegation{})},
			Ask:   func(context.Context, rondo.Question) (string, error) { return "this", nil },
			Approve: func(_ context.Context, r rondo.ApprovalRequest) rondo.Approval {
				a := rondo.Approval{Allow: r.Call.ID != "denied"}
				if r.Call.ID == "moved" {
					a.Check = func() error { return errors.New("it leads elsewhere") }
				}
				return a
			},
			Hooks: []hook.Hooks{h.hooks()},
		})
		if answer, err := a.Chat(t.Context(), "go"); err != nil || answer != "done" {
			t.Fatalf("crash %v: %q, %v", crash, answer, err)
		}
		want := map[string]string{
			"ok": "ok", "blocked": "denied", "denied": "denied", "moved": "denied", "panics": "error", "fails": "error", "unknown": "error", "wrong": "error",
			"todo": "ok", "clarify": "ok", "child": "ok", "again": "ok",
		}
		if crash != nil {
			want["blocked"] = "ok" // a crash lets the call be
		}
		for id, status := range want {
			before := 1
			if id == "unknown" || id == "wrong" {
				before = 0
			}
			if h.before[id] != before || !slices.Equal(h.after[id], []string{status}) {
				t.Errorf("crash %v, %s: before %d times, after %v", crash, id, h.before[id], h.after[id])
			}
		}
		if len(h.after) != len(want) {
			t.Errorf("crash %v: called for %s", crash, strings.Join(strings.Fields(fmt.Sprint(h.after)), " "))
		}
	}
}
