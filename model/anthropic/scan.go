package anthropic

import (
	"bytes"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

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
	s := scanner{data: data}
	s.expect(`{`)
	s.expect(`"type"`)
	s.expect(`:`)
	s.expect(`"content_block_delta"`)
	s.expect(`,`)
	s.expect(`"index"`)
	s.expect(`:`)
	d.index = s.digits()
	s.expect(`,`)
	s.expect(`"delta"`)
	s.expect(`:`)
	s.expect(`{`)
	s.expect(`"type"`)
	s.expect(`:`)
	d.kind = s.quoted()
	s.expect(`,`)
	field := s.quoted()
	s.expect(`:`)
	d.text = s.quoted()
	s.expect(`}`)
	s.expect(`}`)
	return d, s.atEnd() && hotField(d.kind, field)
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

// scanner walks over JSON that must look as expected.
type scanner struct {
	data   []byte
	at     int
	failed bool
}

func (s *scanner) space() {
	for s.at < len(s.data) && (s.data[s.at] == ' ' || s.data[s.at] == '\t' || s.data[s.at] == '\n' || s.data[s.at] == '\r') {
		s.at++
	}
}

func (s *scanner) expect(token string) {
	s.space()
	if s.failed || len(s.data)-s.at < len(token) || string(s.data[s.at:s.at+len(token)]) != token {
		s.failed = true
		return
	}
	s.at += len(token)
}

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

// quoted reads a string and returns what stands between its quotes.
func (s *scanner) quoted() []byte {
	s.expect(`"`)
	if s.failed {
		return nil
	}
	start := s.at
	for {
		i := bytes.IndexByte(s.data[s.at:], '"')
		if i < 0 {
			s.failed = true
			return nil
		}
		s.at += i
		if !escaped(s.data[start:s.at]) {
			break
		}
		s.at++
	}
	s.at++
	return s.data[start : s.at-1]
}

// escaped reports whether what follows before is escaped by a backslash.
func escaped(before []byte) bool {
	n := 0
	for n < len(before) && before[len(before)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

func (s *scanner) atEnd() bool {
	s.space()
	return !s.failed && s.at == len(s.data)
}

// piece decodes the escaped content of a JSON string that belongs to a longer
// text. A first half of a surrogate pair at its end, which some gateways part
// from its second, is kept in held for the next piece.
func piece(raw []byte, held *[]byte) string {
	if len(*held) == 0 && bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw)
	}
	quoted := make([]byte, 0, len(*held)+len(raw)+2)
	quoted = append(quoted, '"')
	quoted = append(append(quoted, *held...), raw...)
	*held = (*held)[:0]
	if n := len(quoted) - 6; n >= 1 && isHighSurrogate(quoted[n:]) && !escaped(quoted[1:n]) {
		*held = append(*held, quoted[n:]...)
		quoted = quoted[:n]
	}
	quoted = append(quoted, '"')
	s, _ := jsontext.AppendUnquote(nil, quoted) // broken UTF-8 comes back mended
	return string(s)
}

// isHighSurrogate reports whether esc is an escape from \ud800 to \udbff.
func isHighSurrogate(esc []byte) bool {
	if esc[0] != '\\' || esc[1] != 'u' || esc[2]|0x20 != 'd' {
		return false
	}
	switch esc[3] {
	case '8', '9', 'a', 'b', 'A', 'B':
		return true
	}
	return false
}
