package tool

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
)

// maxProblems bounds how many faults of one call are listed.
const maxProblems = 8

// explainer lists what is wrong with a value in words that let a model mend it.
// It knows the rules that calls really break; what it does not know it lets
// pass.
type explainer struct {
	root     *jsonschema.Schema
	problems []string
}

func (e *explainer) add(path, format string, args ...any) {
	if path == "" {
		path = "arguments"
	}
	if len(e.problems) < maxProblems {
		e.problems = append(e.problems, path+": "+fmt.Sprintf(format, args...))
	}
}

func (e *explainer) value(path string, v any, s *jsonschema.Schema) {
	s = deref(e.root, s)
	if want := kinds(e.root, s); want != nil && !allows(want, v) {
		e.add(path, "want %s, got %s", strings.Join(want, " or "), show(v))
		return
	}
	if s.Enum != nil && !slices.ContainsFunc(s.Enum, func(one any) bool { return jsonschema.Equal(one, v) }) {
		var values []string
		for _, one := range s.Enum {
			values = append(values, literal(one))
		}
		e.add(path, "want one of %s, got %s", strings.Join(values, ", "), show(v))
		return
	}
	switch v := v.(type) {
	case map[string]any:
		e.object(path, v, s)
	case []any:
		e.array(path, v, s)
	case float64:
		e.number(path, v, s)
	case string:
		e.text(path, v, s)
	}
}

func (e *explainer) object(path string, v map[string]any, s *jsonschema.Schema) {
	unknown := ""
	if names := e.unknown(v, s); len(names) > 0 {
		unknown = strings.Join(names, ", ")
	}
	for _, name := range s.Required {
		if _, ok := v[name]; ok {
			continue
		}
		what := "value"
		if p := s.Properties[name]; p != nil && kinds(e.root, p) != nil {
			what = strings.Join(kinds(e.root, p), " or ")
		}
		if unknown != "" {
			e.add(join(path, name), "missing, want %s (the call has %s, which the tool does not know)", what, unknown)
			continue
		}
		e.add(join(path, name), "missing, want %s", what)
	}
	if unknown != "" && s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil {
		e.add(path, "unknown %s; the members are %s", unknown, strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if p := s.Properties[name]; p != nil {
			e.value(join(path, name), v[name], p)
		}
	}
}

func (e *explainer) unknown(v map[string]any, s *jsonschema.Schema) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if s.Properties[name] == nil && len(s.PatternProperties) == 0 {
			names = append(names, name)
		}
	}
	return names
}

func (e *explainer) array(path string, v []any, s *jsonschema.Schema) {
	if s.MinItems != nil && len(v) < *s.MinItems {
		e.add(path, "want at least %d elements, got %d", *s.MinItems, len(v))
	}
	if s.MaxItems != nil && len(v) > *s.MaxItems {
		e.add(path, "want at most %d elements, got %d", *s.MaxItems, len(v))
	}
	if s.Items == nil {
		return
	}
	for i, item := range v {
		e.value(fmt.Sprintf("%s[%d]", path, i), item, s.Items)
	}
}

func (e *explainer) number(path string, v float64, s *jsonschema.Schema) {
	if s.Minimum != nil && v < *s.Minimum {
		e.add(path, "want at least %v, got %v", *s.Minimum, v)
	}
	if s.Maximum != nil && v > *s.Maximum {
		e.add(path, "want at most %v, got %v", *s.Maximum, v)
	}
}

func (e *explainer) text(path, v string, s *jsonschema.Schema) {
	if n := len([]rune(v)); s.MinLength != nil && n < *s.MinLength {
		e.add(path, "want at least %d characters, got %d", *s.MinLength, n)
	} else if s.MaxLength != nil && n > *s.MaxLength {
		e.add(path, "want at most %d characters, got %d", *s.MaxLength, n)
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// show tells the type of v and, if it is short, v itself.
func show(v any) string {
	if v == nil {
		return "null"
	}
	return kindOf(v) + " " + literal(v)
}

func literal(v any) string {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return fmt.Sprint(v)
	}
	return shorten(string(b), 60)
}
