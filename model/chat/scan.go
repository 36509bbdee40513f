package chat

import (
	"bytes"

	"github.com/rondo-engine/rondo/model/wire"
)

// hot is what nearly all chunks bring: a piece of content or of reasoning, calls
// that open or go on, the finish reason, the usage. Strings in bytes are still
// escaped, without their quotes, and point into the chunk; nil stands for none.
type hot struct {
	id, model []byte
	content   []byte
	thought   []byte
	calls     []piece
	finish    []byte
	usage     []byte // as it is
}

// scan reads a chunk that brings nothing but what hot can hold. It reports
// false for all others, which is no judgement on them. The calls take the room
// that pieces has.
func scan(data []byte, pieces []piece) (h hot, ok bool) {
	h.calls = pieces[:0]
	s := wire.NewScanner(data)
	choices := 0
	s.Object(func(name []byte) {
		switch string(name) {
		case "id":
			h.id = s.Text()
		case "model":
			h.model = s.Text()
		case "choices":
			choices++
			h.choices(&s)
		case "usage":
			h.usage = s.Value()
		case "error", "errors", "message", "detail", "x_groq":
			s.Null()
		case "object":
			if what := s.Text(); string(what) == "error" || bytes.IndexByte(what, '\\') >= 0 {
				s.Fail()
			}
		default:
			s.Skip()
		}
	})
	return h, choices == 1 && s.Ended()
}

// choices reads an array of one choice at most.
func (h *hot) choices(s *wire.Scanner) {
	s.Expect('[')
	if s.Peek() != ']' {
		h.choice(s)
	}
	s.Expect(']')
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
			h.finish = s.TextOrNull()
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
			h.toolCalls(s)
		case "refusal", "reasoning_text", "thinking", "reasoning_details", "function_call", "extra_content":
			s.Null()
		default:
			s.Skip()
		}
	})
}

func (h *hot) toolCalls(s *wire.Scanner) {
	if s.Peek() == 'n' {
		s.Null()
		return
	}
	h.calls = h.calls[:0]
	s.Array(func() { h.calls = append(h.calls, scanCall(s)) })
}

func scanCall(s *wire.Scanner) piece {
	p := piece{index: noIndex}
	s.Object(func(name []byte) {
		switch string(name) {
		case "index":
			p.index = s.Digits()
		case "id":
			p.id = wire.Unescape(s.TextOrNull())
		case "function":
			s.Object(func(name []byte) {
				switch string(name) {
				case "name":
					p.name = wire.Unescape(s.TextOrNull())
				case "arguments":
					p.arguments = wire.Unescape(s.TextOrNull())
				default:
					s.Skip()
				}
			})
		case "custom", "extra_content":
			s.Null()
		default:
			s.Skip()
		}
	})
	return p
}
