package responses

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model/wire"
)

// turn is the encoding of one assistant message.
type turn struct {
	*encoder
	m   *message.Message
	dst []byte
	// waiting are reasoning items that go out with the item that follows them:
	// the service refuses one without.
	waiting []string
	// broken tells that reasoning was left out. The ids of what follows are
	// left out as well then, for the service would ask for the reasoning.
	broken bool
}

// assistant appends the items of m in the order of its parts.
func (e *encoder) assistant(dst []byte, m *message.Message) []byte {
	t := &turn{encoder: e, m: m, dst: dst}
	parts := t.ordered()
	for len(parts) > 0 {
		n := 1
		switch p := &parts[0]; p.Kind {
		case message.KindReasoning:
			t.reasoning(p)
		case message.KindText:
			n = t.texts(parts)
		case message.KindToolCall:
			t.call(p)
		case message.KindOpaque:
			t.opaque(p)
		}
		parts = parts[n:]
	}
	return t.dst
}

// ordered returns the parts in the order in which they are sent: as they are if
// reasoning goes with them, else with the calls at the end, as some servers
// want the calls of a turn side by side.
func (t *turn) ordered() []message.Part {
	calls, mixed := false, false
	for i := range t.m.Parts {
		p := &t.m.Parts[i]
		switch {
		case p.Kind == message.KindReasoning && t.ours(p, t.m) && !t.plain:
			return t.m.Parts
		case p.Kind == message.KindToolCall:
			calls = true
		default:
			mixed = mixed || calls
		}
	}
	if !mixed {
		return t.m.Parts
	}
	parts := slices.Clone(t.m.Parts)
	slices.SortStableFunc(parts, func(a, b message.Part) int { return rank(a) - rank(b) })
	return parts
}

func rank(p message.Part) int {
	if p.Kind == message.KindToolCall {
		return 1
	}
	return 0
}

func (t *turn) reasoning(p *message.Part) {
	if !t.ours(p, t.m) || p.State.Kind != stateReasoning {
		return // nobody else can read it
	}
	if t.plain {
		return
	}
	if !t.p.ServerState && !holdsThought(p.State.Data) {
		t.broken = true // it is the name of what the service has not kept
		return
	}
	t.waiting = append(t.waiting, p.State.Data)
}

// holdsThought reports whether the reasoning item data says more than its id.
func holdsThought(data string) bool {
	return hasMember(data, "encrypted_content") || len(elements(member(data, "summary")))+len(elements(member(data, "content"))) > 0
}

// item makes room for an item and sends the reasoning that waits for it.
func (t *turn) item() {
	for _, data := range t.waiting {
		if data = t.claimed(data, maxID); data == "" {
			t.broken = true
			continue
		}
		t.dst = appendReasoning(separate(t.dst), data)
	}
	t.waiting = t.waiting[:0]
	t.dst = separate(t.dst)
}

// claimed returns the item data as it can be sent: "" if it was sent before,
// without its id if another item has it or it is longer than most.
func (t *turn) claimed(data string, most int) string {
	id := memberText(data, "id")
	if id == "" {
		return data
	}
	ok, same := t.ids.take(id, t.unit, data)
	switch {
	case same:
		return ""
	case !ok || len(id) > most:
		return without([]byte(data), "id")
	}
	return data
}

// appendReasoning appends a reasoning item; the summary is there even if empty.
func appendReasoning(dst []byte, data string) []byte {
	dst = append(dst, strings.TrimSuffix(data, "}")...)
	if memberText(data, "type") == "" {
		dst = append(dst, `,"type":"reasoning"`...)
	}
	if !hasMember(data, "summary") {
		dst = append(dst, `,"summary":[]`...)
	}
	return append(dst, '}')
}

// rest returns the members that the state of p adds to its item, with a comma
// before each: those of the same origin only, the id only if it can be sent.
func (t *turn) rest(p *message.Part, kinds ...string) (members string, hasID bool) {
	if !t.ours(p, t.m) || !slices.Contains(kinds, p.State.Kind) {
		return "", false
	}
	data := p.State.Data
	if id := memberText(data, "id"); id != "" {
		hasID = !t.broken && !t.plain && len(id) <= maxID
		if hasID {
			hasID, _ = t.ids.take(id, t.unit, data)
		}
		if !hasID {
			data = without([]byte(data), "id")
		}
	}
	if len(data) <= len("{}") {
		return "", hasID
	}
	return "," + data[1:len(data)-1], hasID
}

// texts appends the message item that begins with parts[0] and returns how many
// of the parts it holds: those with the same state.
func (t *turn) texts(parts []message.Part) int {
	n := 1
	for n < len(parts) && parts[n].Kind == message.KindText && t.sameItem(&parts[0], &parts[n]) {
		n++
	}
	run := slices.DeleteFunc(slices.Clone(parts[:n]), func(p message.Part) bool { return p.Text == "" })
	if len(run) == 0 {
		return n
	}
	t.item()
	rest, hasID := t.rest(&parts[0], stateMessage, stateRefusal)
	t.dst = append(t.dst, `{"type":"message","role":"assistant"`+rest...)
	if hasID && !hasMember(parts[0].State.Data, "status") {
		t.dst = append(t.dst, `,"status":"completed"`...)
	}
	t.dst = append(t.dst, `,"content":[`...)
	for i := range run {
		t.dst = t.said(separate(t.dst), &run[i], hasID)
	}
	t.dst = append(t.dst, `]}`...)
	return n
}

func (t *turn) sameItem(a, b *message.Part) bool {
	if t.ours(a, t.m) != t.ours(b, t.m) {
		return false
	}
	return !t.ours(a, t.m) || a.State.Data == b.State.Data
}

// said appends one piece of what the model said.
func (t *turn) said(dst []byte, p *message.Part, full bool) []byte {
	switch {
	case t.ours(p, t.m) && p.State.Kind == stateRefusal:
		return append(wire.AppendString(append(dst, `{"type":"refusal","refusal":`...), p.Text), '}')
	case full:
		dst = append(wire.AppendString(append(dst, `{"type":"output_text","text":`...), p.Text), `,"annotations":[]}`...)
		return dst
	}
	return appendText(dst, "output_text", p.Text)
}

func (t *turn) call(p *message.Part) {
	t.item()
	rest, _ := t.rest(p, stateCall, stateCustom)
	kind, name, value := "function_call", "arguments", arguments(p.Call)
	if t.custom(p, t.m) {
		kind, name, value = "custom_tool_call", "input", memberText(p.Call.Arguments, "input")
	}
	t.dst = append(t.dst, `{"type":"`+kind+`"`+rest+`,"call_id":`...)
	t.dst = append(wire.AppendString(t.dst, wireCallID(p.Call.ID)), `,"name":`...)
	t.dst = append(wire.AppendString(t.dst, wire.Name(p.Call.Name, false)), `,"`+name+`":`...)
	t.dst = append(wire.AppendString(t.dst, value), '}')
}

// opaque appends an item that only its origin understands, if that is us.
func (t *turn) opaque(p *message.Part) {
	if !t.ours(p, t.m) || p.State.Kind != stateItem {
		return
	}
	data := p.State.Data
	if t.plain && hasMember(data, "encrypted_content") {
		return
	}
	// What a server's own tools did is found by its id, however long.
	if data = t.claimed(data, len(data)); data == "" {
		return
	}
	t.item()
	t.dst = append(t.dst, data...)
}

// member returns a member of the object data, raw.
func member(data, name string) jsontext.Value {
	var members map[string]jsontext.Value
	if data == "" || decode(jsontext.Value(data), &members) != nil {
		return nil
	}
	return members[name]
}

func memberText(data, name string) string { return text(member(data, name)) }

func hasMember(data, name string) bool { return present(member(data, name)) }
