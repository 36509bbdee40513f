package builtin

import (
	"context"
	"strings"

	"github.com/rondo-engine/rondo/tool"
)

type noopArgs struct {
	N int `json:"n,omitzero"`
}

// Noop returns a tool that does nothing and returns size bytes of text, 16 if
// size is 0. It is hidden: benchmarks select it by its name or its toolset,
// "bench".
func Noop(size int) *tool.Tool {
	if size <= 0 {
		size = 16
	}
	text := strings.Repeat("x", size)
	return tool.Must(tool.New(tool.Tool{
		Name: "noop", Description: "Does nothing.", Toolset: benchToolset, Hidden: true, ReadOnly: true,
	}, func(context.Context, tool.Call, noopArgs) (tool.Result, error) {
		return tool.Result{Text: text}, nil
	}))
}
