package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// node is a JSON value whose objects keep the order of their members. Its
// methods may be called on nil, which is a missing value.
type node struct {
	kind   jsontext.Kind // '{', '[' or that of a plain value
	names  []string      // of an object
	values []*node       // of an object or array
	raw    []byte        // of any other
}

// newObject makes an object of names and values in turn.
func newObject(members ...any) *node {
	n := &node{kind: '{'}
	for i := 0; i+1 < len(members); i += 2 {
		n.set(members[i].(string), members[i+1].(*node))
	}
	return n
}

func newArray(values []*node) *node { return &node{kind: '[', values: values} }

func newString(s string) *node {
	raw, _ := jsontext.AppendQuote(nil, s) // U+FFFD in the place of invalid UTF-8 is fine
	return &node{kind: '"', raw: raw}
}

// parseNode reads one JSON value; none at all counts as an empty object.
func parseNode(raw json.RawMessage) (*node, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return &node{kind: 'n', raw: []byte("null")}, nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	n, err := readNode(d)
	if err != nil {
		return nil, err
	}
	if d.PeekKind() != 0 {
		return nil, fmt.Errorf("there is more behind the value at byte %d", d.InputOffset())
	}
	return n, nil
}

func readNode(d *jsontext.Decoder) (*node, error) {
	n := &node{kind: d.PeekKind()}
	if n.kind != '{' && n.kind != '[' {
		v, err := d.ReadValue()
		n.raw = slices.Clone([]byte(v))
		return n, err
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		name := ""
		if n.kind == '{' {
			t, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			name = t.String()
		}
		v, err := readNode(d)
		if err != nil {
			return nil, err
		}
		if n.kind == '{' {
			n.set(name, v)
		} else {
			n.values = append(n.values, v)
		}
	}
	_, err := d.ReadToken()
	return n, err
}

func (n *node) isObject() bool { return n != nil && n.kind == '{' }

func (n *node) isArray() bool { return n != nil && n.kind == '[' }

func (n *node) isBool() bool { return n.is("true") || n.is("false") }

// is reports whether n is the literal raw.
func (n *node) is(raw string) bool { return n != nil && string(n.raw) == raw }

// text returns the string that n is.
func (n *node) text() (s string, ok bool) {
	if n == nil || n.kind != '"' {
		return "", false
	}
	b, _ := jsontext.AppendUnquote(nil, n.raw) // it is valid, or has U+FFFD in it
	return string(b), true
}

// elements returns the values of an array, nil for anything else.
func (n *node) elements() []*node {
	if !n.isArray() {
		return nil
	}
	return n.values
}

// get returns a member of an object, nil if there is none.
func (n *node) get(name string) *node {
	if !n.isObject() {
		return nil
	}
	if i := slices.Index(n.names, name); i >= 0 {
		return n.values[i]
	}
	return nil
}

// set replaces a member or adds it at the end.
func (n *node) set(name string, v *node) {
	if i := slices.Index(n.names, name); i >= 0 {
		n.values[i] = v
		return
	}
	n.names, n.values = append(n.names, name), append(n.values, v)
}

// setFirst replaces a member or adds it at the start.
func (n *node) setFirst(name string, v *node) {
	if n.get(name) == nil {
		n.names, n.values = slices.Insert(n.names, 0, name), slices.Insert(n.values, 0, v)
	}
	n.set(name, v)
}

func (n *node) remove(name string) {
	if i := slices.Index(n.names, name); i >= 0 {
		n.names, n.values = slices.Delete(n.names, i, i+1), slices.Delete(n.values, i, i+1)
	}
}

// copyMissing takes the named members from other that n does not have.
func (n *node) copyMissing(other *node, names ...string) {
	for _, name := range names {
		if v := other.get(name); v != nil && n.get(name) == nil {
			n.set(name, v)
		}
	}
}

// hasType reports whether the type of the schema n is t, or t among others.
func (n *node) hasType(t string) bool {
	is := func(v *node) bool { s, ok := v.text(); return ok && s == t }
	v := n.get("type")
	return is(v) || slices.ContainsFunc(v.elements(), is)
}

// equal reports whether n and other are written the same.
func (n *node) equal(other *node) bool { return bytes.Equal(n.append(nil), other.append(nil)) }

// append appends n as JSON to dst.
func (n *node) append(dst []byte) []byte {
	switch n.kind {
	case '{', '[':
		dst = append(dst, byte(n.kind))
		for i, v := range n.values {
			if i > 0 {
				dst = append(dst, ',')
			}
			if n.kind == '{' {
				dst, _ = jsontext.AppendQuote(dst, n.names[i]) // as in newString
				dst = append(dst, ':')
			}
			dst = v.append(dst)
		}
		return append(dst, byte(n.kind)+2) // } and ] stand two behind { and [
	}
	return append(dst, n.raw...)
}

// The members of a schema that are schemas, arrays of them or objects of them.
var (
	schemaMembers = []string{
		"items", "additionalItems", "additionalProperties", "unevaluatedProperties", "unevaluatedItems",
		"contains", "propertyNames", "contentSchema", "not", "if", "then", "else",
	}
	schemaArrays  = []string{"anyOf", "oneOf", "allOf", "prefixItems", "items"}
	schemaObjects = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)

// eachSchema calls f with each schema directly in n, which f may replace, and
// with whether true and false are common in its place.
func (n *node) eachSchema(f func(at **node, boolean bool)) {
	if !n.isObject() {
		return
	}
	for i, name := range n.names {
		v := n.values[i]
		switch {
		case slices.Contains(schemaMembers, name) && !v.isArray():
			f(&n.values[i], name != "items" && name != "not" && name != "if")
		case slices.Contains(schemaArrays, name) && v.isArray(),
			slices.Contains(schemaObjects, name) && v.isObject():
			for k := range v.values {
				f(&v.values[k], false)
			}
		}
	}
}

// anchor finds the schema in n with the given $anchor, or the id of older drafts.
func (n *node) anchor(name string) (found *node) {
	for member, want := range map[string]string{"$anchor": name, "$dynamicAnchor": name, "$id": "#" + name, "id": "#" + name} {
		if s, ok := n.get(member).text(); ok && s == want {
			return n
		}
	}
	n.eachSchema(func(at **node, _ bool) {
		if found == nil {
			found = (*at).anchor(name)
		}
	})
	return found
}
