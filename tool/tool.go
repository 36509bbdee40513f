// Package tool holds what the engine knows of tools: how one is described,
// checked, run and scheduled beside others.
//
// A Tool is data and one function; New makes one from a Go function and infers
// its schema. A Registry names the tools of an agent and gives out the set that
// a model is offered. A call goes through four steps: Registry.Prepare finds
// its tool and repairs and checks its arguments, Execute runs the calls of one
// reply together as far as they do not disturb each other, and Round.Limit
// cleans and cuts each result before it enters the history. The built-in tools
// are in package builtin.
package tool

import (
	"context"
	"encoding/json"
	"time"

	"github.com/rondo-engine/rondo/message"
)

// Tool is something that a model can ask for.
type Tool struct {
	// Name is what the model calls it: letters, digits, _ and -, at most 64.
	Name string
	// Description is what the model is told of it.
	Description string
	// Schema is the JSON schema of the arguments, an object at its root.
	Schema json.RawMessage
	// Toolset is the group that the tool belongs to, such as "files".
	Toolset string
	// ReadOnly says that the tool changes nothing that outlives the call.
	ReadOnly bool
	// Looks says of a tool that is not ReadOnly which calls change nothing all
	// the same, so that they may run while a plan is made; nil for none.
	Looks func(args json.RawMessage) bool
	// Interactive says that the tool asks the user: it runs alone.
	Interactive bool
	// TopOnly says that child agents do not get the tool: it speaks with the
	// user, or keeps what outlives the session.
	TopOnly bool
	// Hidden says that the tool is offered only where Registry.Select names
	// it or its toolset.
	Hidden bool
	// Untrusted says that results come from strangers, such as web pages.
	Untrusted bool
	// Access says what a call with these arguments touches. nil means nothing
	// shared for a read-only tool, and everything for any other.
	Access func(args json.RawMessage) Access
	// Types says what a call types into a program that runs already, for
	// whoever has to approve of it; nil if a call may type nothing, and so is
	// what it returns for a call that does not.
	Types func(call Call) *Typed
	// MaxResult bounds the result in bytes; 0 takes the limit of Limits.
	MaxResult int
	// Timeout bounds a call; 0 takes the limit of the Options that it is
	// executed with.
	Timeout time.Duration
	// Run runs the tool. The arguments were checked against Schema. An error
	// becomes the result that the model sees; so does a panic. Run must
	// return soon after ctx ends.
	Run func(ctx context.Context, call Call) (Result, error)

	// schema is Schema compiled, if New made the tool.
	schema *lazySchema
	// plain says that New inferred Schema in the form that providers accept.
	plain bool
}

// Access says what a tool call touches, so that calls which do not disturb each
// other run at the same time.
type Access struct {
	// Exclusive calls run alone.
	Exclusive bool
	// Reads and Writes are resource keys, such as resolved paths. A call
	// that writes a key waits for all that name it before; readers share it.
	// Prefix keys end in "/": they stand for everything below.
	Reads, Writes []string
}

// Typed is what a call types into a program that runs already. What it does depends
// on what reads it: to a shell it is commands.
type Typed struct {
	// Command is the shell command that the program was started with, Dir where
	// it was started.
	Command, Dir string
	// Before is all that was typed into it before, Text what comes now.
	Before, Text string
	// Terminal says that the program has a terminal, where control characters
	// are keys.
	Terminal bool
}

// Call is one call of a tool.
type Call struct {
	ID   string
	Name string
	// Args is a JSON object.
	Args json.RawMessage
	// Session and Task name the session and the run that the call belongs to.
	Session, Task string
	// Progress takes a short line on how far the call is; never nil.
	Progress func(string)
}

// Result is what a tool hands back.
type Result struct {
	// Text is what the model reads.
	Text string
	// Media are images and files for the model, if it takes any.
	Media []message.Part
	// Details are for the screen and the log, not for the model: a diff, an
	// exit status. It must encode as JSON; nil for none.
	Details any
	// Status is StatusOK when empty.
	Status message.Status
	// Truncated says that Text is not the whole of it.
	Truncated bool
	// Source is a file in which the model can read the whole of Text, if
	// there is one: Limit names it rather than saving a copy.
	Source string
}
