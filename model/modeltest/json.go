package modeltest

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// obj is a JSON object whose members keep their order: names and values in turn.
type obj []any

func o(namesAndValues ...any) obj { return namesAndValues }

// MarshalJSONTo writes the object.
func (o obj) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for i := 0; i < len(o); i += 2 {
		if err := enc.WriteToken(jsontext.String(o[i].(string))); err != nil {
			return err
		}
		if err := json.MarshalEncode(enc, o[i+1]); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

// encode makes JSON of what this package built itself, which cannot fail but
// for text of a script that is not UTF-8; that is replaced.
func encode(v any) []byte {
	b, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic("modeltest: " + err.Error())
	}
	return b
}

type member struct {
	name  string
	value jsontext.Value
}

// members splits an object into its members, in order.
func members(v jsontext.Value) ([]member, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return nil, errors.New("not an object")
	}
	var ms []member
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		n := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		ms = append(ms, member{n, value.Clone()})
	}
	return ms, nil
}

// elements splits an array into its elements.
func elements(v jsontext.Value) ([]jsontext.Value, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '[' {
		return nil, errors.New("not an array")
	}
	var vs []jsontext.Value
	for dec.PeekKind() != ']' {
		e, err := dec.ReadValue()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		vs = append(vs, e.Clone())
	}
	return vs, nil
}
