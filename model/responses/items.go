package responses

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// maxID is the longest id that the service takes, in characters.
const maxID = 64

// encoder turns messages into input items. What it makes of a message depends
// on the profile and on the messages before.
type encoder struct {
	p *model.Profile
	// ids are the item ids sent so far.
	ids *claims
	// unit counts the units; ids are claimed in its name.
	unit int
	// plain leaves out reasoning and item ids, which the service refused.
	plain bool
}

// next returns how many of msgs are encoded together: a message, or one with
// calls and all of its results, as their form depends on the call's.
func next(msgs []*message.Message) int {
	n := 1
	if msgs[0].Role == message.Assistant {
		for n < len(msgs) && msgs[n].Role == message.Tool {
			n++
		}
	}
	return n
}

// items appends the items of msgs, separated by commas.
func (e *encoder) items(dst []byte, msgs []*message.Message) []byte {
	switch m := msgs[0]; m.Role {
	case message.System:
		return appendSystem(separate(dst), e.p, m.Text())
	case message.User:
		return e.user(dst, m.Parts)
	case message.Assistant:
		dst = e.assistant(dst, m)
		return e.results(dst, m, msgs[1:])
	}
	return e.results(dst, nil, msgs)
}

// separate appends a comma if an item stands at the end of dst.
func separate(dst []byte) []byte {
	if len(dst) > 0 && dst[len(dst)-1] == '}' {
		dst = append(dst, ',')
	}
	return dst
}

func appendSystem(dst []byte, p *model.Profile, text string) []byte {
	role := "system"
	if p.DeveloperRole {
		role = "developer"
	}
	dst = append(dst, `{"type":"message","role":"`+role+`","content":[{"type":"input_text","text":`...)
	return append(wire.AppendString(dst, text), `}]}`...)
}

// user appends a user message of parts; nothing if none of them can be sent.
// It ends with the end of its content, where a note can be put in.
func (e *encoder) user(dst []byte, parts []message.Part) []byte {
	start := len(dst)
	dst = append(separate(dst), `{"type":"message","role":"user","content":[`...)
	empty := len(dst)
	if dst = e.content(dst, parts); len(dst) == empty {
		return dst[:start]
	}
	return append(dst, `]}`...)
}

// content appends the elements of an input message's content.
func (e *encoder) content(dst []byte, parts []message.Part) []byte {
	for i := range parts {
		p := &parts[i]
		switch p.Kind {
		case message.KindText:
			if p.Text == "" {
				continue // the service refuses empty text
			}
			dst = appendText(separate(dst), "input_text", p.Text)
		case message.KindImage, message.KindFile:
			dst = e.media(separate(dst), p)
		case message.KindOpaque:
			if e.ours(p, nil) && p.State.Kind == stateContent {
				dst = append(separate(dst), p.State.Data...)
			}
		}
	}
	return dst
}

func appendText(dst []byte, kind, text string) []byte {
	dst = append(dst, `{"type":"`+kind+`","text":`...)
	return append(wire.AppendString(dst, text), '}')
}

func (e *encoder) media(dst []byte, p *message.Part) []byte {
	m := p.Media
	src := m.URL
	if src == "" {
		src = "data:" + m.MIME + ";base64," + m.Data
	}
	switch {
	case p.Kind == message.KindImage && e.p.NoImages:
		return appendText(dst, "input_text", "[an image was left out: this model takes none]")
	case p.Kind == message.KindImage:
		dst = append(dst, `{"type":"input_image","detail":"auto","image_url":`...)
	case m.URL != "":
		dst = append(dst, `{"type":"input_file","file_url":`...)
	default:
		name := m.Name
		if name == "" {
			name = "file"
		}
		dst = append(wire.AppendString(append(dst, `{"type":"input_file","filename":`...), name), `,"file_data":`...)
	}
	return append(wire.AppendString(dst, src), '}')
}

// ours reports whether the state of p was made by whom the request goes to, as
// far as both are known. m is the message that p is part of, or nil.
func (e *encoder) ours(p *message.Part, m *message.Message) bool {
	if p.State == nil || !strings.HasPrefix(p.State.Kind, "responses.") {
		return false
	}
	o := p.State.Origin
	if o == (message.Origin{}) && m != nil {
		o = m.Origin
	}
	return e.p.Made(o)
}

// results appends the results of the calls of m: each directly behind the
// calls, in their order. m is nil where the calls are not known.
func (e *encoder) results(dst []byte, m *message.Message, results []*message.Message) []byte {
	var images []message.Part
	for _, r := range results {
		kind := "function_call_output"
		if m != nil && e.answersCustom(m, r.ToolCallID) {
			kind = "custom_tool_call_output"
		}
		dst = append(separate(dst), `{"type":"`+kind+`","call_id":`...)
		dst = append(wire.AppendString(dst, wireCallID(r.ToolCallID)), `,"output":`...)
		parts, moved := e.split(r.Parts)
		images = append(images, moved...)
		if onlyText(parts) {
			dst = wire.AppendString(dst, joinText(parts))
		} else {
			dst = append(e.content(append(dst, '['), parts), ']')
		}
		dst = append(dst, '}')
	}
	if len(images) > 0 {
		dst = e.user(dst, images)
	}
	return dst
}

// split takes the images and files out of a result where the service does not
// take them there, and leaves a note in their place.
func (e *encoder) split(parts []message.Part) (kept, moved []message.Part) {
	if !e.p.NoToolImages || onlyText(parts) {
		return parts, nil
	}
	for _, p := range parts {
		if p.Media != nil {
			moved = append(moved, p)
			p = message.Text("[see the image or file in the next message]")
		}
		kept = append(kept, p)
	}
	return kept, moved
}

func onlyText(parts []message.Part) bool {
	return !slices.ContainsFunc(parts, func(p message.Part) bool { return p.Kind != message.KindText })
}

// joinText joins texts, with a blank line before what was injected.
func joinText(parts []message.Part) string {
	if len(parts) == 1 {
		return parts[0].Text
	}
	var b strings.Builder
	for i := range parts {
		if parts[i].Injected && b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(parts[i].Text)
	}
	return b.String()
}

func (e *encoder) answersCustom(m *message.Message, id string) bool {
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == message.KindToolCall && p.Call.ID == id {
			return e.custom(p, m)
		}
	}
	return false
}

// custom reports whether p goes back as the call of a custom tool.
func (e *encoder) custom(p *message.Part, m *message.Message) bool {
	return e.ours(p, m) && p.State.Kind == stateCustom
}

// wireCallID returns the id under which a call and its result are sent: the
// call's own, or one made of it where that is too long.
func wireCallID(id string) string {
	if len(id) <= maxID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call_" + base64.RawURLEncoding.EncodeToString(sum[:])
}

// arguments returns the arguments of c, or {} where they are no JSON object.
func arguments(c *message.ToolCall) string {
	v := jsontext.Value(c.Arguments)
	if v.Kind() != '{' || !v.IsValid(lenient) {
		return "{}"
	}
	return c.Arguments
}

// claims are the item ids that were sent, as the service takes each only once.
type claims struct {
	held map[string]claim
	// units is the number of units whose ids are held.
	units int
}

type claim struct {
	unit int
	data string
}

// forget gives back the ids of the units from number unit on.
func (c *claims) forget(unit int) {
	if unit >= c.units {
		return
	}
	for id, h := range c.held {
		if h.unit >= unit {
			delete(c.held, id)
		}
	}
	c.units = unit
}

// take claims id for an item of unit. It returns false if the id was taken, and
// whether it was by the very same item.
func (c *claims) take(id string, unit int, data string) (ok, same bool) {
	if h, taken := c.held[id]; taken {
		return false, h.data == data
	}
	if c.held == nil {
		c.held = map[string]claim{}
	}
	c.held[id] = claim{unit, data}
	return true, false
}
