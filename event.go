package rondo

import (
	"encoding/json"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// EventType names what an Event tells.
type EventType string

// The types of events. Within a run they come in the order in which things
// happen; EventDone comes last, exactly once.
const (
	// EventText and EventThinking bring the next piece of the reply's text
	// and of the model's thinking, in Text.
	EventText     EventType = "text_delta"
	EventThinking EventType = "thinking"
	// EventReasoning brings the whole thinking of a reply, in Text.
	EventReasoning EventType = "reasoning"
	// EventToolGen says that the model is writing a tool call.
	EventToolGen EventType = "tool_gen"
	// EventToolUse says that a tool call begins, EventToolResult how it ended.
	EventToolUse    EventType = "tool_use_start"
	EventToolResult EventType = "tool_result"
	// EventToolProgress brings a line of a tool that is running, in Text.
	EventToolProgress EventType = "tool_progress"
	// EventStep says that a round begins.
	EventStep EventType = "step"
	// EventStatus tells a person what is going on, in Text. That a child agent
	// has ended is such an event, with the child's Result in Done.
	EventStatus EventType = "status"
	// EventReset takes back the deltas of the model call that it names.
	EventReset EventType = "reset"
	// EventUsage tells what a model call used.
	EventUsage EventType = "usage"
	// EventApproval says that a tool call waits for a person's word.
	EventApproval EventType = "approval"
	// EventClarify says that the agent asks the user.
	EventClarify EventType = "clarify"
	// EventCompaction tells of a compression of the history.
	EventCompaction EventType = "compaction"
	// EventTodo brings the list of what is to be done.
	EventTodo EventType = "todo"
	// EventPlan tells where a plan stands.
	EventPlan EventType = "plan"
	// EventError tells of a failure, recovered or not.
	EventError EventType = "error"
	// EventDone ends the run.
	EventDone EventType = "done"
)

// Event is something that happened in a run. Only the fields that its type
// names are set. It is not to be changed: listeners share it.
type Event struct {
	Type      EventType
	SessionID string
	// Seq counts the events of a run from 1; it never goes back. Deltas that
	// were joined for a slow listener carry the number of the last.
	Seq int64
	// Agent is the path of task ids from the run to the child agent that the
	// event comes from; empty for the run itself.
	Agent []string
	Text  string
	// Round is the number of the round (EventStep, EventReset, EventText and
	// EventThinking).
	Round int
	// Attempt is the number of the try of the model call within its round,
	// from 1 (EventReset, EventText and EventThinking).
	Attempt int

	// Todos are the whole list (EventTodo).
	Todos []Todo
	// Question is what is asked (EventClarify); its text is in Text, too.
	Question *Question

	ToolUse    *ToolUse
	ToolResult *ToolResult
	Usage      *UsageReport
	Compaction *Compaction
	Plan       *PlanEvent
	Failure    *Failure
	Done       *Result
}

// ToolUse is a tool call that begins, or is being written (only Name and Index
// are known then).
type ToolUse struct {
	ID        string          `json:"id,omitzero"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitzero"`
}

// ToolResult is how a tool call ended.
type ToolResult struct {
	ID     string
	Name   string
	Status message.Status
	// Content is what the model reads.
	Content   string
	Duration  time.Duration
	Truncated bool
	// Details are for the screen; see tool.Result.
	Details any
}

// UsageReport is what one model call used, and who answered.
type UsageReport struct {
	Provider, Model string
	model.Usage
	// Reckoned is how many tokens the prompt was estimated to have, before
	// the provider counted Input; 0 where that was not done.
	Reckoned int
	// CostUSD is nil when the price is not known.
	CostUSD *float64
}

// Failure is what went wrong.
type Failure struct {
	Class           model.Class
	Message         string
	Provider, Model string
	Status          int
	// RetryIn is how long until the next try; negative when there is none.
	RetryIn time.Duration
}
