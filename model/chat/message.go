package chat

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model/wire"
)

// extras are what a unit carries in one request only.
type extras struct {
	note string // stands after the last text
	mark bool   // ends a prefix to be cached
}

// noAnswer stands for an assistant message of which nothing can be sent, such
// as one that only thought: the roles have to take turns.
const noAnswer = "[no answer]"

// next returns how many messages make a unit: one, or all results of a round
// when their images follow them.
func (e *encoder) next(msgs []*message.Message) int {
	if !e.profile.NoToolImages || msgs[0].Role != message.Tool {
		return 1
	}
	n := 1
	for n < len(msgs) && msgs[n].Role == message.Tool {
		n++
	}
	return n
}

func (e *encoder) appendUnit(dst []byte, msgs []*message.Message, x extras) []byte {
	switch m := msgs[0]; m.Role {
	case message.Tool:
		return e.appendResults(dst, msgs, x)
	case message.Assistant:
		return e.appendAssistant(dst, m, x)
	case message.System:
		dst = append(dst, `{"role":"`...)
		dst = append(dst, e.systemRole()...)
		dst = append(dst, `","content":`...)
		return append(appendContent(dst, e.items(m, nil), x.mark), '}')
	default:
		return appendUser(dst, withNote(e.items(m, nil), x.note), x.mark)
	}
}

func appendUser(dst []byte, items []item, mark bool) []byte {
	dst = append(dst, `{"role":"user","content":`...)
	return append(appendContent(dst, items, mark), '}')
}

// appendResults appends the results of a round and what of them follows in a
// user message.
func (e *encoder) appendResults(dst []byte, msgs []*message.Message, x extras) []byte {
	var moved []item
	contents := make([][]item, len(msgs))
	for i, m := range msgs {
		contents[i] = e.items(m, &moved)
	}
	if len(moved) > 0 {
		moved = append([]item{{text: "What the tool results above refer to:"}}, moved...)
	}
	for i, m := range msgs {
		last := extras{}
		if i == len(msgs)-1 && len(moved) == 0 {
			last = x
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"role":"tool","tool_call_id":`...)
		dst = wire.AppendString(dst, wireID(e.profile.ToolIDAlphabet, m.ToolCallID))
		dst = append(dst, `,"content":`...)
		dst = appendContent(dst, withNote(contents[i], last.note), last.mark)
		dst = append(dst, '}')
	}
	if len(moved) > 0 {
		dst = append(dst, ',')
		dst = appendUser(dst, withNote(moved, x.note), x.mark)
	}
	return dst
}

func (e *encoder) appendAssistant(dst []byte, m *message.Message, x extras) []byte {
	dst = append(dst, `{"role":"assistant"`...)
	dst = e.appendReasoning(dst, m)
	dst = append(dst, `,"content":`...)
	switch text := m.Text(); {
	case text != "":
		dst = appendContent(dst, []item{{text: text}}, x.mark)
	case m.HasCalls():
		dst = append(dst, "null"...)
	default:
		dst = wire.AppendString(dst, noAnswer)
	}
	dst = e.appendCalls(dst, m)
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == message.KindText && e.wants(p.State, stateExtra) {
			dst = append(append(dst, `,"extra_content":`...), p.State.Data...)
			break
		}
	}
	return append(dst, '}')
}

// appendReasoning appends what the endpoint wants back of its own reasoning.
func (e *encoder) appendReasoning(dst []byte, m *message.Message) []byte {
	if field := e.profile.ReasoningField; field != "" && e.profile.Made(m.Origin) {
		if text := m.Reasoning(); text != "" {
			dst = append(wire.AppendString(append(dst, ','), field), ':')
			dst = wire.AppendString(dst, text)
		}
	}
	for i := range m.Parts {
		if s := m.Parts[i].State; e.wants(s, stateDetails) {
			return append(append(dst, `,"reasoning_details":`...), s.Data...)
		}
	}
	return dst
}

func (e *encoder) appendCalls(dst []byte, m *message.Message) []byte {
	sep, end := `,"tool_calls":[`, ""
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != message.KindToolCall {
			continue
		}
		dst = append(append(dst, sep...), `{"id":`...)
		dst = wire.AppendString(dst, wireID(e.profile.ToolIDAlphabet, p.Call.ID))
		dst = append(dst, `,"type":"function","function":{"name":`...)
		dst = wire.AppendString(dst, wireName(p.Call.Name))
		dst = append(dst, `,"arguments":`...)
		dst = wire.AppendString(dst, wireArguments(p.Call.Arguments))
		dst = append(dst, '}')
		if e.wants(p.State, stateExtra) {
			dst = append(append(dst, `,"extra_content":`...), p.State.Data...)
		}
		dst = append(dst, '}')
		sep, end = ",", "]"
	}
	return append(dst, end...)
}

// wireArguments returns arguments if they are an object, which is all that
// providers take, and an empty one otherwise.
func wireArguments(arguments string) string {
	v := jsontext.Value(arguments)
	if !v.IsValid(lenient) || v.Kind() != '{' {
		return "{}"
	}
	return strings.ToValidUTF8(arguments, "\ufffd")
}

// wants reports whether s goes back to the endpoint as kind.
func (e *encoder) wants(s *message.State, kind string) bool {
	return s != nil && s.Kind == kind && e.profile.Made(s.Origin)
}
