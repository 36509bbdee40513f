package wire

import (
	"bytes"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Lenient returns the options to read what providers send: they now and then
// name a member twice or cut a character in two.
func Lenient() json.Options { return lenient }

var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// AppendString appends s as a JSON string; broken UTF-8 in it is mended.
func AppendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // the error tells of what was mended
	return dst
}

// Unescape decodes the escaped content of a JSON string, given without its
// quotes. Broken UTF-8 in it is mended.
func Unescape(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw)
	}
	quoted := make([]byte, 0, len(raw)+len(`""`))
	quoted = append(append(append(quoted, '"'), raw...), '"')
	s, _ := jsontext.AppendUnquote(make([]byte, 0, cap(quoted)), quoted) // the error tells of what was mended
	return string(s)
}

// Half holds back the first half of a surrogate pair at the end of a piece of
// text, which some servers part from its second half. The zero value holds
// nothing.
type Half []byte

// Unescape decodes the escaped content of a JSON string that is a piece of a
// longer text.
func (h *Half) Unescape(raw []byte) string {
	if len(*h) > 0 {
		raw = append(*h, raw...)
		*h = nil
	}
	if n := len(raw) - len(`\ud800`); n >= 0 && isFirstHalf(raw[n:]) && !escaped(raw[:n]) {
		*h = bytes.Clone(raw[n:])
		raw = raw[:n]
	}
	return Unescape(raw)
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
