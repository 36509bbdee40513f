package anthropic

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model/wire"
)

// The types of blocks that have a neutral form. All others are kept whole.
const (
	blockText     = "text"
	blockThinking = "thinking"
	blockRedacted = "redacted_thinking"
	blockToolUse  = "tool_use"
)

// block is a content block that is being received.
type block struct {
	kind string
	// text grows with the deltas: text, thinking, or the arguments of a call.
	text []byte
	// held is the start of a character whose rest is in the next delta.
	held wire.Half
	// signature is that of a thinking block.
	signature string
	// id, name, input and call are of a tool_use block; input is what the
	// start of the block said, call counts the calls of the reply.
	id, name string
	input    jsontext.Value
	call     int
	// members are those of a block without neutral form, or those that a
	// neutral part has no place for.
	members object
	// citations are those of a text block.
	citations []jsontext.Value
	closed    bool
}

// newBlock reads the beginning of a block, which may be all of it.
func newBlock(raw jsontext.Value) (*block, error) {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &kind, lenient); err != nil {
		return nil, fmt.Errorf("content block: %w", err)
	}
	b := &block{kind: kind.Type}
	switch kind.Type {
	case blockText, blockThinking, blockToolUse:
	default:
		var err error
		b.members, err = parseObject(raw)
		return b, err
	}
	var c contentBlock
	if err := json.Unmarshal(raw, &c, lenient); err != nil {
		return nil, fmt.Errorf("%s block: %w", kind.Type, err)
	}
	b.id, b.name, b.signature = c.ID, c.Name, c.Signature
	b.text = append(b.text, c.Text...)
	if c.Type == blockThinking {
		b.text = append(b.text[:0], c.Thinking...)
	}
	if isObject(string(c.Input)) {
		b.input = c.Input
	}
	if c.Citations.Kind() == '[' {
		_ = json.Unmarshal(c.Citations, &b.citations, lenient) // an array of anything is read
	}
	if c.Caller != nil && !isDirect(c.Caller) {
		b.members.set("caller", c.Caller)
	}
	return b, nil
}

// isDirect reports whether caller says no more than is the rule: the model
// itself makes the call.
func isDirect(caller jsontext.Value) bool {
	var c struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(caller, &c, lenient) != nil || c.Type == "direct" || c.Type == ""
}

// impliedBlock is what a delta of a block without a beginning belongs to.
func impliedBlock(delta string) *block {
	switch delta {
	case "text_delta", "citations_delta":
		return &block{kind: blockText}
	case "thinking_delta", "signature_delta":
		return &block{kind: blockThinking}
	case "input_json_delta":
		return &block{kind: blockToolUse}
	}
	return nil
}

// opaque reports whether b has no neutral form.
func (b *block) opaque() bool {
	return b.kind != blockText && b.kind != blockThinking && b.kind != blockToolUse
}

// arguments returns the arguments of a call: those that were streamed, else
// those of the start, else none. A call that was cut has what there was of them.
func (b *block) arguments(cut bool) string {
	switch args := strings.TrimSpace(string(b.text)); {
	case args != "":
		return args
	case len(b.input) > 2:
		return string(bytes.TrimSpace(b.input))
	case cut:
		return ""
	}
	return "{}"
}

// part returns the neutral form of b; false if there is nothing in it.
func (b *block) part(origin message.Origin, cut bool) (message.Part, bool) {
	switch b.kind {
	case blockText:
		p := message.Text(string(b.text))
		if len(b.citations) > 0 {
			list, _ := json.Marshal(b.citations, lenient) // raw JSON values cannot fail
			p.State = membersState(origin, object{{name: "citations", value: list}})
		}
		return p, p.Text != "" || p.State != nil
	case blockThinking:
		p := message.Reasoning(string(b.text))
		if b.signature != "" {
			o := object{{name: "signature", text: []byte(b.signature)}}
			p.State = &message.State{Origin: origin, Kind: stateThinking, Data: string(o.append(nil))}
		}
		return p, p.Text != "" || p.State != nil
	case blockToolUse:
		p := message.Call(b.id, b.name, b.arguments(cut))
		p.State = membersState(origin, b.members)
		return p, true
	}
	if args := bytes.TrimSpace(b.text); len(args) > 0 && jsontext.Value(args).IsValid(lenient) {
		b.members.set("input", args)
	}
	kind := stateBlock
	if b.kind == blockRedacted {
		kind = stateRedacted
	}
	state := &message.State{Origin: origin, Kind: kind, Data: string(b.members.append(nil))}
	return message.Part{Kind: message.KindOpaque, State: state}, true
}

// membersState keeps members beside a neutral part; nil for none.
func membersState(origin message.Origin, members object) *message.State {
	if len(members) == 0 {
		return nil
	}
	return &message.State{Origin: origin, Kind: stateMembers, Data: string(members.append(nil))}
}
