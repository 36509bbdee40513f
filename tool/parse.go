package tool

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ErrCut says that the arguments of a call are not whole because the reply was
// cut by its length limit.
var ErrCut = errors.New("the arguments were cut off by the length limit of the reply, so nothing was run: " +
	"make the call again with less in it, or split it into several smaller calls")

// ParseArguments returns the arguments of a call as a JSON object.
//
// Nothing at all and null are the empty object. A JSON string that holds an
// object, an array of one object, an object in a code fence, and an object that
// was sent twice are unwrapped. JSON that is broken in a way that leaves no
// doubt about its meaning is repaired: trailing commas, control characters in
// strings, single quotes, Python's constants, one or two missing closing
// brackets, surplus ones at the end. Where the meaning is in doubt the error
// says what is wrong and where, in words for the model.
//
// cut says that the reply was cut by its length: then nothing is repaired, and
// arguments that are not whole are ErrCut.
func ParseArguments(raw string, cut bool) (stdjson.RawMessage, error) {
	text := strings.TrimSpace(raw)
	if text == "" || text == "null" {
		return stdjson.RawMessage("{}"), nil
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	if whole := jsontext.Value(text); whole.IsValid(lenient) {
		return unwrap(whole)
	}
	if cut {
		return nil, ErrCut
	}
	if fixed, ok := repair(text); ok {
		return unwrap([]byte(fixed))
	}
	return nil, syntaxError(text)
}

// unwrap returns the object that the valid JSON in text is or holds.
func unwrap(text []byte) (stdjson.RawMessage, error) {
	for range 3 {
		switch text[0] {
		case '{':
			return text, nil
		case '"':
			var inner string
			if err := json.Unmarshal(text, &inner, lenient); err != nil {
				return nil, fmt.Errorf("the arguments are a JSON string that cannot be read: %w", err)
			}
			if inner = strings.TrimSpace(inner); inner == "" {
				return stdjson.RawMessage("{}"), nil
			}
			if syntaxError(inner) != nil {
				return nil, errors.New("the arguments are a JSON string, want a JSON object")
			}
			text = []byte(inner)
		case '[':
			var inner []jsontext.Value
			if err := json.Unmarshal(text, &inner, lenient); err != nil || len(inner) != 1 {
				return nil, fmt.Errorf("the arguments are a JSON array of %d elements, want one JSON object", len(inner))
			}
			text = inner[0]
		case 'n':
			return stdjson.RawMessage("{}"), nil
		default:
			return nil, fmt.Errorf("the arguments are %.40s, want a JSON object", text)
		}
	}
	return nil, errors.New("the arguments are wrapped too deeply, want a JSON object")
}

// syntaxError reports where text stops being one JSON value, in words for the
// model; nil if it is one.
func syntaxError(text string) error {
	v := jsontext.Value(text)
	if v.IsValid(lenient) {
		return nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(v), lenient)
	_, err := dec.ReadValue()
	if err == nil {
		return fmt.Errorf("the arguments are not one JSON object: %s follows it", shorten(text[dec.InputOffset():], 40))
	}
	syntactic, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the arguments are not valid JSON: they end in the middle, after `%s`", tail(text, 40))
	}
	at := min(int(syntactic.ByteOffset), len(text))
	return fmt.Errorf("the arguments are not valid JSON: %w at byte %d, after `%s` and before `%s`",
		syntactic.Err, at, tail(text[:at], 30), shorten(text[at:], 30))
}

// repair returns the one JSON value that text surely means.
func repair(text string) (string, bool) {
	text = unfence(text)
	first, rest, whole := span(text)
	if !whole {
		return "", false
	}
	fixed, ok := fix(first)
	if !ok {
		return "", false
	}
	if strings.Trim(rest, "]} \t\r\n") == "" {
		return fixed, true
	}
	second, ok := repair(strings.TrimSpace(rest))
	if !ok {
		return "", false
	}
	return sameObject(fixed, second)
}

// sameObject returns the one of two objects in a row that is meant: they are
// equal, or one of them is empty.
func sameObject(a, b string) (string, bool) {
	x, y := canonical([]byte(a)), canonical([]byte(b))
	switch {
	case bytes.Equal(x, y), string(y) == "{}":
		return a, true
	case string(x) == "{}":
		return b, true
	}
	return "", false
}

// unfence takes a Markdown code fence off.
func unfence(text string) string {
	inner, ok := strings.CutPrefix(text, "```")
	if !ok {
		return text
	}
	inner = strings.TrimSuffix(strings.TrimSpace(inner), "```")
	return strings.TrimSpace(strings.TrimPrefix(inner, "json"))
}

// span finds the first object in text and what follows it. ok is false where
// the object cannot be told for sure: it ends inside of a string or in the
// middle of a member, a member lacks its value, a bracket closes one of the
// other kind, it lacks more than two closing brackets, or it holds escapes or
// words that JSON does not have.
func span(text string) (object, rest string, ok bool) {
	if text == "" || text[0] != '{' {
		return "", "", false
	}
	var open []byte // the brackets that are to come
	last := byte(0)
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '{', '[':
			open = append(open, c+2) // in ASCII a bracket and its partner are two apart
			i++
		case '}', ']':
			i++
			if last == ':' || open[len(open)-1] != c {
				return "", "", false
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				return text[:i], text[i:], true
			}
		case '"', '\'':
			n := quoted(text[i:])
			if n == 0 {
				return "", "", false
			}
			i += n
		case ' ', '\t', '\r', '\n':
			i++
			continue
		case ',', ':':
			i++
		default:
			n := word(text[i:])
			if n == 0 {
				return "", "", false
			}
			i += n
		}
		last = text[i-1]
	}
	return text, "", len(open) <= 2 && last != ',' && last != ':'
}

// quoted returns the length of the string literal at the start of text; 0 if it
// does not end or has an escape that JSON does not know.
func quoted(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case text[0]:
			return i + 1
		case '\\':
			i++
			if i == len(text) || !strings.ContainsRune(`"\/bfnrtu'`, rune(text[i])) {
				return 0
			}
		}
	}
	return 0
}

// word returns the length of the number or constant at the start of text; 0 if
// there is none.
func word(text string) int {
	n := strings.IndexAny(text, " \t\r\n,:{}[]\"'")
	if n < 0 {
		n = len(text)
	}
	switch text[:n] {
	case "true", "false", "null", "True", "False", "None":
		return n
	}
	if jsontext.Value(text[:n]).IsValid() {
		return n
	}
	return 0
}

// shorten returns at most n bytes from the start of s.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// tail returns at most n bytes from the end of s.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return "…" + strings.ToValidUTF8(s[len(s)-n:], "")
}
