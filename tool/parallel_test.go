package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-engine/rondo/tool"
)

// Eight reads of 50 ms take less than 100 ms, here in virtual time.
func TestEightReadsTakeTheTimeOfOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read := &tool.Tool{
			Name: "read", ReadOnly: true, Schema: json.RawMessage(`{"type":"object"}`),
			Access: func(json.RawMessage) tool.Access { return tool.Access{Reads: []string{"/w/"}} },
			Run: func(context.Context, tool.Call) (tool.Result, error) {
				time.Sleep(50 * time.Millisecond)
				return tool.Result{Text: "x"}, nil
			},
		}
		jobs := make([]tool.Job, 8)
		for i := range jobs {
			jobs[i] = tool.Job{Tool: read, Call: tool.Call{ID: fmt.Sprint(i), Args: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))}}
		}
		start := time.Now()
		out := tool.Execute(t.Context(), jobs, tool.Options{})
		if took := time.Since(start); took >= 100*time.Millisecond {
			t.Errorf("they took %v", took)
		}
		for i, o := range out {
			if o.Err != nil || o.Result.Text != "x" {
				t.Errorf("call %d: %+v", i, o)
			}
		}
	})
}
