package gemini

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// NewDecoder returns a decoder for one reply of the endpoint of p.
func NewDecoder(p *model.Profile) wire.Decoder { return newDecoder(p, nil) }

// newDecoder also takes the tools' names by the names that they were sent
// under, as far as they differ.
func newDecoder(p *model.Profile, names map[string]string) *decoder {
	return &decoder{profile: p, names: names}
}

// decoder puts a reply together from events, each of which is a whole response
// that brings what is new. There is no event that says that the last one has
// come: a finish reason says that the reply is whole.
type decoder struct {
	profile *model.Profile
	names   map[string]string
	yield   func(model.Delta) bool
	gone    bool // nobody listens any more

	started   bool
	id, model string
	parts     []*part
	calls     int
	usage     []byte // the latest, as it is
	finish    string
	// words are what the provider says of the finish; blocked is why it
	// refuses the prompt.
	words, blocked string
	// whole is set for a reply that came in one piece.
	whole bool
}

// part is a part of the reply that is being received.
type part struct {
	kind message.Kind
	// text grows with the events: text or thought. Half is the start of a
	// character whose rest is in the next one.
	text []byte
	half wire.Half
	// call is that of a tool call part; signature is what goes back.
	call      *message.ToolCall
	signature signature
	// raw is a part without neutral form.
	raw string
}

// Event takes one event of a stream.
func (d *decoder) Event(_ string, data []byte, yield func(model.Delta) bool) (done bool, err error) {
	d.yield = yield
	if h, ok := scan(data); ok {
		d.takeHot(&h)
		return false, nil
	}
	if s := bytes.TrimSpace(data); len(s) == 0 || string(s) == "[DONE]" {
		return false, nil
	}
	return false, d.read(data, model.StreamTruncated)
}

func (d *decoder) takeHot(h *hot) {
	d.started = true
	if d.id == "" {
		d.id = wire.Unescape(h.id)
	}
	if d.model == "" {
		d.model = wire.Unescape(h.model)
	}
	d.count(h.usage)
	d.takeText(h.thought, h.text)
}

// read takes a response, or an array of them, as the API streams without
// alt=sse. What is neither is an error of the class unreadable.
func (d *decoder) read(data []byte, unreadable model.Class) error {
	if jsontext.Value(data).Kind() == '[' {
		var all []jsontext.Value
		if err := json.Unmarshal(data, &all, lenient); err != nil {
			return d.unread(unreadable, err)
		}
		for _, one := range all {
			if err := d.read(one, unreadable); err != nil {
				return err
			}
		}
		return nil
	}
	var r response
	if err := json.Unmarshal(data, &r, lenient); err != nil {
		if bytes.Contains(data, []byte(`"error"`)) && jsontext.Value(data).IsValid(lenient) {
			return d.refused(data)
		}
		return d.unread(unreadable, err)
	}
	if len(r.Error) > 0 && r.Error.Kind() != 'n' {
		return d.refused(data)
	}
	return d.take(&r)
}

func (d *decoder) unread(class model.Class, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		class = model.StreamTruncated
	}
	return d.fail(class, fmt.Errorf("what came is no reply: %w", err))
}

func (d *decoder) take(r *response) error {
	if r.ID != "" && d.id == "" {
		d.id = r.ID
	}
	if r.Model != "" && d.model == "" {
		d.model = r.Model
	}
	d.count(r.Usage)
	if r.Feedback.Reason != "" {
		d.blocked = r.Feedback.Reason
		d.words = r.Feedback.Message
	}
	for i := range r.Candidates {
		c := &r.Candidates[i]
		if c.Index != 0 {
			continue // only one is asked for
		}
		d.started = true
		for _, raw := range c.Content.Parts {
			if err := d.takePart(raw); err != nil {
				return err
			}
		}
		if c.Finish != "" && c.Finish != "FINISH_REASON_UNSPECIFIED" {
			d.finish, d.words = c.Finish, c.Message
		}
	}
	return nil
}

// count keeps usageMetadata for the end: it comes with each event, and counts on.
func (d *decoder) count(usage []byte) {
	if bytes.ContainsAny(usage, "123456789") {
		d.usage = append(d.usage[:0], usage...)
	}
}

func (d *decoder) takePart(raw jsontext.Value) error {
	var w wirePart
	if err := json.Unmarshal(raw, &w, lenient); err != nil {
		return d.fail(model.ServerError, fmt.Errorf("a part of the reply is not what it should be: %w", err))
	}
	switch {
	case w.Call != nil:
		d.takeCall(w.Call, w.Signature)
	case w.Text != nil:
		d.takeText(w.Thought, escaped(raw))
		d.sign(w.Thought, w.Signature)
	case w.Signature != "" && !bytes.ContainsAny(raw[1:len(raw)-1], "{["):
		d.sign(w.Thought, w.Signature)
	case bytes.ContainsAny(raw[1:len(raw)-1], "{["): // data of another kind
		d.begin(&part{kind: message.KindOpaque, raw: string(raw)})
	}
	return nil
}

// escaped returns the text of a part as it is escaped, without its quotes.
func escaped(raw []byte) []byte {
	var w struct {
		Text jsontext.Value `json:"text"`
	}
	if json.Unmarshal(raw, &w, lenient) != nil || w.Text.Kind() != '"' {
		return nil
	}
	return w.Text[1 : len(w.Text)-1]
}

// takeText appends a piece of text or thought to the part that it goes on with.
// A part is over when its signature has come.
func (d *decoder) takeText(thought bool, escaped []byte) {
	if len(escaped) == 0 {
		return
	}
	kind := message.KindText
	if thought {
		kind = message.KindReasoning
	}
	p := d.last()
	if p == nil || p.kind != kind || p.signature.Thought != "" {
		p = d.begin(&part{kind: kind})
	}
	if s := p.half.Unescape(escaped); s != "" {
		p.text = append(p.text, s...)
		d.emit(model.Delta{Kind: deltaOf(kind), Text: s})
	}
}

// begin begins a part behind those that there are.
func (d *decoder) begin(p *part) *part {
	d.endText()
	d.parts = append(d.parts, p)
	return p
}

// endText ends the last text: no second half comes for a half of a character.
func (d *decoder) endText() {
	p := d.last()
	if p == nil || len(p.half) == 0 {
		return
	}
	p.half = nil
	p.text = append(p.text, "\ufffd"...)
	d.emit(model.Delta{Kind: deltaOf(p.kind), Text: "\ufffd"})
}

func deltaOf(kind message.Kind) model.DeltaKind {
	if kind == message.KindReasoning {
		return model.DeltaReasoning
	}
	return model.DeltaText
}

func (d *decoder) last() *part {
	if len(d.parts) == 0 {
		return nil
	}
	return d.parts[len(d.parts)-1]
}

// sign gives a signature to the text or thought that has just come. One that
// comes with nothing belongs to what was said last or, if there is no such
// thing, stands alone.
func (d *decoder) sign(thought bool, s string) {
	if s == "" {
		return
	}
	p := d.last()
	fits := p != nil && p.signature.Thought == "" && (p.kind == message.KindText || p.kind == message.KindReasoning && thought)
	if !fits {
		p = d.begin(&part{kind: message.KindOpaque})
	}
	p.signature.Thought = s
}

// takeCall takes a call, which always comes whole.
func (d *decoder) takeCall(f *functionCall, s string) {
	name := f.Name
	if original, ok := d.names[name]; ok {
		name = original
	}
	call := &message.ToolCall{ID: f.ID, Name: name, Arguments: f.arguments()}
	for _, p := range d.parts {
		if p.call != nil && p.call.ID == call.ID {
			call.ID = ""
		}
	}
	if call.ID == "" {
		call.ID = wire.CallID(d.id, d.calls, f.Name, call.Arguments)
	}
	d.begin(&part{kind: message.KindToolCall, call: call, signature: signature{Thought: s, ID: f.ID}})
	d.emit(model.Delta{Kind: model.DeltaCall, Index: d.calls, Name: name})
	d.emit(model.Delta{Kind: model.DeltaCallArgs, Index: d.calls, Text: call.Arguments})
	d.calls++
}

func (d *decoder) emit(delta model.Delta) {
	if !d.gone && d.yield != nil {
		d.gone = !d.yield(delta)
	}
}
