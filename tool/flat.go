package tool

import (
	"bytes"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// flat is the part of a schema that can be checked while reading: the members
// of an object that are of plain types without further conditions. It says
// only that arguments fit; where it does not, the whole schema has the word.
type flat struct {
	types    map[string]string // by name of the member: string, integer, boolean or number
	required []string
}

// newFlat returns nil if s asks for more than that.
func newFlat(s *jsonschema.Schema) *flat {
	plain := jsonschema.Schema{
		Type: "object", Properties: s.Properties, Required: s.Required, PropertyOrder: s.PropertyOrder,
		Title: s.Title, Description: s.Description, AdditionalProperties: s.AdditionalProperties,
	}
	if !sameText(s, &plain) {
		return nil
	}
	f := &flat{types: make(map[string]string, len(s.Properties)), required: s.Required}
	for name, p := range s.Properties {
		member := jsonschema.Schema{Type: p.Type, Title: p.Title, Description: p.Description, Default: p.Default}
		switch p.Type {
		case "string", "integer", "boolean", "number":
			if sameText(p, &member) {
				f.types[name] = p.Type
			}
		}
	}
	return f
}

// sameText reports whether two schemas are written alike.
func sameText(a, b *jsonschema.Schema) bool {
	x, errX := a.MarshalJSON()
	y, errY := b.MarshalJSON()
	return errX == nil && errY == nil && bytes.Equal(x, y)
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
