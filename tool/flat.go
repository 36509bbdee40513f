package tool

import (
	"bytes"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// flat is the part of a schema that can be checked while reading: the members
// of an object that are of plain types without further conditions. It says
// only that arguments fit; where it does not, the whole schema has the word.
type flat struct {
	types    map[string]string // by name of the member: string, integer, boolean or number
	required []string
}

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

// newFlat returns nil if the schema asks for more than that.
func newFlat(raw []byte) *flat {
	var root flatRoot
	if json.Unmarshal(raw, &root, json.RejectUnknownMembers(true)) != nil || root.Type != "object" {
		return nil
	}
	f := &flat{types: make(map[string]string, len(root.Properties)), required: root.Required}
	for name, property := range root.Properties {
		var p flatMember
		if json.Unmarshal(property, &p, json.RejectUnknownMembers(true)) != nil {
			continue // it asks for more
		}
		switch p.Type {
		case "string", "integer", "boolean", "number":
			f.types[name] = p.Type
		}
	}
	return f
}

// fits reports whether args certainly fit: each member is known and of its
// type, none stands there twice, and none that is required is missing.
func (f *flat) fits(args []byte) bool {
	dec := jsontext.NewDecoder(bytes.NewReader(args))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return false
	}
	missing := len(f.required)
	for dec.PeekKind() == '"' {
		tok, err := dec.ReadToken()
		if err != nil {
			return false
		}
		name := tok.String()
		if slices.Contains(f.required, name) {
			missing--
		}
		typ, known := f.types[name]
		if !known || !fitsType(dec, typ) {
			return false
		}
	}
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '}' {
		return false
	}
	_, err := dec.ReadToken()
	return missing == 0 && err == io.EOF
}

func fitsType(dec *jsontext.Decoder, typ string) bool {
	switch kind := dec.PeekKind(); typ {
	case "string":
		if kind != '"' {
			return false
		}
	case "boolean":
		if kind != 't' && kind != 'f' {
			return false
		}
	default:
		if kind != '0' {
			return false
		}
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return false
	}
	return typ != "integer" || isPlainInteger(tok.String())
}

func isPlainInteger(number string) bool {
	for i := range len(number) {
		if c := number[i]; (c < '0' || c > '9') && (c != '-' || i > 0) {
			return false
		}
	}
	return true
}
