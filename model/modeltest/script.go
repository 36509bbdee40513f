package modeltest

import (
	"net/http"
	"strings"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// Script is what the server says to those who ask for one model. How the reply
// to a request is chosen is told in the package comment.
type Script struct {
	// Model is the name that the script answers to. A script without a name
	// answers for all models that have none of their own.
	Model string
	// ByHistory takes the position from the history in the request rather
	// than from the number of requests so far.
	ByHistory bool
	Replies   []Reply
	// Func makes the reply where Replies has none (any more). It is called
	// from several goroutines when several requests come at once.
	Func func(*Request) Reply
}

// Reply is one answer of the server: steps to play, or a refusal.
type Reply struct {
	// When makes the reply a rule: it answers each request for which When
	// returns true. A reply without it waits for its turn.
	When func(*Request) bool
	// Times is how often the reply is used; 0 stands for once, or for always
	// in a rule; a negative value for always.
	Times int
	// Status other than 0 and 200 refuses the request: Body is the body, or
	// else one in the protocol's shape made of Message and Code.
	Status  int
	Code    string
	Message string
	Body    string
	// Header is sent with the reply, whatever its status.
	Header http.Header
	Steps  []Step
}

// Say makes a reply of steps. A reply of none is an empty answer.
func Say(steps ...Step) Reply { return Reply{Steps: steps} }

// Fail makes a reply that refuses the request with a status and a message in
// the shape that the protocol has for it.
func Fail(status int, message string) Reply { return Reply{Status: status, Message: message} }

// fails reports whether the reply cannot become a message of the history.
func (r *Reply) fails() bool {
	if r.Status != 0 && r.Status != http.StatusOK {
		return true
	}
	for _, s := range r.Steps {
		switch s.kind {
		case stepCut, stepReset, stepStall, stepGarbage, stepError:
			return true
		}
	}
	return false
}

// UserContains is a rule: the user's words of the running turn contain s.
func UserContains(s string) func(*Request) bool {
	return func(r *Request) bool { return strings.Contains(r.LastUser(), s) }
}

// ResultContains is a rule: the request ends with tool results that contain s.
func ResultContains(s string) func(*Request) bool {
	return func(r *Request) bool { return strings.Contains(r.LastResults(), s) }
}

// SystemContains is a rule: the system prompt contains s.
func SystemContains(s string) func(*Request) bool {
	return func(r *Request) bool { return strings.Contains(r.System, s) }
}

// NoTools is a rule: the request offers no tools.
func NoTools(r *Request) bool { return len(r.Tools) == 0 }

// Step is one thing that happens while a reply is sent.
type Step struct {
	kind  stepKind
	text  string
	id    string
	name  string
	wait  time.Duration
	after int
	usage model.Usage
	fin   model.Finish
}

type stepKind uint8

const (
	stepText stepKind = iota + 1
	stepWords
	stepThink
	stepRedacted
	stepCall
	stepUsage
	stepFinish
	stepDelay
	stepCut
	stepReset
	stepStall
	stepGarbage
	stepError
	stepComment
)

// Text says s in one delta. Text behind text goes on in the same block.
func Text(s string) Step { return Step{kind: stepText, text: s} }

// Words says s word by word, one delta each.
func Words(s string) Step { return Step{kind: stepWords, text: s} }

// Think thinks s in one delta. Anthropic blocks are signed, items of Responses
// have encrypted content where the request asks for it.
func Think(s string) Step { return Step{kind: stepThink, text: s} }

// Redacted is a thinking block that only the server can read. It exists in
// Anthropic Messages alone and takes no place elsewhere.
func Redacted() Step { return Step{kind: stepRedacted, text: "redacted"} }

// Call calls a tool with arguments, the text of a JSON object, under an id that
// the server makes. Calls in one reply are parallel. Arguments that are not
// JSON are sent as they are where the protocol can carry them.
func Call(name, arguments string) Step { return CallID("", name, arguments) }

// CallID is Call with an id of the script's choice.
func CallID(id, name, arguments string) Step {
	return Step{kind: stepCall, id: id, name: name, text: arguments}
}

// Usage reports u instead of what the server would count.
func Usage(u model.Usage) Step { return Step{kind: stepUsage, usage: u} }

// Finish ends the reply for the reason f, in the protocol's own word for it. A
// word that model.Finish does not have is sent as it is.
func Finish(f model.Finish) Step { return Step{kind: stepFinish, fin: f} }

// Delay waits before the next step.
func Delay(d time.Duration) Step { return Step{kind: stepDelay, wait: d} }

// Cut ends the body here, cleanly, without a sign that the reply is whole.
func Cut() Step { return Step{kind: stepCut} }

// CutAfter ends the body after n events of the stream.
func CutAfter(n int) Step { return Step{kind: stepCut, after: n} }

// Reset resets the connection here: as the first step before the reply begins.
func Reset() Step { return Step{kind: stepReset} }

// ResetAfter resets the connection after n events of the stream.
func ResetAfter(n int) Step { return Step{kind: stepReset, after: n} }

// Stall falls silent here and holds the connection until the client leaves.
func Stall() Step { return Step{kind: stepStall} }

// StallAfter falls silent after n events of the stream.
func StallAfter(n int) Step { return Step{kind: stepStall, after: n} }

// Garbage sends s as the data of an event.
func Garbage(s string) Step { return Step{kind: stepGarbage, text: s} }

// Error sends an error object inside of the reply, whose status is 200, and
// ends it. Kind is the provider's type or code, such as overloaded_error.
func Error(kind, message string) Step { return Step{kind: stepError, name: kind, text: message} }

// Comment sends s as a comment of the stream, as servers do to keep it alive.
func Comment(s string) Step { return Step{kind: stepComment, text: s} }

// block is one piece of content of a reply.
type block struct {
	kind   message.Kind
	index  int
	text   string
	callID string
	// itemID and seal are what the protocol gives out with the block.
	itemID, seal string
	name         string
}

// move is a step with the block that it adds to, if any.
type move struct {
	Step
	block *block
	// pieces are the deltas that the step sends.
	pieces []string
}
