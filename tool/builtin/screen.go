package builtin

import (
	"strings"
	"unicode/utf8"
)

// screenText returns what a terminal shows of text at its end, line by line: a
// carriage return begins the line anew, a backspace goes back, what is erased is
// gone. Colours, titles and all else that is for the eye alone is left out. Where
// the cursor moves to another place of the screen a new line begins.
func screenText(text string) string {
	var s screen
	for len(text) > 0 {
		switch c := text[0]; c {
		case 0x1b:
			n := escapeLength(text)
			s.escape(text[:n])
			text = text[n:]
			continue
		case '\n':
			s.newline()
		case '\r':
			s.column = 0
		case '\b':
			s.column = max(s.column-1, 0)
		case '\t':
			s.put('\t')
		default:
			if c < utf8.RuneSelf {
				if c >= 0x20 && c != 0x7f {
					s.put(rune(c))
				}
				break
			}
			r, n := utf8.DecodeRuneInString(text)
			s.put(r)
			text = text[n:]
			continue
		}
		text = text[1:]
	}
	s.out.WriteString(string(s.line))
	return s.out.String()
}

// screen is the line that is being written, below those that are done.
type screen struct {
	out    strings.Builder
	line   []rune
	column int
}

func (s *screen) put(r rune) {
	for len(s.line) < s.column {
		s.line = append(s.line, ' ')
	}
	if s.column < len(s.line) {
		s.line[s.column] = r
	} else {
		s.line = append(s.line, r)
	}
	s.column++
}

func (s *screen) newline() {
	s.out.WriteString(strings.TrimRight(string(s.line), " "))
	s.out.WriteByte('\n')
	s.line, s.column = s.line[:0], 0
}

// escape carries out what an escape does to the line.
func (s *screen) escape(seq string) {
	if !strings.HasPrefix(seq, "\x1b[") || len(seq) < 3 {
		return
	}
	argument, number := seq[2:len(seq)-1], 0
	for _, c := range argument {
		if c < '0' || c > '9' {
			break
		}
		number = min(number*10+int(c-'0'), 1000)
	}
	switch seq[len(seq)-1] {
	case 'C':
		s.column = min(s.column+max(number, 1), 1000)
	case 'D':
		s.column = max(s.column-max(number, 1), 0)
	case 'G':
		s.column = max(number, 1) - 1
	case 'H', 'f', 'A', 'B', 'd':
		if len(s.line) > 0 {
			s.newline()
		}
	case 'K':
		switch number {
		case 0:
			s.line = s.line[:min(s.column, len(s.line))]
		case 1:
			for i := range min(s.column+1, len(s.line)) {
				s.line[i] = ' '
			}
		default:
			s.line = s.line[:0]
		}
	case 'P':
		if s.column < len(s.line) {
			s.line = append(s.line[:s.column], s.line[min(s.column+max(number, 1), len(s.line)):]...)
		}
	}
}

// escapeLength returns how long the escape is that text begins with (ECMA-48).
func escapeLength(text string) int {
	if len(text) < 2 {
		return len(text)
	}
	switch c := text[1]; {
	case c == '[':
		for i := 2; i < len(text); i++ {
			if text[i] >= '@' && text[i] <= '~' {
				return i + 1
			}
			if text[i] < ' ' || text[i] > '?' {
				return i // it is broken off
			}
		}
		return len(text)
	case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_':
		for i := 2; i < len(text); i++ {
			if text[i] == 0x07 {
				return i + 1
			}
			if text[i] == 0x1b {
				return min(i+2, len(text))
			}
		}
		return len(text)
	case c >= 0x20 && c <= 0x2f:
		return min(3, len(text))
	}
	return 2
}
