package wire

import "bytes"

// Scanner walks over the JSON of an event whose members are known, without
// taking memory. It trusts what it skips to be well formed. Once something is
// not as expected it has failed, and what its methods return means nothing: the
// event is to be read in full then.
type Scanner struct {
	data   []byte
	at     int
	failed bool
}

// NewScanner returns a scanner at the beginning of data.
func NewScanner(data []byte) Scanner { return Scanner{data: data} }

// Fail makes s fail, as for a value that the caller cannot take.
func (s *Scanner) Fail() { s.failed = true }

// Failed reports whether s has failed.
func (s *Scanner) Failed() bool { return s.failed }

// Ended reports whether all was as expected, up to the end of the data.
func (s *Scanner) Ended() bool {
	s.space()
	return !s.failed && s.at == len(s.data)
}

func (s *Scanner) space() {
	for s.at < len(s.data) && (s.data[s.at] == ' ' || s.data[s.at] == '\n' || s.data[s.at] == '\t' || s.data[s.at] == '\r') {
		s.at++
	}
}

// Peek returns the first byte of the next token, 0 where there is none.
func (s *Scanner) Peek() byte {
	s.space()
	if s.failed || s.at >= len(s.data) {
		return 0
	}
	return s.data[s.at]
}

// Expect reads the byte c, which is a token of its own.
func (s *Scanner) Expect(c byte) {
	if s.Peek() != c {
		s.failed = true
		return
	}
	s.at++
}

// Object calls member with each name of an object; it must read the value. A
// name with escapes, which nobody sends, is not as expected.
func (s *Scanner) Object(member func(name []byte)) {
	s.Expect('{')
	if s.Peek() == '}' {
		s.at++
		return
	}
	for !s.failed {
		name := s.Text()
		s.Expect(':')
		if s.failed || bytes.IndexByte(name, '\\') >= 0 {
			s.failed = true
			return
		}
		member(name)
		if s.Peek() != ',' {
			break
		}
		s.at++
	}
	s.Expect('}')
}

// Array calls element at each element of an array; it must read the value.
func (s *Scanner) Array(element func()) {
	s.Expect('[')
	if s.Peek() == ']' {
		s.at++
		return
	}
	for !s.failed {
		element()
		if s.Peek() != ',' {
			break
		}
		s.at++
	}
	s.Expect(']')
}

// Text reads a string and returns what stands between its quotes.
func (s *Scanner) Text() []byte {
	s.Expect('"')
	if s.failed {
		return nil
	}
	for i, start := s.at, s.at; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '"':
			s.at = i + 1
			return s.data[start:i]
		case c == '\\':
			n := escape(s.data[i:])
			if n == 0 {
				s.failed = true
				return nil
			}
			i += n - 1
		case c < ' ':
			s.failed = true
			return nil
		}
	}
	s.failed = true
	return nil
}

// escape returns the length of the escape that b begins with, 0 for one that
// JSON does not have.
func escape(b []byte) int {
	if len(b) < len(`\n`) {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return len(`\n`)
	case 'u':
		const n = len(`\u0000`)
		if len(b) >= n && isHex(b[2:n]) {
			return n
		}
	}
	return 0
}

func isHex(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

// TextOrNull is Text where null may stand too; it returns nil for that.
func (s *Scanner) TextOrNull() []byte {
	if s.Peek() == 'n' {
		s.Null()
		return nil
	}
	return s.Text()
}

// Null reads null.
func (s *Scanner) Null() {
	s.space()
	if s.failed || !bytes.HasPrefix(s.data[s.at:], []byte("null")) {
		s.failed = true
		return
	}
	s.at += len("null")
}

// Digits reads a small whole number.
func (s *Scanner) Digits() int {
	s.space()
	n, start := 0, s.at
	for s.at < len(s.data) && s.data[s.at] >= '0' && s.data[s.at] <= '9' && s.at-start < 9 {
		n = 10*n + int(s.data[s.at]-'0')
		s.at++
	}
	s.failed = s.failed || s.at == start
	return n
}

// Skip reads over any value.
func (s *Scanner) Skip() {
	switch s.Peek() {
	case '"':
		s.Text()
	case '{', '[':
		s.nested()
	default:
		s.literal()
	}
}

// nested reads over an object or an array.
func (s *Scanner) nested() {
	for depth := 0; s.at < len(s.data); s.at++ {
		switch s.data[s.at] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				s.at++
				return
			}
		case '"':
			if s.Text(); s.failed {
				return
			}
			s.at-- // the loop goes on behind it
		}
	}
	s.failed = true
}

// Value reads over any value and returns it as it stands.
func (s *Scanner) Value() []byte {
	s.space()
	start := s.at
	s.Skip()
	if s.failed {
		return nil
	}
	return s.data[start:s.at]
}

// literal reads over a number, true, false or null.
func (s *Scanner) literal() {
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
