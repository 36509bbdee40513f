package gemini

import "github.com/rondo-engine/rondo/model/wire"

// hot is what nearly all events bring: a piece of text or of thought. Its
// slices point into the event; text is as it is escaped, without its quotes.
type hot struct {
	text      []byte
	thought   bool
	id, model []byte
	usage     []byte // as it is
}

// scan reads an event that brings nothing but what hot can hold. It reports
// false for all others, which is no judgement on them.
func scan(data []byte) (h hot, ok bool) {
	s := wire.NewScanner(data)
	s.Object(func(name []byte) {
		switch string(name) {
		case "candidates":
			s.Expect('[')
			h.candidate(&s)
			s.Expect(']')
		case "usageMetadata":
			h.usage = s.Value()
		case "modelVersion":
			h.model = s.Text()
		case "responseId":
			h.id = s.Text()
		case "error", "promptFeedback":
			s.Null()
		default:
			s.Skip()
		}
	})
	return h, s.Ended() && h.text != nil
}

func (h *hot) candidate(s *wire.Scanner) {
	s.Object(func(name []byte) {
		switch string(name) {
		case "content":
			h.content(s)
		case "finishReason":
			s.Null()
		case "index":
			if s.Digits() != 0 {
				s.Fail()
			}
		default:
			s.Skip()
		}
	})
}

func (h *hot) content(s *wire.Scanner) {
	s.Object(func(name []byte) {
		if string(name) != "parts" {
			s.Skip()
			return
		}
		s.Expect('[')
		h.part(s)
		s.Expect(']')
	})
}

func (h *hot) part(s *wire.Scanner) {
	s.Object(func(name []byte) {
		switch string(name) {
		case "text":
			h.text = s.Text()
		case "thought":
			h.thought = s.Peek() == 't'
			s.Skip()
		default: // a signature, or no text
			s.Fail()
		}
	})
}
