package tool

import "unicode/utf8"

// scanner reads plain JSON without taking memory. It is stricter than JSON: what
// it reads is JSON for sure, and what is not plain, such as a name with an
// escape, it refuses, so that it has to be read in another way. Once a method
// has returned false the scanner is of no more use.
type scanner struct {
	data []byte
	at   int
}

// space reads over white space.
func (s *scanner) space() {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

// token reads the byte c, which may stand behind white space. Where there is
// another it reads nothing but the white space.
func (s *scanner) token(c byte) bool {
	s.space()
	return s.next(c)
}

// next reads the byte c, or nothing where there is another.
func (s *scanner) next(c byte) bool {
	if s.at == len(s.data) || s.data[s.at] != c {
		return false
	}
	s.at++
	return true
}

// ended reports whether only white space is left.
func (s *scanner) ended() bool {
	s.space()
	return s.at == len(s.data)
}

// name reads the plain name of a member and the colon after it.
func (s *scanner) name() (name []byte, ok bool) {
	start := s.at + 1
	if plain, ok := s.text(); !ok || !plain {
		return nil, false
	}
	name = s.data[start : s.at-1]
	return name, s.next(':')
}

// text reads a string. plain says that it is ASCII without an escape.
func (s *scanner) text() (plain, ok bool) {
	if !s.next('"') {
		return false, false
	}
	start := s.at
	plain = true
	for s.at < len(s.data) {
		c := s.data[s.at]
		s.at++
		switch {
		case c == '"':
			return plain, plain || utf8.Valid(s.data[start:s.at-1])
		case c == '\\':
			plain = false
			if !s.escape() {
				return false, false
			}
		case c < ' ':
			return false, false
		case c >= utf8.RuneSelf:
			plain = false
		}
	}
	return false, false
}

// escape reads what follows a backslash. It refuses surrogates, also the pairs
// that are in order.
func (s *scanner) escape() bool {
	rest := s.data[s.at:]
	if len(rest) == 0 {
		return false
	}
	switch rest[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.at++
		return true
	case 'u':
	default:
		return false
	}
	if len(rest) < 5 || rest[1]|0x20 == 'd' && rest[2] > '7' {
		return false
	}
	for _, c := range rest[1:5] {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	s.at += 5
	return true
}

// plainDigits is how many digits a plain number may have before its point and as
// many after it: what has no more is the same number to all that read it.
const plainDigits = 15

// number reads a number without an exponent. whole says that it has no fraction
// either.
func (s *scanner) number() (whole, ok bool) {
	s.next('-')
	zero := s.at < len(s.data) && s.data[s.at] == '0'
	if n := s.digits(); n == 0 || n > plainDigits || zero && n > 1 {
		return false, false
	}
	if whole = !s.next('.'); !whole {
		if n := s.digits(); n == 0 || n > plainDigits {
			return false, false
		}
	}
	return whole, true
}

// digits reads digits and returns how many.
func (s *scanner) digits() int {
	start := s.at
	for s.at < len(s.data) && s.data[s.at] >= '0' && s.data[s.at] <= '9' {
		s.at++
	}
	return s.at - start
}

// word reads one of JSON's words.
func (s *scanner) word(word string) bool {
	rest := s.data[s.at:]
	if len(rest) < len(word) || string(rest[:len(word)]) != word {
		return false
	}
	s.at += len(word)
	return true
}
