package rondo

import "context"

// Turn is the run that a tool call belongs to. Agent-level tools, which act on
// the agent's own state rather than on the world, find it in their context:
//
//	turn, ok := rondo.TurnOf(ctx)
//
// Such a tool is a *tool.Tool like any other and stands in Options.Tools;
// TodoTool, ClarifyTool, DelegateTool and SessionSearchTool make those of this
// package. One that is not to be given to child agents sets tool.Tool.TopOnly.
type Turn struct{ phase *toolPhase }

// turnKey is the key of the context value that a turn's tools find it by.
type turnKey struct{}

func withTurn(ctx context.Context, p *toolPhase) context.Context {
	return context.WithValue(ctx, turnKey{}, Turn{p})
}

// TurnOf returns the turn in whose tool call ctx is. It reports whether there
// is one: a tool may be run outside of an agent.
func TurnOf(ctx context.Context) (Turn, bool) {
	t, ok := ctx.Value(turnKey{}).(Turn)
	return t, ok
}

// Session returns the session of the turn. It must not be closed or run.
func (t Turn) Session() *Session { return t.phase.run.s }

// Agent returns the path of task ids from the top-level run to the agent whose
// turn it is; empty for the top-level run itself.
func (t Turn) Agent() []string { return t.phase.run.path }

// Emit tells the listeners of the run something. The session, the number and
// the agent of the event are filled in.
func (t Turn) Emit(e Event) { t.phase.run.events.emit(e) }
