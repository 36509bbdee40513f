package anthropic

import "github.com/rondo-engine/rondo/model/wire"

// hotDelta is a content_block_delta with a single string in it, which is what
// nearly all events are. Its slices point into the event.
type hotDelta struct {
	index int
	kind  []byte // text_delta, thinking_delta, input_json_delta
	text  []byte // the string as it is escaped, without its quotes
}

// scanDelta reads data if it is a hot delta with its members in the usual
// order. It reports false for all else, which is no judgement on it.
func scanDelta(data []byte) (d hotDelta, ok bool) {
	s := wire.NewScanner(data)
	s.Expect('{')
	expectName(&s, "type")
	if string(s.Text()) != "content_block_delta" {
		return d, false
	}
	s.Expect(',')
	expectName(&s, "index")
	d.index = s.Digits()
	s.Expect(',')
	expectName(&s, "delta")
	s.Expect('{')
	expectName(&s, "type")
	d.kind = s.Text()
	s.Expect(',')
	field := s.Text()
	s.Expect(':')
	d.text = s.Text()
	s.Expect('}')
	s.Expect('}')
	return d, s.Ended() && hotField(d.kind, field)
}

func expectName(s *wire.Scanner, name string) {
	if string(s.Text()) != name {
		s.Fail()
	}
	s.Expect(':')
}

func hotField(kind, field []byte) bool {
	switch string(kind) {
	case "text_delta":
		return string(field) == "text"
	case "thinking_delta":
		return string(field) == "thinking"
	case "input_json_delta":
		return string(field) == "partial_json"
	}
	return false
}

// scanEdge reads data if a tool call begins there, or any block ends, in the
// usual form. It returns no call at an end. It reports false for all else.
func scanEdge(data []byte) (index int, call *block, ok bool) {
	s := wire.NewScanner(data)
	s.Expect('{')
	expectName(&s, "type")
	kind := s.Text()
	s.Expect(',')
	expectName(&s, "index")
	index = s.Digits()
	switch string(kind) {
	case "content_block_start":
		s.Expect(',')
		expectName(&s, "content_block")
		call = scanCall(&s)
	case "content_block_stop":
	default:
		return 0, nil, false
	}
	s.Expect('}')
	return index, call, s.Ended()
}

// scanCall reads a tool_use block whose arguments are still to come.
func scanCall(s *wire.Scanner) *block {
	if s.Failed() {
		return nil
	}
	b := &block{}
	expect := func(found []byte, want string) {
		if string(found) != want {
			s.Fail()
		}
	}
	s.Object(func(name []byte) {
		switch string(name) {
		case "type":
			b.kind = blockToolUse
			expect(s.Text(), blockToolUse)
		case "id":
			b.id = wire.Unescape(s.Text())
		case "name":
			b.name = wire.Unescape(s.Text())
		case "input":
			expect(s.Value(), "{}")
		case "caller":
			expect(s.Value(), `{"type":"direct"}`)
		default:
			s.Fail()
		}
	})
	expect([]byte(b.kind), blockToolUse)
	return b
}
