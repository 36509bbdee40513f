package chat

import (
	"bytes"
	"cmp"
	"errors"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// decoder reads one reply. The cost of a piece does not depend on what came
// before it.
type decoder struct {
	wire.Clock
	profile *model.Profile
	origin  message.Origin
	split   *model.ThinkSplitter // nil where tags are text
	say     func(model.DeltaKind, string)
	yield   func(model.Delta) bool
	gone    bool    // nobody listens any more
	pieces  []piece // room for those of a chunk

	id, model string
	text      []byte
	reasoning []byte
	refusal   []byte
	details   details
	calls     calls
	extra     jsontext.Value // extra_content of the message
	usage     []byte         // the latest that counts something, as it is
	finish    model.Finish   // empty until there is one
	done      bool           // [DONE], or the reply came in one piece
	words     []byte         // the latest chunk that was no JSON
	half      wire.Half      // of a character, at the end of the text
}

// NewDecoder makes a decoder for one reply.
func NewDecoder(p *model.Profile) wire.Decoder {
	d := &decoder{
		profile: p,
		origin:  p.Origin(),
	}
	if p.ThinkTags || p.StartsInThink {
		d.split, d.say = model.NewThinkSplitter(p.StartsInThink), d.emit
	}
	return d
}

// Event takes one chunk.
func (d *decoder) Event(name string, data []byte, yield func(model.Delta) bool) (done bool, err error) {
	if name != "error" {
		h, ok := scan(data, d.pieces)
		d.pieces = h.calls
		if ok {
			d.yield = yield
			return false, d.takeHot(&h)
		}
	}
	return d.full(name, data, yield)
}

// full takes a chunk of any kind.
func (d *decoder) full(name string, data []byte, yield func(model.Delta) bool) (done bool, err error) {
	d.yield = yield
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return false, nil
	}
	if string(data) == "[DONE]" {
		d.endText()
		d.done = true
		return true, nil
	}
	if name == "error" {
		return false, d.failed(data)
	}
	var c chunk
	if err := json.Unmarshal(data, &c, lenient); err != nil {
		if bytes.IndexByte(data, '\n') >= 0 {
			return d.lines(name, data, yield)
		}
		return false, d.unreadable(data, err)
	}
	return false, d.take(&c, data)
}

// lines takes several chunks that came as one event, as some servers leave out
// the blank lines between.
func (d *decoder) lines(name string, data []byte, yield func(model.Delta) bool) (done bool, err error) {
	for line := range bytes.Lines(data) {
		if done, err = d.Event(name, bytes.TrimSpace(line), yield); done || err != nil || d.gone {
			return done, err
		}
	}
	return false, nil
}

// Whole takes a reply in one piece.
func (d *decoder) Whole(body []byte, yield func(model.Delta) bool) error {
	d.yield = yield
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return nil
	}
	var c chunk
	if err := json.Unmarshal(body, &c, lenient); errors.Is(err, io.ErrUnexpectedEOF) {
		return d.truncated("the reply breaks off within its JSON")
	} else if err != nil {
		return d.failed(body)
	}
	if len(c.Choices) == 0 && c.Usage == nil {
		return d.failed(body)
	}
	if err := d.take(&c, body); err != nil {
		return err
	}
	d.endText()
	d.done = true
	return nil
}

// Finished reports that all of the message is there.
func (d *decoder) Finished() bool { return d.finish != "" }

// takeHot takes the usual chunk, to the same effect as take.
func (d *decoder) takeHot(h *hot) error {
	d.named(h.id, h.model)
	d.count(h.usage)
	if len(h.thought) > 0 {
		d.addThought(wire.Unescape(h.thought))
	}
	if len(h.content) > 0 {
		d.addText(d.half.Unescape(h.content))
	}
	for i := range h.calls {
		d.takeCall(&h.calls[i])
	}
	return d.takeFinish(wire.Unescape(h.finish))
}

func (d *decoder) named(id, name []byte) {
	if d.id == "" && len(id) > 0 {
		d.id = wire.Unescape(id)
	}
	if d.model == "" && len(name) > 0 {
		d.model = wire.Unescape(name)
	}
}

// take takes any chunk, or a reply in one piece. data is its JSON.
func (d *decoder) take(c *chunk, data []byte) error {
	if d.id == "" {
		d.id = string(c.ID)
	}
	if d.model == "" {
		d.model = string(c.Model)
	}
	d.count(c.Usage)
	if c.Groq != nil {
		d.count(c.Groq.Usage)
		if saysSomething(c.Groq.Error) {
			return d.failed(wrapError(c.Groq.Error))
		}
	}
	if saysSomething(c.Error) || c.Object == "error" ||
		len(c.Choices) == 0 && (saysSomething(c.Message) || saysSomething(c.Detail) || saysSomething(c.Errors)) {
		return d.failed(data)
	}
	for i := range c.Choices {
		if ch := &c.Choices[i]; ch.Index == 0 {
			return d.choose(ch)
		}
	}
	return nil
}

func (d *decoder) choose(c *choice) error {
	d.count(c.Usage)
	if c.Delta != nil {
		d.takeDelta(c.Delta)
	}
	if c.Message != nil && d.isEmpty() { // else it is all of it once more, at the end of a stream
		d.takeDelta(c.Message)
	}
	if saysSomething(c.Error) {
		return d.failed(wrapError(c.Error))
	}
	return d.takeFinish(string(c.Finish))
}

// takeFinish takes a finish reason, empty for none.
func (d *decoder) takeFinish(reason string) error {
	if reason == "" {
		return nil
	}
	d.endText()
	switch f := readFinish(reason); {
	case f == model.FinishError:
		return d.stopped(reason)
	case d.finish == model.FinishLength, d.finish == model.FinishContentFilter: // these stand
	default:
		d.finish = f
	}
	return nil
}

func (d *decoder) takeDelta(m *delta) {
	thought := string(cmp.Or(m.ReasoningContent, m.Reasoning, m.ReasoningText, m.Thinking))
	said := thought != ""
	for _, v := range m.ReasoningDetails {
		if words := d.details.add(v); !said {
			thought += words
		}
	}
	d.addThought(thought)
	d.takeContent(m.Content)
	d.refusal = append(d.refusal, m.Refusal...)
	if isObject(m.ExtraContent) {
		d.extra = m.ExtraContent
	}
	for i := range m.ToolCalls {
		d.takeCall(m.ToolCalls[i].piece())
	}
	if f := m.FunctionCall; f != nil {
		d.takeCall(&piece{index: noIndex, name: string(f.Name), arguments: textOf(f.Arguments)})
	}
}

// piece returns what t brings, in one form.
func (t *toolCall) piece() *piece {
	p := &piece{index: noIndex, id: string(t.ID)}
	if t.Index != nil {
		p.index = int(*t.Index)
	}
	if f := t.Function; f != nil {
		p.name, p.arguments = string(f.Name), textOf(f.Arguments)
	}
	if c := t.Custom; c != nil && p.name == "" && c.Name != "" {
		p.name, p.arguments = string(c.Name), customArguments(c.Input)
	}
	if isObject(t.ExtraContent) {
		p.extra = t.ExtraContent
	}
	return p
}

func (d *decoder) takeCall(p *piece) {
	c := d.calls.find(p)
	if c == nil {
		return
	}
	c.add(p)
	if !d.gone {
		d.gone = !c.show(d.yield)
	}
}

// takeContent takes content: a string, or an array of parts as Mistral's
// thinking models send it.
func (d *decoder) takeContent(v jsontext.Value) {
	switch v.Kind() {
	case '"':
		d.addText(d.half.Unescape(v[1 : len(v)-1]))
		return
	case '[':
	case '{': // the one part alone
		v = append(append(jsontext.Value{'['}, v...), ']')
	default:
		d.addText(textOf(v))
		return
	}
	var parts list[struct {
		Type     loose          `json:"type"`
		Text     loose          `json:"text"`
		Thinking jsontext.Value `json:"thinking"`
	}]
	if json.Unmarshal(v, &parts, lenient) != nil {
		return // an array of something else is no text
	}
	for _, p := range parts {
		if p.Type == "thinking" || p.Type == "reasoning" {
			d.addThought(thinkingText(p.Thinking) + string(p.Text))
		} else {
			d.addText(string(p.Text))
		}
	}
}

func thinkingText(v jsontext.Value) string {
	if v.Kind() != '[' {
		return textOf(v)
	}
	var parts list[struct {
		Text loose `json:"text"`
	}]
	if json.Unmarshal(v, &parts, lenient) != nil {
		return ""
	}
	s := ""
	for _, p := range parts {
		s += string(p.Text)
	}
	return s
}

func (d *decoder) addText(s string) {
	switch {
	case s == "":
	case d.split != nil:
		d.split.Split(s, d.say)
	default:
		d.emit(model.DeltaText, s)
	}
}

func (d *decoder) addThought(s string) {
	if s == "" {
		return
	}
	if d.split != nil {
		d.split.Over()
	}
	d.emit(model.DeltaReasoning, s)
}

// endText lets go of what was held back because more might have come.
func (d *decoder) endText() {
	if len(d.half) > 0 {
		d.half = nil
		d.addText("\ufffd")
	}
	if d.split != nil {
		d.split.End(d.say)
	}
}

func (d *decoder) emit(k model.DeltaKind, s string) {
	if k == model.DeltaReasoning {
		d.reasoning = append(d.reasoning, s...)
	} else {
		d.text = append(d.text, s...)
	}
	if !d.gone && d.yield != nil {
		d.gone = !d.yield(model.Delta{Kind: k, Text: s})
	}
}

// count keeps a usage object for the end. Some servers count on in each chunk.
func (d *decoder) count(v []byte) {
	if bytes.ContainsAny(v, "123456789") {
		d.usage = append(d.usage[:0], v...)
	}
}

// isEmpty reports whether nothing of a message has come.
func (d *decoder) isEmpty() bool {
	return len(d.text)+len(d.reasoning)+len(d.refusal)+len(d.calls)+len(d.details.items) == 0
}

// unreadable is the error of a chunk that is not JSON: cut, or something else.
// After the reply is whole it does not matter. A bare word such as ping is kept
// until the end has shown whether it was an error.
func (d *decoder) unreadable(data []byte, err error) error {
	switch {
	case d.finish != "":
		return nil
	case data[0] != '{' && data[0] != '[':
		d.words = append(d.words[:0], data...)
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return d.truncated("the reply breaks off within its JSON")
	}
	return d.failed(data)
}
