package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// NormaliseSchema makes a JSON schema of a tool's arguments one that providers
// accept, for a single schema that they refuse fails the whole request. They
// want an object with properties at the root, without alternatives beside, and
// no object without properties or array without items anywhere.
//
// Alternatives and parts at the root become one object: it has the properties
// of all; required is what all alternatives require. Conditions at the root
// that such an object cannot express are left out, so that it admits what the
// original admits, and the tool's own validation sees to the rest. References
// stay, with the definitions that they point to, also recursive ones; one at
// the root is resolved.
//
// The result is the same for the same schema, members stay in order, and a
// schema that is fine comes back as the same bytes. An error means that the
// schema cannot be sent: it is no JSON, its root is no object, or a reference
// leads nowhere or to itself. The tool is to be left out then.
func NormaliseSchema(raw json.RawMessage) (json.RawMessage, error) {
	root, err := parseNode(raw)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	s := &schema{root: root}
	if err := s.checkRefs(s.root); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if err := s.mendRoot(); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	s.mend(s.root)
	if !s.changed {
		return raw, nil
	}
	if err := s.checkRefs(s.root); err != nil {
		return nil, fmt.Errorf("schema: after its root was made one object: %w", err)
	}
	return s.root.append(nil), nil
}

// schema is a schema that is being normalised.
type schema struct {
	root    *node
	changed bool
	merges  int // of parts of the root so far
}

// maxMerges bounds the work on a root whose alternatives refer to each other.
const maxMerges = 10_000

// mend completes n and the schemas in it.
func (s *schema) mend(n *node) {
	if n.isObject() {
		if n.hasType("object") {
			s.complete(n, "properties")
		}
		if n.hasType("array") {
			s.complete(n, "items")
		}
		if r := n.get("required"); r != nil && !r.isArray() {
			n.remove("required")
			s.changed = true
		}
	}
	n.eachSchema(func(at **node, boolean bool) {
		if fixed := plain(*at, boolean); fixed != *at {
			*at, s.changed = fixed, true
		}
		s.mend(*at)
	})
}

// complete gives n the member name, an object, if it is missing or of another
// kind.
func (s *schema) complete(n *node, name string) {
	v := n.get(name)
	switch {
	case v.isObject(), v != nil && v.isBool() && name == "items":
		return
	case v.isArray() && len(v.values) > 0 && name == "items": // a tuple as it was before 2020
		n.set(name, alternatives(slices.Clone(v.values)))
	default:
		n.set(name, newObject())
	}
	s.changed = true
}

// plain returns the object that a schema that is none stands for. Where boolean
// says so, true and false are well known and stay.
func plain(n *node, boolean bool) *node {
	switch {
	case n.isObject() || boolean && n.isBool():
		return n
	case n.is("false"):
		return newObject("not", newObject())
	}
	return newObject()
}

// notAtRoot are the members that providers refuse at the root.
var notAtRoot = []string{"$ref", "allOf", "anyOf", "oneOf", "not", "enum", "const", "if", "then", "else"}

// mendRoot makes the root one object.
func (s *schema) mendRoot() error {
	root := s.root
	switch {
	case root.is("null"), root.is("true"):
		root, s.changed = newObject(), true
	case !root.isObject():
		return errors.New("the root is no object")
	}
	if slices.ContainsFunc(notAtRoot, func(name string) bool { return root.get(name) != nil }) {
		m, ok := s.collect(root, nil)
		if s.merges > maxMerges {
			return errors.New("the root has too many alternatives")
		}
		if !ok {
			return errors.New("the root is no object")
		}
		root = m.onto(root)
		s.changed = true
	}
	if t := root.get("type"); t != nil && !root.hasType("object") {
		return fmt.Errorf("the root is of type %s, not an object", t.append(nil))
	} else if t == nil || t.isArray() {
		root.setFirst("type", newString("object"))
		s.changed = true
	}
	s.root = root
	return nil
}

// checkRefs checks that each reference in n leads to a schema.
func (s *schema) checkRefs(n *node) error {
	if _, err := s.deref(n); err != nil {
		return err
	}
	var failed error
	n.eachSchema(func(at **node, _ bool) {
		if failed == nil {
			failed = s.checkRefs(*at)
		}
	})
	return failed
}

// deref follows the reference that n is, and that that is, to its end.
func (s *schema) deref(n *node) (*node, error) {
	for seen := []*node{n}; ; seen = append(seen, n) {
		ref, ok := n.get("$ref").text()
		if !ok {
			return n, nil
		}
		if n = s.lookup(ref); n == nil {
			return nil, fmt.Errorf("the reference %q leads nowhere", ref)
		}
		if slices.Contains(seen, n) {
			return nil, fmt.Errorf("the reference %q leads to itself", ref)
		}
	}
}

// lookup returns what ref points to in this schema, or nil: a JSON pointer
// (RFC 6901) in a fragment, or the name of an anchor.
func (s *schema) lookup(ref string) *node {
	if id, ok := s.root.get("$id").text(); ok {
		ref = "#" + strings.TrimPrefix(strings.TrimPrefix(ref, strings.TrimSuffix(id, "#")), "#")
	}
	fragment, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	if plain, err := url.PathUnescape(fragment); err == nil {
		fragment = plain
	}
	if fragment == "" {
		return s.root
	}
	if fragment[0] != '/' {
		return s.root.anchor(fragment)
	}
	n := s.root
	for _, step := range strings.Split(fragment, "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		if n.isArray() {
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(n.values) {
				return nil
			}
			n = n.values[i]
		} else if n = n.get(step); n == nil {
			return nil
		}
	}
	if n.isObject() || n.isBool() {
		return n
	}
	return nil
}
