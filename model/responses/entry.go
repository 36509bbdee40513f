package responses

import (
	"slices"
	"strings"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// The kinds of State that this adapter makes. Data is a JSON object: of
// stateReasoning and stateItem the whole item, of the others the members
// that the neutral part has no place for, such as the id.
const (
	stateReasoning = "responses.reasoning"
	stateMessage   = "responses.message"
	stateRefusal   = "responses.refusal"
	stateCall      = "responses.function_call"
	stateCustom    = "responses.custom_tool_call"
	stateItem      = "responses.item"
	// stateContent is a piece of a user's content without a neutral form.
	stateContent = "responses.content"
)

// sectionKind says what a section of an item holds.
type sectionKind uint8

const (
	sectionText sectionKind = iota + 1
	sectionRefusal
	sectionSummary
	sectionThought
	sectionArguments
	// sectionInput is the input of a custom tool: text, not JSON.
	sectionInput
)

// section is one run of text of an item.
type section struct {
	kind sectionKind
	part int
	buf  []byte
	// sent is how much of buf was passed on.
	sent int
}

// entry is an item of the output as far as it is known.
type entry struct {
	output   int
	kind     string // the item's type
	id       string
	callID   string
	name     string
	raw      []byte // the item's JSON once it is done
	done     bool
	call     int // 1 and up once the call is announced
	sections []*section
	// recent is the section that the last delta was for.
	recent *section
}

// section returns the section of a kind at a place in the item.
func (it *entry) section(kind sectionKind, part int) *section {
	if s := it.recent; s != nil && s.kind == kind && s.part == part {
		return s
	}
	for _, s := range it.sections {
		if s.kind == kind && s.part == part {
			it.recent = s
			return s
		}
	}
	it.recent = &section{kind: kind, part: part}
	it.sections = append(it.sections, it.recent)
	return it.recent
}

// add takes the next piece of the section and passes it on.
func (s *section) add(d *decoder, it *entry, piece string) {
	first := len(s.buf) == 0
	s.buf = append(s.buf, piece...)
	switch s.kind {
	case sectionText, sectionRefusal:
		d.send(model.Delta{Kind: model.DeltaText, Text: piece})
	case sectionSummary, sectionThought:
		if first && it.sections[0] != s {
			piece = "\n\n" + piece
		}
		d.send(model.Delta{Kind: model.DeltaReasoning, Text: piece})
	case sectionArguments:
		if it.call == 0 {
			return // the name is not known yet
		}
		d.send(model.Delta{Kind: model.DeltaCallArgs, Index: it.call - 1, Text: piece})
	case sectionInput:
		return // passed on as JSON once it is whole
	}
	s.sent = len(s.buf)
}

// settle takes the whole text of a section: it counts more than the deltas. An
// empty one says nothing. What was not passed on yet is, if it continues what
// was.
func (it *entry) settle(d *decoder, kind sectionKind, part int, whole string) {
	if whole == "" {
		return
	}
	s := it.section(kind, part)
	if n := len(s.buf); len(whole) >= n && whole[:n] == string(s.buf) {
		if n < len(whole) {
			s.add(d, it, whole[n:])
		}
		return
	}
	s.buf = append(s.buf[:0], whole...)
	s.sent = min(s.sent, len(s.buf))
}

// begin takes an item at its start.
func (it *entry) begin(d *decoder, wi *item) {
	it.kind = wi.Type
	it.head(wi)
	it.announce(d)
}

func (it *entry) head(wi *item) {
	if id := text(wi.ID); id != "" {
		it.id = id
	}
	if id := text(wi.CallID); id != "" {
		it.callID = id
	}
	if name := text(wi.Name); name != "" {
		it.name = name
	}
}

// isCall reports whether the item asks for one of our tools.
func (it *entry) isCall() bool {
	return it.kind == "function_call" || it.kind == "custom_tool_call" || it.kind == "" && it.name != ""
}

// announce passes on that a call is being written, as soon as it has a name,
// and what of its arguments came before that.
func (it *entry) announce(d *decoder) {
	if it.call != 0 || it.name == "" || !it.isCall() {
		return
	}
	d.calls++
	it.call = d.calls
	d.send(model.Delta{Kind: model.DeltaCall, Index: it.call - 1, Name: it.name})
	for _, s := range it.sections {
		if s.kind == sectionArguments && s.sent < len(s.buf) {
			d.send(model.Delta{Kind: model.DeltaCallArgs, Index: it.call - 1, Text: string(s.buf[s.sent:])})
			s.sent = len(s.buf)
		}
	}
}

// finish takes an item that is done.
func (it *entry) finish(d *decoder, wi *item, raw []byte) {
	it.begin(d, wi)
	it.raw, it.done = append([]byte(nil), raw...), true
	switch it.kind {
	case "message":
		for i, p := range pieces(wi.Content) {
			if p.Type == "refusal" {
				it.settle(d, sectionRefusal, i, text(p.Refusal))
			} else {
				it.settle(d, sectionText, i, text(p.Text))
			}
		}
	case "reasoning":
		for i, p := range pieces(wi.Summary) {
			it.settle(d, sectionSummary, i, text(p.Text))
		}
		if it.has(sectionSummary) && !it.has(sectionThought) {
			break // the summary was shown; some servers send the same again as content
		}
		for i, p := range pieces(wi.Content) {
			it.settle(d, sectionThought, i, text(p.Text))
		}
	case "function_call":
		it.settle(d, sectionArguments, 0, text(wi.Arguments))
	case "custom_tool_call":
		it.settle(d, sectionInput, 0, text(wi.Input))
	}
	it.flush(d)
}

func (it *entry) has(kind sectionKind) bool {
	return slices.ContainsFunc(it.sections, func(s *section) bool { return s.kind == kind })
}

// flush passes on what waited for the item's end: the input of a custom tool.
func (it *entry) flush(d *decoder) {
	it.announce(d)
	for _, s := range it.sections {
		if s.kind == sectionInput && s.sent == 0 && it.call != 0 {
			d.send(model.Delta{Kind: model.DeltaCallArgs, Index: it.call - 1, Text: inputArguments(string(s.buf))})
			s.sent = len(s.buf)
		}
	}
}

// inputArguments makes the JSON arguments of a custom tool's input.
func inputArguments(input string) string {
	return string(append(wire.AppendString([]byte(`{"input":`), input), '}'))
}

// parts returns the item as parts of a message.
func (it *entry) parts(d *decoder) []message.Part {
	switch {
	case it.kind == "reasoning":
		return []message.Part{it.reasoning(d)}
	case it.isCall():
		return []message.Part{it.toolCall(d)}
	case it.kind != "" && it.kind != "message":
		if !it.done {
			return nil
		}
		return []message.Part{{Kind: message.KindOpaque, State: d.state(stateItem, without(it.raw))}}
	}
	return it.texts(d)
}

func (it *entry) reasoning(d *decoder) message.Part {
	p := message.Reasoning(it.join(sectionSummary, sectionThought))
	if it.done {
		p.State = d.state(stateReasoning, reasoningItem(it.raw))
	}
	return p
}

// reasoningItem returns a reasoning item as it is to be sent back: without the
// members that are null and its status, which not every server takes.
func reasoningItem(raw []byte) string { return without(raw, "status", "_origin") }

func (it *entry) toolCall(d *decoder) message.Part {
	args := it.join(sectionArguments)
	kind := stateCall
	if it.kind == "custom_tool_call" {
		args, kind = inputArguments(it.join(sectionInput)), stateCustom
	} else if strings.TrimSpace(args) == "" && (it.done || d.reason == "") {
		args = "{}"
	}
	id := it.callID
	if id == "" {
		id = it.id
	}
	p := message.Call(d.callID(id, it.call-1), it.name, args)
	rest := callRest(it.raw)
	if rest == "" && kind == stateCustom { // the state's kind alone says something
		rest = "{}"
	}
	p.State = d.state(kind, rest)
	return p
}

// callRest returns what of a call item the neutral form has no place for.
func callRest(raw []byte) string {
	return without(raw, "type", "call_id", "name", "arguments", "input", "status", "output_index", "item_id", "_origin")
}

// messageRest returns the same of a message item.
func messageRest(raw []byte) string {
	rest := without(raw, "type", "role", "content", "_origin")
	return strings.Replace(strings.Replace(rest, `,"status":"completed"`, "", 1), `"status":"completed",`, "", 1)
}

func (it *entry) texts(d *decoder) []message.Part {
	rest := messageRest(it.raw)
	var ps []message.Part
	for _, s := range it.sections {
		if s.kind != sectionText && s.kind != sectionRefusal {
			continue
		}
		p := message.Text(string(s.buf))
		if s.kind == sectionRefusal {
			if rest == "" {
				rest = "{}"
			}
			p.State = d.state(stateRefusal, rest)
		} else {
			p.State = d.state(stateMessage, rest)
		}
		ps = append(ps, p)
	}
	return ps
}

// join returns the text of the sections of the given kinds.
func (it *entry) join(kinds ...sectionKind) string {
	var ts []string
	for _, s := range it.sections {
		if slices.Contains(kinds, s.kind) {
			ts = append(ts, string(s.buf))
		}
	}
	return strings.Join(ts, "\n\n")
}

// state makes the state of a part; nil if there is nothing in it.
func (d *decoder) state(kind, data string) *message.State {
	if data == "" {
		return nil
	}
	return &message.State{Origin: d.origin(), Kind: kind, Data: data}
}
