package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// PlainSchema reduces a JSON schema of a tool's arguments to what OpenAPI 3.0
// has in common with it, as Gemini takes it: a single type each, nullable,
// enumerations of strings, anyOf, and no references. It is nil for a tool that
// has no arguments.
//
// References are put in place of what they refer to; where one leads into
// itself, an object of any form stands. What the form cannot express is left
// out, or told in the description, so that it admits what the original admits,
// but that a value of any type is a string; the tool's own validation sees to
// the rest. A schema that becomes too long by
// its references ends in objects of any form, too. Errors are those of
// NormaliseSchema.
func PlainSchema(raw json.RawMessage) (json.RawMessage, error) {
	normal, err := NormaliseSchema(raw)
	if err != nil {
		return nil, err
	}
	root, err := parseNode(normal)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	s := &schema{root: root}
	n := s.reduce(root, nil)
	if p := n.get("properties"); p == nil || len(p.names) == 0 {
		return nil, nil
	}
	return n.append(nil), nil
}

// maxPlain is how many schemas there may be in a plain one.
const maxPlain = 1000

// kept are the members that mean the same in both, in the order in which they
// are written behind the type.
var kept = []string{
	"title", "description", "default", "pattern", "minLength", "maxLength", "minimum", "maximum",
	"minItems", "maxItems", "minProperties", "maxProperties", "nullable",
}

// reduce returns the plain form of n. Path is the schemas that n stands in.
func (s *schema) reduce(n *node, path []*node) *node {
	s.merges++
	target, err := s.deref(n)
	if err != nil || s.merges > maxPlain || slices.Contains(path, target) {
		return newObject("type", newString("object"))
	}
	path = append(path[:len(path):len(path)], target)
	out := newObject()
	out.copyMissing(n, kept...)
	out.copyMissing(target, kept...)
	if target.isObject() {
		s.reduceOwn(out, target, path)
		for _, part := range target.get("allOf").elements() {
			out.join(s.reduce(part, path))
		}
		for _, name := range []string{"anyOf", "oneOf"} {
			s.reduceChoice(out, target.get(name).elements(), path)
		}
	}
	out.settleType()
	return out
}

// reduceOwn takes over what n says itself.
func (s *schema) reduceOwn(out, n *node, path []*node) {
	out.takeTypes(n.get("type"))
	for _, pair := range [][2]string{{"exclusiveMinimum", "minimum"}, {"exclusiveMaximum", "maximum"}} {
		if v := n.get(pair[0]); v != nil && v.kind == '0' && out.get(pair[1]) == nil {
			out.set(pair[1], v)
		}
	}
	if f, _ := n.get("format").text(); f == "date-time" {
		out.set("format", n.get("format"))
	}
	if c := n.get("const"); c != nil {
		out.takeValues([]*node{c})
	}
	out.takeValues(n.get("enum").elements())
	if properties := n.get("properties"); properties.isObject() {
		reduced := newObject()
		for i, name := range properties.names {
			reduced.set(name, s.reduce(properties.values[i], path))
		}
		if len(reduced.names) > 0 {
			out.set("properties", reduced)
			out.takeRequired(n.get("required"))
		}
	}
	if items := n.get("items"); items.isObject() {
		out.set("items", s.reduce(items, path))
	}
}

// reduceChoice adds alternatives; null among them makes out nullable, and one
// that stands alone is no choice.
func (s *schema) reduceChoice(out *node, choices, path []*node) {
	var plain []*node
	for _, c := range choices {
		if t, _ := c.get("type").text(); t == "null" {
			out.set("nullable", &node{kind: 't', raw: []byte("true")})
			continue
		}
		plain = append(plain, s.reduce(c, path))
	}
	switch {
	case len(plain) == 1:
		out.join(plain[0])
	case len(plain) > 1 && out.get("anyOf") == nil:
		out.set("anyOf", newArray(plain))
	}
}

// takeTypes sets the type of n, or alternatives where there are several.
func (n *node) takeTypes(types *node) {
	var names []*node
	for _, t := range append(types.elements(), types) {
		switch name, ok := t.text(); {
		case !ok:
		case name == "null":
			n.set("nullable", &node{kind: 't', raw: []byte("true")})
		default:
			names = append(names, t)
		}
	}
	if len(names) == 1 {
		n.set("type", names[0])
	} else if len(names) > 1 {
		var choices []*node
		for _, t := range names {
			choice := newObject("type", t)
			choice.settleType()
			choices = append(choices, choice)
		}
		n.set("anyOf", newArray(choices))
	}
}

// takeValues takes the only values that are allowed. Those that are not
// strings can only be told.
func (n *node) takeValues(values []*node) {
	var texts, others []*node
	for _, v := range values {
		switch text, ok := v.text(); {
		case v.is("null"):
			n.set("nullable", &node{kind: 't', raw: []byte("true")})
		case ok && text != "":
			texts = append(texts, v)
		default:
			others = append(others, v)
		}
	}
	switch {
	case len(others) > 0:
		var words []string
		for _, v := range append(texts, others...) {
			words = append(words, string(v.append(nil)))
		}
		description, _ := n.get("description").text()
		n.set("description", newString(strings.TrimSpace(description+" One of "+strings.Join(words, ", ")+".")))
		of := func(is func(v *node) bool) bool {
			return len(texts) == 0 && !slices.ContainsFunc(others, func(v *node) bool { return !is(v) })
		}
		switch {
		case n.get("type") != nil:
		case of(func(v *node) bool { return v.kind == '0' }):
			n.set("type", newString("number"))
		case of((*node).isBool):
			n.set("type", newString("boolean"))
		}
	case len(texts) > 0:
		n.remove("anyOf") // of types: the values say which
		n.set("type", newString("string"))
		n.set("enum", newArray(texts))
	}
}

// takeRequired adds the names of required that n has properties of.
func (n *node) takeRequired(required *node) {
	names := slices.Clone(n.get("required").elements())
	for _, r := range required.elements() {
		name, ok := r.text()
		if ok && n.get("properties").get(name) != nil && !slices.ContainsFunc(names, r.equal) {
			names = append(names, r)
		}
	}
	if len(names) > 0 {
		n.set("required", newArray(names))
	}
}

// join adds to n what the plain schema other says besides.
func (n *node) join(other *node) {
	if more := other.get("properties"); more != nil {
		all := newObject()
		all.copyMissing(n.get("properties"), namesOf(n.get("properties"))...)
		all.copyMissing(more, more.names...)
		n.set("properties", all)
		n.takeRequired(other.get("required"))
	}
	for i, name := range other.names {
		if name != "required" && n.get(name) == nil {
			n.set(name, other.values[i])
		}
	}
}

func namesOf(n *node) []string {
	if n == nil {
		return nil
	}
	return n.names
}

// settleType gives n the type that its other members tell of. A value of any
// type becomes a string, which is one.
func (n *node) settleType() {
	t, _ := n.get("type").text()
	switch {
	case t != "" || n.get("anyOf") != nil:
	case n.get("properties") != nil:
		t = "object"
	case n.get("items") != nil:
		t = "array"
	case n.get("minimum") != nil || n.get("maximum") != nil:
		t = "number"
	default:
		t = "string"
	}
	if t != "" {
		n.remove("type")
		n.setFirst("type", newString(t))
	}
	if t == "array" && n.get("items") == nil {
		n.set("items", newObject("type", newString("string")))
	}
	if t != "" && t != "string" {
		n.remove("format")
	}
}
