package main

import (
	"context"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/internal/config"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/tool"
)

// agentTools are the tools that the agent answers itself: all that the settings
// allow. children is the model of child agents, nil for that of the run. The
// tool clarify is added where somebody can be asked.
func agentTools(c *config.Config, children model.Model) []*tool.Tool {
	tools := []*tool.Tool{rondo.TodoTool(), rondo.SessionSearchTool()}
	if d := c.Delegation; d.MaxDepth > 0 {
		total := d.MaxChildren
		if total == 0 {
			total = -1
		}
		tools = append(tools, rondo.DelegateTool(rondo.Delegation{
			Model: children, MaxRounds: d.MaxIterations, MaxConcurrent: d.MaxConcurrentChildren, MaxTotal: total,
			MaxDepth: d.MaxDepth, StallAfter: d.StallAfter,
		}))
	}
	return tools
}

// delegated opens the model of child agents, if the settings name one.
func (m *models) delegated(ctx context.Context) (model.Model, error) {
	if m.settings.Delegation.Target == (config.Target{}) {
		return nil, nil
	}
	all, err := m.spares(ctx, "delegation", func(l *config.Loaded) []config.Target {
		return []config.Target{l.Delegation.Target}
	})
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return m.chain(all)
}
