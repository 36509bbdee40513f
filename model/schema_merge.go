package model

import "slices"

// merged is what the parts of a schema of an object come to together.
type merged struct {
	props    *node // an object
	required []string
	// note are members such as description, of the parts.
	note *node
}

// collect merges n with what it refers to and is composed of. It returns false
// if n admits no object. Path holds the schemas on the way to n: one that
// contains itself adds nothing.
func (s *schema) collect(n *node, path []*node) (m merged, ok bool) {
	m = merged{props: newObject(), note: newObject()}
	if s.merges++; s.merges > maxMerges {
		return m, false
	}
	if n.is("true") || slices.Contains(path, n) {
		return m, true
	}
	if !n.isObject() || n.get("type") != nil && !n.hasType("object") {
		return m, false
	}
	path = append(slices.Clip(path), n)
	m.note.copyMissing(n, "title", "description")
	m.takeOwn(n)

	parts := n.get("allOf").elements()
	if ref, isRef := n.get("$ref").text(); isRef {
		parts = append([]*node{s.lookup(ref)}, parts...)
	}
	for _, part := range parts {
		p, ok := s.collect(part, path)
		if !ok {
			return m, false
		}
		m.and(p)
		m.note.copyMissing(p.note, "title", "description")
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		if n.get(name).isArray() {
			p, ok := s.either(n.get(name).values, path)
			if !ok {
				return m, false
			}
			m.and(p)
		}
	}
	for _, name := range []string{"then", "else"} {
		if p, ok := s.collect(n.get(name), path); ok {
			p.required = nil
			m.and(p)
		}
	}
	return m, true
}

// takeOwn adds the properties that n itself has.
func (m *merged) takeOwn(n *node) {
	if props := n.get("properties"); props.isObject() {
		for i, name := range props.names {
			m.props.set(name, props.values[i])
		}
	}
	for _, r := range n.get("required").elements() {
		m.require(r)
	}
}

func (m *merged) require(r *node) {
	if name, ok := r.text(); ok && !slices.Contains(m.required, name) {
		m.required = append(m.required, name)
	}
}

// either merges alternatives: any property may be there, and those that all
// require must. Alternatives that admit no object do not count.
func (s *schema) either(branches, path []*node) (m merged, ok bool) {
	m = merged{props: newObject(), note: newObject()}
	choices := map[string][]*node{}
	for _, branch := range branches {
		p, admits := s.collect(branch, path)
		if !admits {
			continue
		}
		if !ok {
			m.required = p.required
		}
		ok = true
		m.required = slices.DeleteFunc(slices.Clone(m.required), func(name string) bool { return !slices.Contains(p.required, name) })
		for i, name := range p.props.names {
			m.props.set(name, p.props.values[i])
			if !slices.ContainsFunc(choices[name], p.props.values[i].equal) {
				choices[name] = append(choices[name], p.props.values[i])
			}
		}
	}
	for i, name := range m.props.names {
		m.props.values[i] = alternatives(choices[name])
	}
	return m, ok
}

// alternatives returns a schema that admits what one of choices admits.
func alternatives(choices []*node) *node {
	if len(choices) == 1 {
		return choices[0]
	}
	return newObject("anyOf", newArray(choices))
}

// and adds p, which holds as well.
func (m *merged) and(p merged) {
	for i, name := range p.props.names {
		own, other := m.props.get(name), p.props.values[i]
		switch {
		case own == nil || own.equal(newObject()):
			m.props.set(name, other)
		case !own.equal(other) && !other.equal(newObject()):
			m.props.set(name, newObject("allOf", newArray([]*node{own, other})))
		}
	}
	for _, name := range p.required {
		m.require(newString(name))
	}
}

// onto returns root with the merged members in the place of its own.
func (m *merged) onto(root *node) *node {
	out := newObject()
	for i, name := range root.names {
		if !slices.Contains(notAtRoot, name) {
			out.set(name, root.values[i])
		}
	}
	out.copyMissing(m.note, "title", "description")
	out.setFirst("type", newString("object"))
	out.set("properties", m.props)
	if len(m.required) > 0 {
		names := make([]*node, len(m.required))
		for i, name := range m.required {
			names[i] = newString(name)
		}
		out.set("required", newArray(names))
	}
	return out
}
