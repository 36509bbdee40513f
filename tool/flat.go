package tool

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// flat is the part of a schema that can be checked while reading: the members
// of an object that are of plain types without further conditions. It says
// only that arguments fit; where it does not, the whole schema has the word.
type flat struct {
	members  []member
	required uint64 // bit i stands for members[i]
}

// member is a plain member of an object.
type member struct {
	name string
	typ  string // string, integer, boolean or number
}

// maxFlat is how many plain members are looked at: a bit each.
const maxFlat = 64

// flatRoot is all that the root of such a schema may hold.
type flatRoot struct {
	Draft       string                    `json:"$schema"`
	Title       string                    `json:"title"`
	Description string                    `json:"description"`
	Type        string                    `json:"type"`
	Properties  map[string]jsontext.Value `json:"properties"`
	Required    []string                  `json:"required"`
	// Additional needs no look: members that are not known do not fit anyway.
	Additional jsontext.Value `json:"additionalProperties"`
}

// flatMember is all that a plain member may hold.
type flatMember struct {
	Title       string         `json:"title"`
	Description string         `json:"description"`
	Default     jsontext.Value `json:"default"`
	Type        string         `json:"type"`
}

// newFlat returns nil if the schema asks for more than that, of all arguments.
func newFlat(raw []byte) *flat {
	var root flatRoot
	if json.Unmarshal(raw, &root, json.RejectUnknownMembers(true)) != nil || root.Type != "object" {
		return nil
	}
	f := new(flat)
	for _, name := range slices.Sorted(maps.Keys(root.Properties)) {
		var p flatMember
		if json.Unmarshal(root.Properties[name], &p, json.RejectUnknownMembers(true)) != nil || len(f.members) == maxFlat {
			continue // it asks for more
		}
		switch p.Type {
		case "string", "integer", "boolean", "number":
			f.members = append(f.members, member{name, p.Type})
		}
	}
	for _, name := range root.Required {
		i := f.index([]byte(name))
		if i < 0 {
			return nil
		}
		f.required |= 1 << i
	}
	return f
}

// index returns the place of the member of that name; -1 if there is none.
func (f *flat) index(name []byte) int {
	return slices.IndexFunc(f.members, func(m member) bool { return m.name == string(name) })
}

// fits reports whether args certainly fit: they are valid JSON, each member is
// known and of its type, none stands there twice, and none that is required is
// missing.
func (f *flat) fits(args []byte) bool {
	s := scanner{data: args}
	if !s.token('{') {
		return false
	}
	var seen uint64
	for first := true; !s.token('}'); first = false {
		if !first && !s.token(',') {
			return false
		}
		s.space()
		name, ok := s.name()
		if !ok {
			return false
		}
		i := f.index(name)
		if i < 0 || seen&(1<<i) != 0 {
			return false
		}
		seen |= 1 << i
		s.space()
		if !s.fits(f.members[i].typ) {
			return false
		}
	}
	return s.ended() && seen&f.required == f.required
}

// fits reads a value and reports whether it is one of the plain type.
func (s *scanner) fits(typ string) bool {
	switch typ {
	case "string":
		_, ok := s.text()
		return ok
	case "boolean":
		return s.word("true") || s.word("false")
	}
	whole, ok := s.number()
	return ok && (whole || typ == "number")
}
