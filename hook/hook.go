// Package hook names the points of a run at which others are called.
//
// Hooks are given to an agent in its options. Those of one run are called one at
// a time, and the run waits for them; runs at the same time, such as those of
// child agents, call them at the same time. An error or a panic of a hook
// is told to the listeners and changes nothing else: a hook never breaks a turn.
// Command hooks are made by rondo from its settings.
package hook

import (
	"context"
	"encoding/json"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// Hooks are functions; any may be nil.
type Hooks struct {
	// PreToolCall is called for each call whose tool exists and whose
	// arguments fit, before it is asked for and run.
	PreToolCall func(ctx context.Context, c ToolCall) (Decision, error)
	// PostToolCall is called exactly once for each call, however it ended:
	// those that were blocked, denied, interrupted or wrong, too. It may change
	// the text that the model reads.
	PostToolCall func(ctx context.Context, c ToolCall, r *Result) error
	// PreModelCall is called before each model call. The text that it returns
	// goes to the model at the end of this request. It stays there in later
	// requests, so that they begin with the same bytes, but is no part of the
	// messages that people see and search.
	PreModelCall func(ctx context.Context, c ModelCall) (text string, err error)
	// PostModelCall is called with each reply.
	PostModelCall func(ctx context.Context, c ModelCall, r *model.Reply) error
	// SessionStart is called before the first model call of a session, and
	// again when one is taken up by a new process. The text that it returns
	// goes to the model as that of PreModelCall does. SessionEnd is called
	// when a session that was begun so is given back.
	SessionStart func(ctx context.Context, s Session) (text string, err error)
	SessionEnd   func(ctx context.Context, s Session) error
	// SessionContinued is called when a conversation goes on as a session of
	// its own, because it was compressed.
	SessionContinued func(ctx context.Context, from, to string) error
	// SubagentStart and SubagentStop are called around the run of a child
	// agent.
	SubagentStart func(ctx context.Context, s Subagent) error
	SubagentStop  func(ctx context.Context, s Subagent) error
	// Failed is told of errors of SessionEnd, which no listener hears of any
	// more; nil drops them.
	Failed func(err error)
}

// ToolCall is a tool call.
type ToolCall struct {
	// Session and Task name the session and the run, Agent is the path of task
	// ids to the child agent that made the call; empty for the run itself.
	Session, Task string
	Agent         []string
	ID, Name      string
	// Arguments are a JSON object, or what the model sent in its place.
	Arguments json.RawMessage
}

// Decision is what becomes of a tool call. The zero value lets it be.
type Decision struct {
	// Block keeps the call from running; Reason is told to the model.
	Block  bool
	Reason string
	// Arguments replace those of the call if they are not nil. They are
	// checked as the model's are.
	Arguments json.RawMessage
}

// Result is how a tool call ended.
type Result struct {
	// Text is what the model reads.
	Text   string
	Status message.Status
}

// ModelCall is a model call.
type ModelCall struct {
	Session, Task string
	Agent         []string
	// Round counts the model calls of the run, from 1.
	Round           int
	Provider, Model string
	// History is the conversation that is sent. It is not to be changed.
	History message.History
}

// Session is a session that begins or ends. Resumed says that it has a history.
type Session struct {
	ID      string
	Resumed bool
}

// Subagent is a child agent. Reason is why its run ended, empty at its start.
type Subagent struct {
	Session, Task, Parent string
	Goal                  string
	Reason                string
}
