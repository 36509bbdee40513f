package tool

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// canonical returns JSON in the one form that equal values share. It may be raw
// itself.
func canonical(raw []byte) []byte {
	if isCanonical(raw) {
		return raw
	}
	v := jsontext.Value(bytes.Clone(raw))
	if err := v.Canonicalize(lenient); err != nil {
		return raw
	}
	return v
}

// isCanonical reports whether raw has canonical form for sure: it is an object of
// plain members in order, with nothing between them.
func isCanonical(raw []byte) bool {
	s := scanner{data: raw}
	if !s.next('{') {
		return false
	}
	var last []byte
	for first := true; !s.next('}'); first = false {
		if !first && !s.next(',') {
			return false
		}
		name, ok := s.name()
		if !ok || !first && bytes.Compare(last, name) >= 0 || !s.canonical() {
			return false
		}
		last = name
	}
	return s.at == len(raw)
}

// canonical reads a plain value and reports whether there is one way only to
// write it in canonical form, which is this one.
func (s *scanner) canonical() bool {
	if s.at < len(s.data) && s.data[s.at] == '"' {
		plain, ok := s.text()
		return ok && plain
	}
	if s.word("true") || s.word("false") || s.word("null") {
		return true
	}
	start := s.at
	whole, ok := s.number()
	return ok && whole && string(s.data[start:s.at]) != "-0"
}
