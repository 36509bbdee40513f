package message

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The kinds of state that ParseJSON makes of what it finds in histories from
// elsewhere.
const (
	// stateThinking is the signature beside a reasoning text.
	stateThinking = "anthropic.thinking"
	// stateExtraContent is Gemini's extra_content of a call or message, where
	// its thought signatures are.
	stateExtraContent = "chat.extra_content"
	// stateReasoningDetails is OpenRouter's reasoning_details.
	stateReasoningDetails = "chat.reasoning_details"
	// stateContentPart is a content part of a type unknown here, as it was.
	stateContentPart = "chat.content_part"
)

// kindContent stands in rondo.parts for an opaque part that is in content.
const kindContent Kind = "content"

var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// wireMessage is the JSON form of a message. Its members are read leniently,
// so most are raw.
type wireMessage struct {
	Role             jsontext.Value `json:"role"`
	Content          jsontext.Value `json:"content"`
	Reasoning        jsontext.Value `json:"reasoning"`
	ReasoningContent jsontext.Value `json:"reasoning_content"`
	ReasoningDetails jsontext.Value `json:"reasoning_details"`
	ToolCalls        jsontext.Value `json:"tool_calls"`
	FunctionCall     jsontext.Value `json:"function_call"`
	ToolCallID       jsontext.Value `json:"tool_call_id"`
	Name             jsontext.Value `json:"name"`
	ExtraContent     jsontext.Value `json:"extra_content"`
	ForeignOrigin    jsontext.Value `json:"_origin"`
	Rondo            *wireExtension `json:"rondo"`
}

type wireExtension struct {
	ID     string    `json:"id"`
	Status Status    `json:"status"`
	Origin Origin    `json:"origin"`
	Time   time.Time `json:"time"`
	// Injected is that of the message.
	Injected string      `json:"injected"`
	Parts    []Kind      `json:"parts"`
	States   []wireState `json:"states"`
}

type wireState struct {
	Part   int            `json:"part"`
	Kind   string         `json:"kind"`
	Data   jsontext.Value `json:"data"`
	Origin Origin         `json:"origin"`
}

// ParseJSON reads one message in the form of AppendJSON. It is lenient with
// messages from elsewhere: content may be null, missing or an object; ids may
// be numbers; the arguments of a call may be an object; role developer counts
// as system and function as tool; reasoning may be called reasoning_content or
// have a signature; a content part of unknown type becomes an opaque part;
// members that it does not know are ignored. What it makes of Gemini's
// extra_content, of OpenRouter's reasoning_details and of signatures is state
// of the part that it came with.
//
// An error says which member could not be understood.
func ParseJSON(data []byte) (*Message, error) {
	var w wireMessage
	if err := json.Unmarshal(data, &w, lenient); err != nil {
		return nil, fmt.Errorf("parse message: %w", err)
	}
	m, err := w.message()
	if err != nil {
		return nil, fmt.Errorf("parse message: %w", err)
	}
	return m, nil
}

// UnmarshalJSON reads what ParseJSON reads.
func (m *Message) UnmarshalJSON(data []byte) error {
	p, err := ParseJSON(data)
	if err != nil {
		return err
	}
	*m = *p
	return nil
}

// ParseHistory reads a JSON array of messages, each as ParseJSON does. The
// result is what was written there; Normalise makes a History of it.
func ParseHistory(data []byte) ([]*Message, error) {
	var raw []jsontext.Value
	if err := json.Unmarshal(data, &raw, lenient); err != nil {
		return nil, fmt.Errorf("parse history: want a JSON array of messages: %w", err)
	}
	msgs := make([]*Message, 0, len(raw))
	for i, v := range raw {
		m, err := ParseJSON(v)
		if err != nil {
			return nil, fmt.Errorf("parse history: message %d: %w", i, err)
		}
		msgs = append(msgs, m)
	}
	return msgs, nil
}

func (w *wireMessage) message() (*Message, error) {
	m := &Message{Role: parseRole(scalar(w.Role))}
	if m.Role == "" {
		return nil, errors.New("no role")
	}
	if m.Role == Tool {
		m.ToolCallID, m.ToolName = scalar(w.ToolCallID), scalar(w.Name)
	}
	var ext wireExtension
	if w.Rondo != nil {
		ext = *w.Rondo
	}
	m.ID, m.Status, m.Origin, m.Injected = ext.ID, ext.Status, ext.Origin, ext.Injected
	if !ext.Time.IsZero() {
		m.Time = ext.Time.UTC()
	}
	if m.Origin == (Origin{}) {
		m.Origin = parseOrigin(w.ForeignOrigin)
	}

	var lists [inStates][]Part
	var err error
	if lists[inReasoning], err = w.reasoning(m.Origin); err != nil {
		return nil, fmt.Errorf("reasoning: %w", err)
	}
	if lists[inContent], err = parseContent(w.Content); err != nil {
		return nil, fmt.Errorf("content: %w", err)
	}
	if lists[inCalls], err = w.calls(m.Origin); err != nil {
		return nil, fmt.Errorf("tool_calls: %w", err)
	}
	if isObject(w.ExtraContent) && len(lists[inContent]) > 0 {
		last := &lists[inContent][len(lists[inContent])-1]
		if last.State == nil {
			last.State = &State{Origin: m.Origin, Kind: stateExtraContent, Data: compact(w.ExtraContent)}
		}
	}
	m.Parts = arrange(lists, ext.Parts)
	return m, ext.apply(m)
}

// arrange puts the parts of the members into the order of kinds, and what kinds
// does not mention behind, in natural order.
func arrange(lists [inStates][]Part, kinds []Kind) []Part {
	var parts []Part
	for _, k := range kinds {
		in := inContent
		switch k {
		case KindReasoning:
			in = inReasoning
		case KindToolCall:
			in = inCalls
		case KindOpaque:
			parts = append(parts, Part{Kind: KindOpaque})
			continue
		}
		if len(lists[in]) > 0 {
			parts = append(parts, lists[in][0])
			lists[in] = lists[in][1:]
		}
	}
	for _, l := range lists {
		parts = append(parts, l...)
	}
	return parts
}

// apply hangs the states on the parts that they belong to.
func (e *wireExtension) apply(m *Message) error {
	for _, s := range e.States {
		if s.Part < 0 || s.Part >= len(m.Parts) {
			return fmt.Errorf("rondo: state of part %d, but there are %d parts", s.Part, len(m.Parts))
		}
		m.Parts[s.Part].State = s.state()
	}
	return nil
}

func (s *wireState) state() *State {
	data := scalar(s.Data)
	if s.Data.Kind() != '"' {
		data = compact(s.Data)
	}
	return &State{Origin: s.Origin, Kind: s.Kind, Data: data}
}

func parseRole(s string) Role {
	switch s {
	case "developer":
		return System
	case "function":
		return Tool
	}
	return Role(s)
}

// parseOrigin reads an origin leniently: whatever is none counts as unknown.
func parseOrigin(v jsontext.Value) Origin {
	var o Origin
	if !isObject(v) || json.Unmarshal(v, &o, lenient) != nil {
		return Origin{}
	}
	return o
}

func isObject(v jsontext.Value) bool { return len(v) > 0 && v.Kind() == '{' }

func isNothing(v jsontext.Value) bool { return len(v) == 0 || v.Kind() == 'n' }

// scalar returns a string's content or a number's text, and "" for all else.
func scalar(v jsontext.Value) string {
	if len(v) == 0 {
		return ""
	}
	switch v.Kind() {
	case '"':
		s, _ := jsontext.AppendUnquote(nil, v) // v is valid; invalid UTF-8 in it becomes U+FFFD
		return string(s)
	case '0':
		return string(v)
	}
	return ""
}

// compact returns v without insignificant space.
func compact(v jsontext.Value) string {
	c := v.Clone()
	if err := c.Compact(lenient); err != nil {
		return string(v)
	}
	return string(c)
}
