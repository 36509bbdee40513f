package rondo

import (
	"github.com/rondo-engine/rondo/model"
)

// Callbacks are functions over the events of a run, for those who want a few
// of them and no switch. Any may be nil. They are called as a Listener is: one
// at a time, in order, in a goroutine of their own, and never to the harm of the
// run. For child agents, those on text, thinking and rounds are not called.
type Callbacks struct {
	// ToolProgress tells of a tool call that begins (use set), reports (use
	// and line set) or ends (result set).
	ToolProgress func(use *ToolUse, line string, result *ToolResult)
	// Thinking brings the next piece of the model's thinking, Reasoning the
	// whole of it when the reply is complete.
	Thinking  func(text string)
	Reasoning func(text string)
	// Clarify brings a question that the agent asks the user.
	Clarify func(question string)
	// Step says that a round begins.
	Step func(round int)
	// StreamDelta brings the next piece of the reply's text; reset says that
	// what came since the last step is taken back.
	StreamDelta func(text string, reset bool)
	// ToolGen says that the model is writing a call of the named tool.
	ToolGen func(name string)
	// Status tells a person what is going on; class is set for failures.
	Status func(text string, class model.Class)
}

// Listener returns a listener that makes the callbacks.
func (c Callbacks) Listener() Listener {
	return func(e Event) {
		if len(e.Agent) > 0 && ofOneAgent(e.Type) {
			return
		}
		switch e.Type {
		case EventToolUse, EventToolProgress, EventToolResult:
			call3(c.ToolProgress, e.ToolUse, e.Text, e.ToolResult)
		case EventThinking:
			call(c.Thinking, e.Text)
		case EventReasoning:
			call(c.Reasoning, e.Text)
		case EventClarify:
			call(c.Clarify, e.Text)
		case EventStep:
			call(c.Step, e.Round)
		case EventText, EventReset:
			call2(c.StreamDelta, e.Text, e.Type == EventReset)
		case EventToolGen:
			call(c.ToolGen, e.ToolUse.Name)
		case EventStatus:
			call2(c.Status, e.Text, "")
		case EventError:
			call2(c.Status, e.Failure.Message, e.Failure.Class)
		}
	}
}

// ofOneAgent reports whether events of a type make sense only together with
// others of the same agent.
func ofOneAgent(t EventType) bool {
	switch t {
	case EventText, EventThinking, EventReasoning, EventReset, EventStep:
		return true
	}
	return false
}

func call[A any](f func(A), a A) {
	if f != nil {
		f(a)
	}
}

func call2[A, B any](f func(A, B), a A, b B) {
	if f != nil {
		f(a, b)
	}
}

func call3[A, B, C any](f func(A, B, C), a A, b B, c C) {
	if f != nil {
		f(a, b, c)
	}
}
