package tool

import (
	stdjson "encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// Validate checks the arguments of a call, a JSON object, against t's schema
// and returns them, coerced where they do not fit but their meaning is clear:
// "5" for an integer, "true" for a boolean, JSON in a string for an array or an
// object, a single value for a list, null for a member that may be left out.
// Arguments that fit are returned as they are. Members that the schema does not
// name are allowed unless it forbids them.
//
// The error is in words for the model: it names each member that is wrong, what
// is expected there and what it got.
//
// The schema of a tool made by New is compiled once. A schema that cannot be
// compiled is checked as far as it is understood.
func Validate(t *Tool, args stdjson.RawMessage) (stdjson.RawMessage, error) {
	schema := t.schema
	if schema == nil {
		schema = newLazySchema(t.Schema)
	}
	return schema.validate(t.Name, args)
}

// lazySchema is a schema that is compiled when it is first needed, once: most
// arguments are plain and fit, which flat tells without the whole schema.
type lazySchema struct {
	flat    func() *flat // nil where the schema is not of that kind
	compile func() compiledSchema
}

// compiledSchema is a schema ready for use. Both are nil where it cannot be
// understood at all, resolved where it has references that lead nowhere.
type compiledSchema struct {
	root     *jsonschema.Schema
	resolved *jsonschema.Resolved
}

func newLazySchema(raw stdjson.RawMessage) *lazySchema {
	return &lazySchema{
		flat: sync.OnceValue(func() *flat { return newFlat(raw) }),
		compile: sync.OnceValue(func() compiledSchema {
			root := new(jsonschema.Schema)
			if err := root.UnmarshalJSON(raw); err != nil {
				return compiledSchema{}
			}
			root.Schema = "" // the library refuses drafts that it does not know by name
			resolved, err := root.Resolve(nil)
			if err != nil {
				return compiledSchema{root: root}
			}
			return compiledSchema{root: root, resolved: resolved}
		}),
	}
}

// ready returns the arguments of a call as JSON if they need neither repair nor
// the whole schema, as most do.
func (l *lazySchema) ready(arguments string) (args stdjson.RawMessage, ok bool) {
	f := l.flat()
	if f == nil {
		return nil, false
	}
	args = stdjson.RawMessage(strings.TrimSpace(arguments))
	return args, f.fits(args)
}

func (l *lazySchema) validate(tool string, args stdjson.RawMessage) (stdjson.RawMessage, error) {
	if f := l.flat(); f != nil && f.fits(args) {
		return args, nil
	}
	c := l.compile()
	var object map[string]any
	if err := json.Unmarshal(args, &object, lenient); err != nil {
		return nil, fmt.Errorf("the arguments of %s are not a JSON object: %w", tool, err)
	}
	if c.root == nil {
		return args, nil
	}
	err := c.fits(object)
	if err == nil {
		return args, nil
	}
	co := coercion{root: c.root}
	fixed, changed := co.object(object, c.root)
	if !changed {
		return nil, c.misfit(tool, object, err)
	}
	if err := c.fits(fixed); err != nil {
		return nil, c.misfit(tool, fixed, err)
	}
	return reencode(args, object, fixed)
}

// fits reports whether the arguments fit the schema.
func (c compiledSchema) fits(object map[string]any) error {
	if c.resolved != nil {
		return c.resolved.Validate(object)
	}
	e := explainer{root: c.root}
	e.value("", object, c.root)
	if len(e.problems) > 0 {
		return fmt.Errorf("%s", strings.Join(e.problems, "; "))
	}
	return nil
}

// misfit words for the model why arguments do not fit.
func (c compiledSchema) misfit(tool string, object map[string]any, cause error) error {
	e := explainer{root: c.root}
	e.value("", object, c.root)
	if len(e.problems) == 0 {
		e.problems = []string{cause.Error()}
	}
	return fmt.Errorf("the arguments of %s do not fit, so it was not run:\n- %s\nMend them and make the call again",
		tool, strings.Join(e.problems, "\n- "))
}

// reencode returns args with the members that differ between before and after
// replaced. What did not change keeps its bytes: a large number must not lose
// digits because another member was mended.
func reencode(args stdjson.RawMessage, before, after map[string]any) (stdjson.RawMessage, error) {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(args, &members, lenient); err != nil {
		return nil, err
	}
	maps.DeleteFunc(members, func(name string, _ jsontext.Value) bool {
		_, kept := after[name]
		return !kept
	})
	for name, v := range after {
		if jsonschema.Equal(before[name], v) {
			continue
		}
		b, err := json.Marshal(v, json.Deterministic(true))
		if err != nil {
			return nil, fmt.Errorf("encode member %s: %w", name, err)
		}
		members[name] = b
	}
	return json.Marshal(members, json.Deterministic(true))
}

// deref follows a local reference of s to where it leads.
func deref(root, s *jsonschema.Schema) *jsonschema.Schema {
	for range 8 {
		var next *jsonschema.Schema
		if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
			next = root.Defs[name]
		} else if name, ok := strings.CutPrefix(s.Ref, "#/definitions/"); ok {
			next = root.Definitions[name]
		} else if s.Ref == "#" {
			next = root
		}
		if next == nil {
			break
		}
		s = next
	}
	return s
}

// kinds returns the JSON types that s allows; nil for all.
func kinds(root, s *jsonschema.Schema) []string {
	s = deref(root, s)
	switch {
	case s.Type != "":
		return []string{s.Type}
	case len(s.Types) > 0:
		return s.Types
	}
	var all []string
	for _, branch := range append(s.AnyOf[:len(s.AnyOf):len(s.AnyOf)], s.OneOf...) {
		of := kinds(root, branch)
		if of == nil {
			return nil
		}
		all = append(all, of...)
	}
	return all
}
