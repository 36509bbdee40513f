// Package message is the one history format of rondo.
//
// A history is a sequence of messages in the roles of OpenAI's chat format:
// user, assistant and tool. No provider's type reaches it. What only one
// provider understands (a thinking signature, encrypted reasoning, the id of a
// response item) hangs as a State on the part that it came with, tagged with
// its Origin, and goes back to that origin only.
//
// A Message is immutable once it is part of a history: everything that looks
// at a history may keep a pointer to it, and what is derived from it (its
// encoded form, its size) can be kept as long as the pointer is the same.
//
// A History is a sequence that holds the invariants of Normalise; encoders
// take nothing else, so that a malformed history cannot be sent.
package message

import "time"

// Role says who speaks in a message.
type Role string

// The roles of a history. System messages stand only at its very start; the
// system prompt that rondo builds is not part of the history.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Status says how a tool call ended. The zero value of a tool message's
// status counts as StatusOK.
type Status string

// The ends of a tool call.
const (
	StatusOK          Status = "ok"
	StatusError       Status = "error"
	StatusDenied      Status = "denied"
	StatusInterrupted Status = "interrupted"
)

// Message is one entry of a history.
type Message struct {
	// ID names the message within its session; the session sets it. Empty in
	// histories that come from outside.
	ID   string
	Role Role
	// Parts are the content in the order in which it was said. Assistant
	// messages hold text, reasoning, tool call and opaque parts; user and
	// tool messages hold text, images and files; system messages text.
	Parts []Part
	// ToolCallID is the call that a tool message answers; ToolName its tool.
	ToolCallID string
	ToolName   string
	// Status is how the call of a tool message ended.
	Status Status
	// Origin is who made an assistant message; zero when unknown.
	Origin Origin
	// Time is when the message became final; zero when unknown.
	Time time.Time
	// Injected is what hooks added to the request that an assistant message
	// answers, see Reinject; empty for nothing.
	Injected string
}

// Kind says what a Part holds.
type Kind string

// The kinds of parts. KindOpaque is an item that only its origin understands,
// such as a redacted thinking block or a server-side tool call: it has a State
// and nothing else.
const (
	KindText      Kind = "text"
	KindImage     Kind = "image"
	KindFile      Kind = "file"
	KindReasoning Kind = "reasoning"
	KindToolCall  Kind = "tool_call"
	KindOpaque    Kind = "opaque"
)

// Part is one piece of a message's content.
type Part struct {
	Kind Kind
	// Text is the content of a text or reasoning part, in valid UTF-8.
	Text string
	// Media is the content of an image or file part.
	Media *Media
	// Call is the content of a tool call part.
	Call *ToolCall
	// State is what the provider wants back with this part, if anything.
	State *State
	// Injected marks a text that a hook added, see Message.Inject.
	Injected bool
}

// Media is an image or a document, either by value or by reference.
type Media struct {
	// MIME is its media type, such as image/png or application/pdf.
	MIME string
	// Data is the content in standard base64; empty when URL is set.
	Data string
	// URL refers to the content instead.
	URL string
	// Name is the file's name, if known.
	Name string
}

// ToolCall is a model's request to run a tool.
type ToolCall struct {
	// ID pairs the call with its result. It is unique within a history.
	ID   string
	Name string
	// Arguments is the text of a JSON object, as the model wrote it. It may
	// be invalid JSON; encoders send {} for it then.
	Arguments string
}

// Origin is who made a part: the provider's name, the model's and a digest of
// the account, as far as they are known.
type Origin struct {
	Provider string `json:"provider,omitzero"`
	Model    string `json:"model,omitzero"`
	Account  string `json:"account,omitzero"`
}

// State is provider state that travels with a part, opaque to everything but
// the adapter that made it.
type State struct {
	Origin Origin
	// Kind is the adapter's name for the form of Data, such as
	// "anthropic.thinking" or "responses.reasoning".
	Kind string
	// Data is a JSON value.
	Data string
}

// Text makes a text part.
func Text(s string) Part { return Part{Kind: KindText, Text: s} }

// Reasoning makes a reasoning part without state.
func Reasoning(s string) Part { return Part{Kind: KindReasoning, Text: s} }

// Call makes a tool call part.
func Call(id, name, arguments string) Part {
	return Part{Kind: KindToolCall, Call: &ToolCall{ID: id, Name: name, Arguments: arguments}}
}

// Image makes an image part from base64 data.
func Image(mime, data string) Part {
	return Part{Kind: KindImage, Media: &Media{MIME: mime, Data: data}}
}

// NewUser makes a user message with one text part.
func NewUser(text string) *Message {
	return &Message{Role: User, Parts: []Part{Text(text)}}
}

// NewAssistant makes an assistant message of the given parts.
func NewAssistant(parts ...Part) *Message { return &Message{Role: Assistant, Parts: parts} }

// NewResult makes a tool message that answers call with one text part.
func NewResult(call *ToolCall, status Status, text string) *Message {
	return &Message{
		Role: Tool, ToolCallID: call.ID, ToolName: call.Name, Status: status,
		Parts: []Part{Text(text)},
	}
}

// Text joins the text parts of m, but for what was injected.
func (m *Message) Text() string { return m.join(KindText) }

// Reasoning joins the reasoning parts of m.
func (m *Message) Reasoning() string { return m.join(KindReasoning) }

func (m *Message) join(k Kind) string {
	first, n := "", 0
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == k && p.Text != "" && !p.Injected {
			if n == 0 {
				first = p.Text
			}
			n += len(p.Text)
		}
	}
	if n == len(first) {
		return first
	}
	b := make([]byte, 0, n)
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == k && !p.Injected {
			b = append(b, p.Text...)
		}
	}
	return string(b)
}

// Calls returns the tool calls of m in order; nil when there are none.
func (m *Message) Calls() []*ToolCall {
	var calls []*ToolCall
	for i := range m.Parts {
		if m.Parts[i].Kind == KindToolCall {
			calls = append(calls, m.Parts[i].Call)
		}
	}
	return calls
}

// HasCalls reports whether m asks for at least one tool.
func (m *Message) HasCalls() bool {
	for i := range m.Parts {
		if m.Parts[i].Kind == KindToolCall {
			return true
		}
	}
	return false
}
