package tool

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
)

// coercion turns values into what a schema wants where their meaning is clear.
// It never changes the values that it is given.
type coercion struct{ root *jsonschema.Schema }

// value returns v as s wants it, and whether that differs from v.
func (c coercion) value(v any, s *jsonschema.Schema) (any, bool) {
	s = c.branch(v, deref(c.root, s))
	want := kinds(c.root, s)
	if want == nil || allows(want, v) {
		switch v := v.(type) {
		case map[string]any:
			return c.object(v, s)
		case []any:
			return c.array(v, s)
		}
		return v, false
	}
	for _, kind := range want {
		if converted, ok := c.convert(v, kind, s); ok {
			return converted, true
		}
	}
	return v, false
}

// branch returns the alternative of s that allows the type of v, or else the
// first that a conversion may reach; s itself where it has no alternatives.
func (c coercion) branch(v any, s *jsonschema.Schema) *jsonschema.Schema {
	branches := append(s.AnyOf[:len(s.AnyOf):len(s.AnyOf)], s.OneOf...)
	for _, b := range branches {
		if want := kinds(c.root, b); want == nil || allows(want, v) {
			return deref(c.root, b)
		}
	}
	for _, b := range branches {
		for _, kind := range kinds(c.root, b) {
			if _, ok := c.convert(v, kind, deref(c.root, b)); ok {
				return deref(c.root, b)
			}
		}
	}
	return s
}

func (c coercion) object(v map[string]any, s *jsonschema.Schema) (map[string]any, bool) {
	s = deref(c.root, s)
	out, changed := make(map[string]any, len(v)), false
	for name, member := range v {
		p := s.Properties[name]
		if p == nil {
			out[name] = member
			continue
		}
		want := kinds(c.root, p)
		if member == nil && want != nil && !allows(want, nil) && !slices.Contains(s.Required, name) {
			changed = true
			continue
		}
		converted, ok := c.value(member, p)
		out[name] = converted
		changed = changed || ok
	}
	return out, changed
}

func (c coercion) array(v []any, s *jsonschema.Schema) ([]any, bool) {
	if s.Items == nil {
		return v, false
	}
	out, changed := make([]any, len(v)), false
	for i, item := range v {
		converted, ok := c.value(item, s.Items)
		out[i] = converted
		changed = changed || ok
	}
	return out, changed
}

// convert makes a value of type kind from v, which has another.
func (c coercion) convert(v any, kind string, s *jsonschema.Schema) (any, bool) {
	switch v := v.(type) {
	case string:
		if converted, ok := c.parse(v, kind, s); ok {
			return converted, true
		}
	case float64:
		if kind == "string" {
			return strconv.FormatFloat(v, 'f', -1, 64), true
		}
	case bool:
		if kind == "string" {
			return strconv.FormatBool(v), true
		}
	case []any:
		if len(v) == 1 && kind != "object" && allows([]string{kind}, v[0]) {
			return v[0], true
		}
	}
	if kind != "array" || v == nil || s.Items == nil {
		return nil, false
	}
	item, _ := c.value(v, s.Items)
	if want := kinds(c.root, s.Items); want != nil && !allows(want, item) {
		return nil, false
	}
	return []any{item}, true
}

// parse reads a value of type kind from a string.
func (c coercion) parse(text, kind string, s *jsonschema.Schema) (any, bool) {
	text = strings.TrimSpace(text)
	switch kind {
	case "integer":
		if n, err := strconv.ParseInt(text, 10, 53); err == nil {
			return float64(n), true
		}
	case "number":
		var n float64
		if err := json.Unmarshal([]byte(text), &n); err == nil {
			return n, true
		}
	case "boolean":
		switch strings.ToLower(text) {
		case "true":
			return true, true
		case "false":
			return false, true
		}
	case "null":
		return nil, text == "null"
	case "array", "object":
		var v any
		if err := json.Unmarshal([]byte(text), &v, lenient); err == nil && allows([]string{kind}, v) {
			converted, _ := c.value(v, s)
			return converted, true
		}
	}
	return nil, false
}

// allows reports whether v has one of the JSON types.
func allows(types []string, v any) bool {
	kind := kindOf(v)
	return slices.Contains(types, kind) || kind == "integer" && slices.Contains(types, "number")
}

// kindOf names the JSON type of v.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}
