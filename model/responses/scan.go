package responses

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// event is what the decoder must know of every event of a stream. The slices
// point into the event's data: values are raw JSON, kind is without quotes.
type event struct {
	kind   []byte
	delta  []byte
	itemID []byte
	// item, arguments, input and name are what the events have that come once
	// for each item.
	item, arguments, input, name jsontext.Value
	// output is the item's place in the output, part the place of the piece of
	// content in the item; -1 for none.
	output, part int
	// fault tells that there is an error object.
	fault bool
}

// scan reads the members of the object in data at its first level. It reports
// whether data is an object that ends. What is inside of the values is not
// checked. It takes no memory and one pass: most events of a stream bring a
// word or two, and nothing else is done to them.
func (e *event) scan(data []byte) bool {
	*e = event{output: -1, part: -1}
	i := skipSpace(data, 0)
	if i == len(data) || data[i] != '{' {
		return false
	}
	for i++; ; {
		i = skipSpace(data, i)
		if i == len(data) {
			return false
		}
		switch data[i] {
		case '}':
			return true
		case ',':
			i++
			continue
		}
		keyEnd := skipString(data, i)
		if keyEnd < 0 {
			return false
		}
		key := data[i+1 : keyEnd-1]
		if i = skipSpace(data, keyEnd); i == len(data) || data[i] != ':' {
			return false
		}
		i = skipSpace(data, i+1)
		end := skipValue(data, i)
		if end < 0 {
			return false
		}
		e.set(key, data[i:end])
		i = end
	}
}

func (e *event) set(key, value []byte) {
	switch string(key) {
	case "type":
		if len(value) >= 2 && value[0] == '"' {
			e.kind = value[1 : len(value)-1]
		}
	case "delta":
		e.delta = value
	case "item_id":
		e.itemID = value
	case "item":
		e.item = value
	case "arguments":
		e.arguments = value
	case "input":
		e.input = value
	case "name":
		e.name = value
	case "output_index":
		e.output = number(value)
	case "content_index", "summary_index":
		e.part = number(value)
	case "error":
		e.fault = string(value) != "null"
	}
}

func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r') {
		i++
	}
	return i
}

// skipString returns where the string that begins at i ends, or -1.
func skipString(data []byte, i int) int {
	if i >= len(data) || data[i] != '"' {
		return -1
	}
	for i++; i < len(data); i++ {
		switch data[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return -1
}

// skipValue returns where the value that begins at i ends, or -1.
func skipValue(data []byte, i int) int {
	if i >= len(data) {
		return -1
	}
	switch data[i] {
	case '"':
		return skipString(data, i)
	case '{', '[':
		return skipNested(data, i)
	}
	start := i
	for i < len(data) && !strings.ContainsRune(",}] \n\t\r", rune(data[i])) {
		i++
	}
	if i == start || i == len(data) {
		return -1
	}
	return i
}

// skipNested returns where the object or array that begins at i ends, or -1.
func skipNested(data []byte, i int) int {
	for depth := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			end := skipString(data, i)
			if end < 0 {
				return -1
			}
			i = end - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// number reads a small number; -1 stands for anything else.
func number(value []byte) int {
	n := 0
	for _, c := range value {
		if c < '0' || c > '9' || n > 1<<20 {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	if len(value) == 0 {
		return -1
	}
	return n
}

// unquote returns the string that value is; "" for anything else. Invalid
// UTF-8 and lone surrogates become the replacement character.
func unquote(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	s, err := jsontext.AppendUnquote(make([]byte, 0, len(value)), value)
	if err != nil && len(s) == 0 {
		return strings.ToValidUTF8(string(inner), "\uFFFD")
	}
	return string(s)
}
