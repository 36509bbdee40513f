package anthropic

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"

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
	return &decoder{profile: p, names: names, origin: p.Origin()}
}

// decoder puts a reply together from events. The blocks stand in the order of
// their beginning; their indexes count anew after each message_start.
type decoder struct {
	wire.Clock
	profile *model.Profile
	names   map[string]string
	origin  message.Origin

	started   bool // by a message_start
	id, model string
	blocks    []*block
	slots     []slot // by index, of the current message
	calls     int
	end       ending
	stopped   bool // by message_stop
	usage     usage
}

type slot struct {
	index int
	block *block
}

type yieldFunc = func(model.Delta) bool

// Event takes one event of a stream.
func (d *decoder) Event(name string, data []byte, yield func(model.Delta) bool) (done bool, err error) {
	if hot, ok := scanDelta(data); ok {
		b, err := d.slot(hot.index, string(hot.kind))
		if err != nil || b == nil {
			return false, err
		}
		d.grow(b, hot.kind, hot.text, yield)
		return false, nil
	}
	if index, call, ok := scanEdge(data); ok {
		if call != nil {
			d.begin(index, call, yield)
		} else {
			d.closeAt(index, yield)
		}
		return d.stopped, nil
	}
	return d.full(name, data, yield)
}

// full takes an event of any kind.
func (d *decoder) full(name string, data []byte, yield yieldFunc) (done bool, err error) {
	if s := bytes.TrimSpace(data); len(s) == 0 || string(s) == "[DONE]" {
		return false, nil
	}
	var e event
	if err := json.Unmarshal(data, &e, lenient); err != nil && name == "error" {
		return false, d.refused(data)
	} else if err != nil {
		return false, d.fail(model.StreamTruncated, fmt.Errorf("an event is not what it should be: %w", err))
	}
	if e.Type == "" {
		e.Type = name
	}
	return d.event(&e, data, yield)
}

func (d *decoder) event(e *event, data []byte, yield yieldFunc) (done bool, err error) {
	switch e.Type {
	case "message_start":
		err = d.start(e.Message, yield)
	case "content_block_start":
		err = d.open(int(e.Index), e.Block, yield)
	case "content_block_delta":
		err = d.delta(int(e.Index), e.Delta, yield)
	case "content_block_stop":
		d.closeAt(int(e.Index), yield)
	case "message_delta":
		d.usage.update(e.Usage)
		var end ending
		if json.Unmarshal(e.Delta, &end, lenient) == nil {
			d.finish(end)
		}
	case "message_stop":
		d.stopped = true
	default: // ping, and what is yet unknown
		if e.Type == "error" || e.Error.Kind() == '{' {
			err = d.refused(data)
		}
	}
	return d.stopped, err
}

// start begins a message. Some gateways repeat the event, which changes
// nothing, and some servers begin a new message where they go on after tools of
// their own. A new message while a block is open comes from a proxy that tried
// again: what came before was cut.
func (d *decoder) start(m *reply, yield yieldFunc) error {
	if m == nil {
		m = &reply{}
	}
	d.usage.update(m.Usage)
	if d.started {
		if m.ID == d.id {
			return nil
		}
		for _, s := range d.slots {
			if !s.block.closed {
				return d.fail(model.StreamTruncated, fmt.Errorf("message %s began while %s was open", m.ID, d.id))
			}
		}
		d.slots = nil
	}
	d.started = true
	d.id, d.model = m.ID, m.Model
	d.finish(m.ending)
	return d.whole(m.Content, yield)
}

// whole takes blocks that are complete.
func (d *decoder) whole(content []jsontext.Value, yield yieldFunc) error {
	listening := true
	tell := func(delta model.Delta) bool {
		listening = listening && yield(delta)
		return listening
	}
	for i, raw := range content {
		if err := d.open(i, raw, tell); err != nil {
			return err
		}
		d.closeAt(i, tell)
	}
	return nil
}

func (d *decoder) finish(end ending) {
	if end.StopReason != "" {
		d.end = end
	}
}

// lookup returns the block with an index of the current message, or nil.
func (d *decoder) lookup(index int) *block {
	for i := len(d.slots) - 1; i >= 0; i-- {
		if d.slots[i].index == index {
			return d.slots[i].block
		}
	}
	return nil
}

// open begins the block with that index.
func (d *decoder) open(index int, raw jsontext.Value, yield yieldFunc) error {
	b, err := newBlock(raw)
	if err != nil {
		return d.fail(model.ServerError, err)
	}
	d.begin(index, b, yield)
	return nil
}

// begin takes the block b with that index. A block that is begun twice is the
// same block, as where message_start had it already; servers that never count
// on show another by its kind or id.
func (d *decoder) begin(index int, b *block, yield yieldFunc) {
	if old := d.lookup(index); old != nil && old.kind == b.kind && (b.id == "" || b.id == old.id) {
		return
	}
	d.add(index, b)
	switch {
	case b.kind == blockToolUse:
		d.announce(b, yield)
	case b.kind == blockText && len(b.text) > 0:
		yield(model.Delta{Kind: model.DeltaText, Text: string(b.text)})
	case b.kind == blockThinking && len(b.text) > 0:
		yield(model.Delta{Kind: model.DeltaReasoning, Text: string(b.text)})
	}
}

func (d *decoder) add(index int, b *block) {
	d.blocks = append(d.blocks, b)
	d.slots = append(d.slots, slot{index: index, block: b})
}

func (d *decoder) announce(b *block, yield yieldFunc) {
	b.call = d.calls
	d.calls++
	if name, ok := d.names[b.name]; ok {
		b.name = name
	}
	if b.id == "" {
		b.id = fmt.Sprintf("%s_call_%d", cmp.Or(d.id, "msg"), b.call)
	}
	yield(model.Delta{Kind: model.DeltaCall, Index: b.call, Name: b.name})
}

// slot returns the block that a delta belongs to, and begins it if need be;
// nil if the delta says nothing of its kind.
func (d *decoder) slot(index int, kind string) (*block, error) {
	if b := d.lookup(index); b != nil {
		return b, nil
	}
	b := impliedBlock(kind)
	if b == nil {
		return nil, nil
	}
	if b.kind == blockToolUse {
		return nil, d.fail(model.ServerError, errors.New("arguments for a tool call that was not begun"))
	}
	d.add(index, b)
	return b, nil
}

// delta takes a delta that scanDelta did not.
func (d *decoder) delta(index int, raw jsontext.Value, yield yieldFunc) error {
	o, err := parseObject(raw)
	if err != nil {
		return d.fail(model.ServerError, fmt.Errorf("content block delta: %w", err))
	}
	value := func(name string) jsontext.Value {
		if m := o.find(name); m != nil {
			return m.value
		}
		return nil
	}
	kind := unquote(value("type"))
	b, err := d.slot(index, kind)
	if err != nil || b == nil {
		return err
	}
	switch kind {
	case "text_delta":
		d.growQuoted(b, kind, value("text"), yield)
	case "thinking_delta":
		d.growQuoted(b, kind, value("thinking"), yield)
	case "input_json_delta":
		d.growQuoted(b, kind, value("partial_json"), yield)
	case "signature_delta":
		b.signature += unquote(value("signature"))
	case "citations_delta":
		if c := value("citation"); c != nil {
			b.citations = append(b.citations, c)
		}
	default:
		if b.opaque() {
			b.members.fold(o)
		}
	}
	return nil
}

func (d *decoder) growQuoted(b *block, kind string, v jsontext.Value, yield yieldFunc) {
	if v.Kind() == '"' {
		d.grow(b, []byte(kind), v[1:len(v)-1], yield)
	}
}

// grow appends a piece, given in its escaped form, to b and tells of it.
func (d *decoder) grow(b *block, kind, escaped []byte, yield yieldFunc) {
	text := b.held.Unescape(escaped)
	if text == "" {
		return
	}
	if b.opaque() && string(kind) != "input_json_delta" {
		field := strings.TrimSuffix(string(kind), "_delta")
		b.members.fold(object{{name: field, value: wire.AppendString(nil, text)}})
		return
	}
	b.text = append(b.text, text...)
	switch b.kind {
	case blockText:
		yield(model.Delta{Kind: model.DeltaText, Text: text})
	case blockThinking:
		yield(model.Delta{Kind: model.DeltaReasoning, Text: text})
	case blockToolUse:
		yield(model.Delta{Kind: model.DeltaCallArgs, Index: b.call, Text: text})
	}
}

// closeAt ends the block with that index, if there is one.
func (d *decoder) closeAt(index int, yield yieldFunc) {
	if b := d.lookup(index); b != nil {
		d.close(b, yield)
	}
}

// close ends a block. The arguments of a call that came with its start or not
// at all are told now, when it is sure that no others come.
func (d *decoder) close(b *block, yield yieldFunc) {
	if b.closed {
		return
	}
	b.closed = true
	if b.kind == blockToolUse && len(b.text) == 0 {
		yield(model.Delta{Kind: model.DeltaCallArgs, Index: b.call, Text: b.arguments(false)})
	}
}
