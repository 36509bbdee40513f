package message

import (
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendJSON appends m as one JSON object, on one line, to dst and returns the
// extended slice. The form is that of a message of OpenAI's chat completions,
// so that other programs can read a stored history:
//
//   - content is a string when it is one text, else an array of content parts;
//     null where an assistant message has none
//   - reasoning is a string; an object {text, state} where the part has state;
//     an array of those where there are several
//   - tool_calls, tool_call_id and name are as in OpenAI's form
//   - rondo holds what that form has no place for, and is left out when empty:
//     id, status, origin and time of the message, and what was injected into
//     the request that it answers; states, each with the number of its part;
//     and parts, the kinds of all parts in order, where the order is another
//     than reasoning, content, calls
//
// Invalid UTF-8 becomes U+FFFD. ParseJSON gives back the same message, without
// the parts that were injected into it.
func AppendJSON(dst []byte, m *Message) []byte {
	m = m.Clean()
	s := shapeOf(m)
	dst = append(dst, `{"role":`...)
	dst = appendString(dst, string(m.Role))
	dst = append(dst, `,"content":`...)
	dst = appendContent(dst, m, s)
	if s.reasoning > 0 {
		dst = append(dst, `,"reasoning":`...)
		dst = appendReasoning(dst, m, s)
	}
	if s.calls > 0 {
		dst = append(dst, `,"tool_calls":`...)
		dst = appendCalls(dst, m)
	}
	if m.Role == Tool {
		dst = append(dst, `,"tool_call_id":`...)
		dst = appendString(dst, m.ToolCallID)
		if m.ToolName != "" {
			dst = append(dst, `,"name":`...)
			dst = appendString(dst, m.ToolName)
		}
	}
	dst = appendExtension(dst, m, s)
	return append(dst, '}')
}

// MarshalJSON encodes m in the form of AppendJSON.
func (m *Message) MarshalJSON() ([]byte, error) { return AppendJSON(nil, m), nil }

// MarshalJSON encodes h as an array of messages in the form of AppendJSON.
func (h History) MarshalJSON() ([]byte, error) {
	dst := []byte{'['}
	for i, m := range h.msgs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendJSON(dst, m)
	}
	return append(dst, ']'), nil
}

// member is the member of the JSON form that a part goes into. The natural
// order of parts is that of the members.
type member uint8

const (
	inReasoning member = iota
	inContent
	inCalls
	inStates // only its state is written
)

func memberOf(p *Part) member {
	switch p.Kind {
	case KindReasoning:
		return inReasoning
	case KindToolCall:
		return inCalls
	case KindOpaque:
		if p.State == nil || !isForeignPart(p.State) {
			return inStates
		}
	}
	return inContent
}

// isForeignPart reports whether s is a content part of OpenAI's form that was
// kept as it is, and would be again.
func isForeignPart(s *State) bool {
	if s.Kind != stateContentPart || s.Origin != (Origin{}) || strings.ContainsAny(s.Data, "\r\n") {
		return false
	}
	if !jsontext.Value(s.Data).IsValid() || s.Data[0] != '{' {
		return false
	}
	p, err := parseContentPart(jsontext.Value(s.Data))
	return err == nil && p.Kind == KindOpaque && p.State.Data == s.Data
}

// shape says what AppendJSON has to write for a message.
type shape struct {
	reasoning, content, calls int
	// natural is set when the parts stand in the order of their members.
	natural bool
	// states is set when a part has state that goes into the extension.
	states bool
}

func shapeOf(m *Message) shape {
	s := shape{natural: true}
	last := inReasoning
	for i := range m.Parts {
		p := &m.Parts[i]
		in := memberOf(p)
		switch in {
		case inReasoning:
			s.reasoning++
		case inContent:
			s.content++
		case inCalls:
			s.calls++
		case inStates:
			s.natural = false
		}
		s.natural = s.natural && in >= last
		last = in
		s.states = s.states || p.State != nil && stateOutside(p, in)
	}
	return s
}

// stateOutside reports whether the state of p is not written with the part.
func stateOutside(p *Part, in member) bool {
	return in != inReasoning && (p.Kind != KindOpaque || in == inStates)
}

func appendContent(dst []byte, m *Message, s shape) []byte {
	switch {
	case s.content == 0 && m.Role == Assistant:
		return append(dst, "null"...)
	case s.content == 0:
		return append(dst, `""`...)
	}
	if s.content == 1 {
		for i := range m.Parts {
			if p := &m.Parts[i]; p.Kind == KindText && p.Text != "" {
				return appendString(dst, p.Text)
			}
		}
	}
	dst = append(dst, '[')
	for i := range m.Parts {
		if p := &m.Parts[i]; memberOf(p) == inContent {
			dst = appendContentPart(dst, p)
			dst = append(dst, ',')
		}
	}
	dst[len(dst)-1] = ']'
	return dst
}

func appendContentPart(dst []byte, p *Part) []byte {
	switch {
	case p.Kind == KindOpaque:
		return append(dst, p.State.Data...)
	case p.Kind == KindImage && p.Media != nil:
		dst = append(dst, `{"type":"image_url","image_url":{"url":`...)
		dst = appendMedia(dst, p.Media)
		dst = appendMember(dst, "name", p.Media.Name)
		return append(dst, "}}"...)
	case p.Kind == KindFile && p.Media != nil:
		key := `"file_data":`
		if p.Media.URL != "" {
			key = `"file_url":`
		}
		dst = append(dst, `{"type":"file","file":{`+key...)
		dst = appendMedia(dst, p.Media)
		dst = appendMember(dst, "filename", p.Media.Name)
		return append(dst, "}}"...)
	}
	dst = append(dst, `{"type":"text","text":`...)
	dst = appendString(dst, p.Text)
	return append(dst, '}')
}

// appendMedia appends the URL of m, and its type where the URL does not say it.
func appendMedia(dst []byte, m *Media) []byte {
	if m.URL != "" {
		return appendMember(appendString(dst, m.URL), "mime", m.MIME)
	}
	dst = append(dst, '"')
	dst = appendInner(dst, "data:"+m.MIME+";base64,")
	dst = appendInner(dst, m.Data)
	return append(dst, '"')
}

func appendReasoning(dst []byte, m *Message, s shape) []byte {
	if s.reasoning > 1 {
		dst = append(dst, '[')
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != KindReasoning {
			continue
		}
		if p.State == nil && p.Text != "" {
			dst = appendString(dst, p.Text)
		} else {
			dst = append(dst, `{"text":`...)
			dst = appendString(dst, p.Text)
			if p.State != nil {
				dst = append(dst, `,"state":{`...)
				dst = appendState(dst, p.State)
				dst = append(dst, '}')
			}
			dst = append(dst, '}')
		}
		dst = append(dst, ',')
	}
	if s.reasoning > 1 {
		dst[len(dst)-1] = ']'
		return dst
	}
	return dst[:len(dst)-1]
}

func appendCalls(dst []byte, m *Message) []byte {
	dst = append(dst, '[')
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != KindToolCall {
			continue
		}
		c := p.Call
		if c == nil {
			c = &ToolCall{}
		}
		dst = append(dst, `{"id":`...)
		dst = appendString(dst, c.ID)
		dst = append(dst, `,"type":"function","function":{"name":`...)
		dst = appendString(dst, c.Name)
		dst = append(dst, `,"arguments":`...)
		dst = appendString(dst, c.Arguments)
		dst = append(dst, `}},`...)
	}
	dst[len(dst)-1] = ']'
	return dst
}

// appendExtension appends the member rondo, if there is anything to say in it.
func appendExtension(dst []byte, m *Message, s shape) []byte {
	start := len(dst)
	dst = append(dst, `,"rondo":{`...)
	open := len(dst)
	dst = appendMember(dst, "id", m.ID)
	dst = appendMember(dst, "status", string(m.Status))
	if m.Origin != (Origin{}) {
		dst = append(dst, `,"origin":`...)
		dst = appendOrigin(dst, m.Origin)
	}
	if !m.Time.IsZero() {
		dst = append(dst, `,"time":"`...)
		dst = m.Time.UTC().AppendFormat(dst, time.RFC3339Nano)
		dst = append(dst, '"')
	}
	dst = appendMember(dst, "injected", m.Injected)
	if !s.natural {
		dst = appendKinds(dst, m)
	}
	if s.states {
		dst = appendStates(dst, m)
	}
	if len(dst) == open {
		return dst[:start]
	}
	copy(dst[open:], dst[open+1:]) // the comma before the first member
	dst[len(dst)-1] = '}'
	return dst
}

func appendKinds(dst []byte, m *Message) []byte {
	dst = append(dst, `,"parts":[`...)
	for i := range m.Parts {
		k := m.Parts[i].Kind
		if k == KindOpaque && memberOf(&m.Parts[i]) == inContent {
			k = kindContent
		}
		dst = appendString(dst, string(k))
		dst = append(dst, ',')
	}
	dst[len(dst)-1] = ']'
	return dst
}

func appendStates(dst []byte, m *Message) []byte {
	dst = append(dst, `,"states":[`...)
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.State == nil || !stateOutside(p, memberOf(p)) {
			continue
		}
		dst = append(dst, `{"part":`...)
		dst = strconv.AppendInt(dst, int64(i), 10)
		dst = append(dst, ',')
		dst = appendState(dst, p.State)
		dst = append(dst, `},`...)
	}
	dst[len(dst)-1] = ']'
	return dst
}

// appendState appends the members of s. Data is written as a string, so that it
// comes back byte for byte.
func appendState(dst []byte, s *State) []byte {
	dst = append(dst, `"kind":`...)
	dst = appendString(dst, s.Kind)
	dst = append(dst, `,"data":`...)
	dst = appendString(dst, s.Data)
	if s.Origin != (Origin{}) {
		dst = append(dst, `,"origin":`...)
		dst = appendOrigin(dst, s.Origin)
	}
	return dst
}

func appendOrigin(dst []byte, o Origin) []byte {
	open := len(dst)
	dst = appendMember(dst, "provider", o.Provider)
	dst = appendMember(dst, "model", o.Model)
	dst = appendMember(dst, "account", o.Account)
	dst[open] = '{'
	return append(dst, '}')
}

// appendMember appends ,"key":"value" unless value is empty.
func appendMember(dst []byte, key, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(dst, `,"`...)
	dst = append(dst, key...)
	dst = append(dst, `":`...)
	return appendString(dst, value)
}

// appendString appends s as a JSON string.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // its error says no more than that U+FFFD took the place of invalid UTF-8
	return dst
}

// appendInner appends s as a piece of a JSON string, without the quotes.
func appendInner(dst []byte, s string) []byte {
	open := len(dst)
	dst = appendString(dst, s)
	copy(dst[open:], dst[open+1:])
	return dst[:len(dst)-2]
}
