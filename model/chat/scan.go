package chat

import (
	"bytes"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// hot is what nearly all chunks bring: a piece of content, of reasoning, or of
// the arguments of a call that was begun before. Strings are still escaped,
// without their quotes, and point into the chunk; nil stands for none.
type hot struct {
	id, model []byte
	content   []byte
	thought   []byte
	arguments []byte
	index     int // of the call
}

// scan reads a chunk that brings nothing but what hot can hold. It reports
// false for all others, which is no judgement on them.
func scan(data []byte) (h hot, ok bool) {
	s := scanner{data: data}
	choices := false
	s.object(func(name []byte) {
		switch string(name) {
		case "id":
			h.id = s.text()
		case "model":
			h.model = s.text()
		case "choices":
			choices = true
			s.expect('[')
			s.choice(&h)
			s.expect(']')
		case "usage", "error", "errors", "message", "detail", "x_groq":
			s.null()
		case "object":
			s.failed = s.failed || string(s.text()) == "error"
		default:
			s.skip()
		}
	})
	s.space()
	return h, choices && !s.failed && s.at == len(data)
}

func (s *scanner) choice(h *hot) {
	s.object(func(name []byte) {
		switch string(name) {
		case "index":
			s.failed = s.digits() != 0 || s.failed
		case "delta":
			s.delta(h)
		case "finish_reason", "error", "message":
			s.null()
		default:
			s.skip()
		}
	})
}

func (s *scanner) delta(h *hot) {
	s.object(func(name []byte) {
		switch string(name) {
		case "content":
			h.content = s.textOrNull()
		case "reasoning_content", "reasoning":
			s.failed = s.failed || len(h.thought) > 0
			h.thought = s.textOrNull()
		case "tool_calls":
			s.calls(h)
		case "refusal", "reasoning_details", "function_call", "extra_content":
			s.null()
		default:
			s.skip()
		}
	})
}

func (s *scanner) calls(h *hot) {
	if s.peek() == 'n' {
		s.null()
		return
	}
	index := -1
	s.expect('[')
	s.object(func(name []byte) {
		switch string(name) {
		case "index":
			index = s.digits()
		case "type":
			s.skip()
		case "function":
			s.object(func(name []byte) {
				if string(name) == "arguments" {
					h.arguments = s.text()
				} else {
					s.null()
				}
			})
		default:
			s.null()
		}
	})
	s.expect(']')
	h.index = index
	s.failed = s.failed || index < 0
}

// scanner walks over JSON that it trusts to be well formed where it skips.
type scanner struct {
	data   []byte
	at     int
	failed bool
}

func (s *scanner) space() {
	for s.at < len(s.data) && (s.data[s.at] == ' ' || s.data[s.at] == '\n' || s.data[s.at] == '\t' || s.data[s.at] == '\r') {
		s.at++
	}
}

// peek returns the first byte of the next token, 0 where there is none.
func (s *scanner) peek() byte {
	s.space()
	if s.failed || s.at >= len(s.data) {
		return 0
	}
	return s.data[s.at]
}

func (s *scanner) expect(c byte) {
	if s.peek() != c {
		s.failed = true
		return
	}
	s.at++
}

// object calls member with each name of an object; it must read the value.
func (s *scanner) object(member func(name []byte)) {
	s.expect('{')
	if s.peek() == '}' {
		s.at++
		return
	}
	for !s.failed {
		name := s.text()
		s.expect(':')
		if s.failed {
			return
		}
		member(name)
		if s.peek() != ',' {
			break
		}
		s.at++
	}
	s.expect('}')
}

// text reads a string and returns what stands between its quotes.
func (s *scanner) text() []byte {
	s.expect('"')
	if s.failed {
		return nil
	}
	start := s.at
	for s.at < len(s.data) {
		switch c := s.data[s.at]; {
		case c == '"':
			s.at++
			return s.data[start : s.at-1]
		case c == '\\':
			s.at += 2
		case c < ' ':
			s.failed = true
			return nil
		default:
			s.at++
		}
	}
	s.failed = true
	return nil
}

func (s *scanner) textOrNull() []byte {
	if s.peek() == 'n' {
		s.null()
		return nil
	}
	return s.text()
}

func (s *scanner) null() {
	s.space()
	if s.failed || !bytes.HasPrefix(s.data[s.at:], []byte("null")) {
		s.failed = true
		return
	}
	s.at += len("null")
}

// digits reads a small whole number.
func (s *scanner) digits() int {
	s.space()
	n, start := 0, s.at
	for s.at < len(s.data) && s.data[s.at] >= '0' && s.data[s.at] <= '9' && s.at-start < 9 {
		n = 10*n + int(s.data[s.at]-'0')
		s.at++
	}
	s.failed = s.failed || s.at == start
	return n
}

// skip reads over any value.
func (s *scanner) skip() {
	depth := 0
	for !s.failed {
		switch c := s.peek(); c {
		case '"':
			s.text()
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			depth--
			s.at++
		case ',', ':':
			s.at++
		case 0:
			s.failed = true
		default:
			s.literal()
		}
		if depth <= 0 {
			s.failed = s.failed || depth < 0
			return
		}
	}
}

// literal reads over a number, true, false or null.
func (s *scanner) literal() {
	start := s.at
	for s.at < len(s.data) {
		c := s.data[s.at]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' {
			break
		}
		s.at++
	}
	s.failed = s.failed || s.at == start
}

// half holds back the first half of a surrogate pair at the end of a piece of
// text: some servers part it from the second.
type half []byte

// unescape decodes the escaped content of a string that is a piece of a longer
// text.
func (h *half) unescape(raw []byte) string {
	if len(*h) > 0 {
		raw = append(*h, raw...)
		*h = nil
	}
	if n := len(raw) - len(`\ud800`); n >= 0 && isFirstHalf(raw[n:]) && !escaped(raw[:n]) {
		*h = bytes.Clone(raw[n:])
		raw = raw[:n]
	}
	return unescape(raw)
}

// unescape decodes the escaped content of a string.
func unescape(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw)
	}
	quoted := make([]byte, 0, len(raw)+len(`""`))
	quoted = append(append(append(quoted, '"'), raw...), '"')
	s, _ := jsontext.AppendUnquote(quoted[:0:0], quoted) // broken UTF-8 comes back mended
	return string(s)
}

// isFirstHalf reports whether esc is an escape from \ud800 to \udbff.
func isFirstHalf(esc []byte) bool {
	return esc[0] == '\\' && esc[1] == 'u' && esc[2]|0x20 == 'd' && bytes.IndexByte([]byte("89abAB"), esc[3]) >= 0
}

// escaped reports whether what follows before is escaped by a backslash.
func escaped(before []byte) bool {
	n := 0
	for n < len(before) && before[len(before)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}
