package gemini

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model/wire"
)

// What stands where the API wants content and there is none.
const (
	noContent = "(no content)"
	noOutput  = "(no output)"
)

// skipSignature is what the API documents for calls that came from elsewhere,
// where it would refuse a call without a signature.
const skipSignature = "skip_thought_signature_validator"

// lenient reads what providers send.
var lenient = wire.Lenient()

// signature is the state of a part: what the provider wants back with it.
type signature struct {
	Thought string `json:"thoughtSignature,omitzero"`
	ID      string `json:"id,omitzero"`
}

// signature returns what goes back with a part.
func (e *encoder) signature(p *message.Part) (s signature) {
	if p.State == nil || p.State.Kind != stateSignature || !e.profile.Made(p.State.Origin) {
		return s
	}
	if json.Unmarshal([]byte(p.State.Data), &s, lenient) != nil {
		return signature{} // not of this package
	}
	return s
}

// The functions below append parts with a comma behind each; closeParts removes
// the last one.

func (e *encoder) appendUser(dst []byte, m *message.Message) []byte {
	dst = append(dst, `{"role":"user","parts":[`...)
	start := len(dst)
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Media != nil:
			dst = e.appendMedia(dst, p)
		case p.Kind == message.KindText && strings.TrimSpace(p.Text) != "":
			dst = appendText(dst, p.Text)
		}
	}
	return append(closeParts(dst, start, noContent), '}')
}

// closeParts ends a list of parts that begins at start, with a text of its own
// if it is empty.
func closeParts(dst []byte, start int, empty string) []byte {
	if len(dst) == start {
		dst = appendText(dst, empty)
	}
	return append(dst[:len(dst)-1], ']')
}

func appendText(dst []byte, text string) []byte {
	return append(wire.AppendString(append(dst, `{"text":`...), text), "},"...)
}

// appendModel appends what the model said. Where it wants its calls signed, the
// first of them has a signature in any case.
func (e *encoder) appendModel(dst []byte, m *message.Message) []byte {
	dst = append(dst, `{"role":"model","parts":[`...)
	start := len(dst)
	called := false
	for i := range m.Parts {
		p := &m.Parts[i]
		s := e.signature(p)
		if p.Kind == message.KindToolCall && !called {
			called = true
			if e.profile.SignedCalls && s.Thought == "" {
				s.Thought = skipSignature
			}
		}
		dst = e.appendSaid(dst, p, s)
	}
	return append(closeParts(dst, start, noContent), '}')
}

// appendSaid appends one part of the model's, or nothing if it does not go back.
func (e *encoder) appendSaid(dst []byte, p *message.Part, s signature) []byte {
	switch p.Kind {
	case message.KindText:
		if strings.TrimSpace(p.Text) == "" && s.Thought == "" {
			return dst
		}
		dst = wire.AppendString(append(dst, `{"text":`...), p.Text)
	case message.KindReasoning:
		if s.Thought == "" {
			return dst
		}
		dst = append(wire.AppendString(append(dst, `{"text":`...), p.Text), `,"thought":true`...)
	case message.KindToolCall:
		dst = appendCall(append(dst, `{"functionCall":`...), p.Call, s.ID)
	case message.KindOpaque:
		if p.State != nil && p.State.Kind == statePart && e.profile.Made(p.State.Origin) && isObject(p.State.Data) {
			return append(append(dst, p.State.Data...), ',')
		}
		if s.Thought == "" {
			return dst
		}
		dst = append(dst, `{"text":""`...)
	default:
		return dst
	}
	if s.Thought != "" {
		dst = wire.AppendString(append(dst, `,"thoughtSignature":`...), s.Thought)
	}
	return append(dst, "},"...)
}

func appendCall(dst []byte, c *message.ToolCall, id string) []byte {
	dst = wire.AppendString(append(dst, `{"name":`...), wire.Name(c.Name, true))
	if id != "" {
		dst = wire.AppendString(append(dst, `,"id":`...), id)
	}
	args := "{}"
	if isObject(c.Arguments) {
		args = strings.ToValidUTF8(strings.TrimSpace(c.Arguments), "\uFFFD")
	}
	return append(append(append(dst, `,"args":`...), args...), '}')
}

// appendResults makes one content of the results of the calls of m.
func (e *encoder) appendResults(dst []byte, m *message.Message, results []*message.Message) []byte {
	dst = append(dst, `{"role":"user","parts":[`...)
	start := len(dst)
	var beside []*message.Part
	n := 0
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == message.KindToolCall && n < len(results) {
			dst, beside = e.appendResult(dst, p, results[n], beside)
			n++
		}
	}
	for _, p := range beside {
		if p.Injected {
			dst = appendText(dst, p.Text)
		} else {
			dst = e.appendMedia(dst, p)
		}
	}
	return append(closeParts(dst, start, noOutput), '}')
}

// appendResult appends the result of one call. What cannot stand in it, media
// and what was injected, is added to beside.
func (e *encoder) appendResult(dst []byte, call *message.Part, m *message.Message, beside []*message.Part) ([]byte, []*message.Part) {
	dst = wire.AppendString(append(dst, `{"functionResponse":{"name":`...), wire.Name(call.Call.Name, true))
	if id := e.signature(call).ID; id != "" {
		dst = wire.AppendString(append(dst, `,"id":`...), id)
	}
	var texts []string
	var inside []*message.Part
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Injected:
			beside = append(beside, p)
		case p.Media == nil && p.Text != "":
			texts = append(texts, p.Text)
		case p.Media == nil:
		case e.profile.NoToolImages || e.profile.NoImages || p.Media.URL != "" || inlineType(p.Media.MIME) == "":
			beside = append(beside, p)
		default:
			inside = append(inside, p)
		}
	}
	if len(texts) == 0 && slices.ContainsFunc(m.Parts, func(p message.Part) bool { return p.Media != nil }) {
		texts = append(texts, "(see the attached media)")
	} else if len(texts) == 0 {
		texts = append(texts, noOutput)
	}
	member := `,"response":{"output":`
	switch m.Status {
	case message.StatusError, message.StatusDenied, message.StatusInterrupted:
		member = `,"response":{"error":`
	}
	dst = append(wire.AppendString(append(dst, member...), strings.Join(texts, "\n\n")), '}')
	if len(inside) > 0 {
		dst = append(dst, `,"parts":[`...)
		for _, p := range inside {
			dst = appendInline(dst, inlineType(p.Media.MIME), p.Media.Data)
		}
		dst = append(dst[:len(dst)-1], ']')
	}
	return append(dst, "}},"...), beside
}

// isObject reports whether s is the text of a JSON object.
func isObject(s string) bool {
	v := jsontext.Value(s)
	return v.Kind() == '{' && v.IsValid(lenient)
}
