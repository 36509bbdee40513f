package modeltest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// Request is a request as the server understood it, in one form for all
// protocols. It must not be changed.
type Request struct {
	// Number counts the server's requests from 1, Conn its connections from
	// 1; Conn is 0 when the handler runs without the server's listener.
	Number int
	Conn   int
	Mode   model.Mode
	Header http.Header
	// Body is what was sent, byte by byte.
	Body   []byte
	Model  string
	Stream bool
	System string
	// Messages are the conversation, in front those that the server knew by
	// previous_response_id. State of parts is not decoded.
	Messages []*message.Message
	// Sent is how many of Messages, from the end, the request itself holds.
	Sent             int
	Tools            []model.ToolSpec
	ToolChoice       model.ToolChoice
	MaxOutputTokens  int
	Effort           string
	PreviousResponse string
	CacheMarks       int
	// Faults are what the server found wrong with it.
	Faults []Fault

	store     bool
	encrypted bool // Responses: reasoning is wanted with encrypted content
	usageWish bool // chat: usage is wanted at the end of the stream
	items     []rawItem
	previous  *storedResponse
	done      chan struct{}
	left      bool
}

// Done is closed when the server has finished with the request.
func (r *Request) Done() <-chan struct{} { return r.done }

// Left reports whether the client went away before the reply was complete. It
// may be asked for once Done is closed.
func (r *Request) Left() bool {
	<-r.done
	return r.left
}

// Assistants returns the number of assistant messages in the conversation.
func (r *Request) Assistants() int {
	n := 0
	for _, m := range r.Messages {
		if m.Role == message.Assistant {
			n++
		}
	}
	return n
}

// LastUser returns what the user said in the running turn: the text of all user
// messages behind the last assistant message that called no tool, a line each.
func (r *Request) LastUser() string {
	start := len(r.Messages)
	for start > 0 {
		m := r.Messages[start-1]
		if m.Role == message.Assistant && !m.HasCalls() {
			break
		}
		start--
	}
	return r.join(r.Messages[start:], message.User)
}

// LastResults returns the text of the tool results behind the last assistant
// message, a line each.
func (r *Request) LastResults() string {
	start := len(r.Messages)
	for start > 0 && r.Messages[start-1].Role != message.Assistant {
		start--
	}
	return r.join(r.Messages[start:], message.Tool)
}

func (r *Request) join(msgs []*message.Message, role message.Role) string {
	var texts []string
	for _, m := range msgs {
		if m.Role == role {
			texts = append(texts, m.Text())
		}
	}
	return strings.Join(texts, "\n")
}

// conversation names the conversation that the request belongs to: requests
// for one model that begin with the same words of the user are one.
func (r *Request) conversation() string {
	for _, m := range r.Messages {
		if m.Role == message.User {
			return r.Model + "\x00" + m.Text()
		}
	}
	return r.Model
}

// Fault is something in a request that the real service refuses.
type Fault struct {
	// Request is the number of the request.
	Request int
	// Path is where in the body, as the service writes it.
	Path string
	// Code is the service's code for it, if it has one.
	Code string
	// Message is what the service says.
	Message string
}

// String says what is wrong, in which request and where.
func (f Fault) String() string {
	return fmt.Sprintf("request %d: %s: %s", f.Request, f.Path, f.Message)
}
