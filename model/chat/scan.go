package chat

import "github.com/rondo-engine/rondo/model/wire"

// hot is what nearly all chunks bring: a piece of content, of reasoning, or of
// the arguments of a call that was begun before. Strings are still escaped,
// without their quotes, and point into the chunk; nil stands for none.
type hot struct {
	id, model []byte
	content   []byte
	thought   []byte
	arguments []byte
	usage     []byte // as it is
	index     int    // of the call
}

// scan reads a chunk that brings nothing but what hot can hold. It reports
// false for all others, which is no judgement on them.
func scan(data []byte) (h hot, ok bool) {
	s := wire.NewScanner(data)
	choices := false
	s.Object(func(name []byte) {
		switch string(name) {
		case "id":
			h.id = s.Text()
		case "model":
			h.model = s.Text()
		case "choices":
			choices = true
			s.Expect('[')
			h.choice(&s)
			s.Expect(']')
		case "usage":
			h.usage = s.Value()
		case "error", "errors", "message", "detail", "x_groq":
			s.Null()
		case "object":
			if string(s.Text()) == "error" {
				s.Fail()
			}
		default:
			s.Skip()
		}
	})
	return h, choices && s.Ended()
}

func (h *hot) choice(s *wire.Scanner) {
	s.Object(func(name []byte) {
		switch string(name) {
		case "index":
			if s.Digits() != 0 {
				s.Fail()
			}
		case "delta":
			h.delta(s)
		case "finish_reason":
			if len(s.TextOrNull()) > 0 {
				s.Fail()
			}
		case "error", "message", "usage":
			s.Null()
		default:
			s.Skip()
		}
	})
}

func (h *hot) delta(s *wire.Scanner) {
	s.Object(func(name []byte) {
		switch string(name) {
		case "content":
			h.content = s.TextOrNull()
		case "reasoning_content", "reasoning":
			if len(h.thought) > 0 {
				s.Fail()
			}
			h.thought = s.TextOrNull()
		case "tool_calls":
			h.calls(s)
		case "refusal", "reasoning_text", "thinking", "reasoning_details", "function_call", "extra_content":
			s.Null()
		default:
			s.Skip()
		}
	})
}

func (h *hot) calls(s *wire.Scanner) {
	if s.Peek() == 'n' {
		s.Null()
		return
	}
	index := -1
	s.Expect('[')
	s.Object(func(name []byte) {
		switch string(name) {
		case "index":
			index = s.Digits()
		case "type":
			s.Skip()
		case "function":
			s.Object(func(name []byte) {
				if string(name) == "arguments" {
					h.arguments = s.Text()
				} else {
					s.Null()
				}
			})
		default:
			s.Null()
		}
	})
	s.Expect(']')
	h.index = index
	if index < 0 {
		s.Fail()
	}
}
