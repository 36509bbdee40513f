package chat

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// joinArguments joins the pieces of a call's arguments. Nothing at all, and
// null, are an empty object. Where the pieces do not join to one JSON value but
// say the same several times over, as some servers do with their last chunk,
// they count once. Anything else that is not valid stays as it is.
func joinArguments(pieces []string) string {
	whole := strings.Join(pieces, "")
	switch strings.TrimSpace(whole) {
	case "", "null":
		return "{}"
	}
	if len(pieces) == 0 || jsontext.Value(whole).IsValid(lenient) {
		return whole
	}
	if last := pieces[len(pieces)-1]; len(pieces) > 1 && isRepeat(pieces[:len(pieces)-1], last) {
		return last
	}
	if one, ok := onlyValue(whole); ok {
		return one
	}
	return whole
}

// isRepeat reports whether last is an object that begins with what came before
// it: with all of it, or with each piece, when each repeats the one before.
func isRepeat(before []string, last string) bool {
	if v := jsontext.Value(last); v.Kind() != '{' || !v.IsValid(lenient) {
		return false
	}
	if strings.HasPrefix(last, strings.Join(before, "")) {
		return true
	}
	for _, p := range before {
		if !strings.HasPrefix(last, p) {
			return false
		}
	}
	return true
}

// onlyValue returns the one value that s holds several times, not counting
// empty objects, which some send as a placeholder.
func onlyValue(s string) (string, bool) {
	dec := jsontext.NewDecoder(strings.NewReader(s), lenient)
	var only, canonical jsontext.Value
	for dec.StackDepth() == 0 {
		v, err := dec.ReadValue()
		if err != nil {
			return string(only), only != nil && int(dec.InputOffset()) >= len(strings.TrimRight(s, " \t\r\n"))
		}
		form := v.Clone()
		if form.Canonicalize(lenient) != nil {
			return "", false
		}
		switch {
		case only == nil, string(canonical) == "{}":
			only, canonical = v.Clone(), form
		case string(form) != "{}" && !bytes.Equal(form, canonical):
			return "", false
		}
	}
	return "", false
}

// isComplete reports whether pieces join to a whole object.
func isComplete(pieces []string) bool {
	if len(pieces) == 0 || !strings.HasSuffix(strings.TrimRight(pieces[len(pieces)-1], " \t\r\n"), "}") {
		return false
	}
	return jsontext.Value(strings.Join(pieces, "")).IsValid(lenient)
}

// customArguments makes arguments of the free text of a custom tool's call.
func customArguments(input jsontext.Value) string {
	b, _ := json.Marshal(map[string]string{"input": textOf(input)}) // strings cannot fail
	return string(b)
}
