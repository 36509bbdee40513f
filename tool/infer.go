package tool

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// inferSchema makes the schema of a struct of arguments. plain says that it is in
// the form that providers accept.
func inferSchema(typ reflect.Type) (schema stdjson.RawMessage, plain bool, err error) {
	if typ.Kind() != reflect.Struct {
		return nil, false, fmt.Errorf("arguments are a %s, want a struct", typ)
	}
	if s, ok := appendPlain(nil, typ, reflect.StructField{}, 0); ok {
		return s, true, nil
	}
	schema, err = librarySchema(typ)
	return schema, false, err
}

// librarySchema makes the schema of any struct.
func librarySchema(typ reflect.Type) (stdjson.RawMessage, error) {
	schema, err := jsonschema.ForType(typ, nil)
	if err != nil {
		return nil, err
	}
	simplify(schema)
	for i := range typ.NumField() {
		if err := addEnum(schema, typ.Field(i)); err != nil {
			return nil, err
		}
	}
	return schema.MarshalJSON()
}

// simplify takes out of an inferred schema what only costs tokens: null as a
// further type, since a member can be left out, and the ban on other members,
// since models like to add some.
func simplify(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	s.Types = slices.DeleteFunc(s.Types, func(kind string) bool { return kind == "null" })
	if len(s.Types) == 1 {
		s.Type, s.Types = s.Types[0], nil
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil {
		s.AdditionalProperties = nil
	}
	simplify(s.Items)
	simplify(s.AdditionalProperties)
	for _, p := range s.Properties {
		simplify(p)
	}
}

func addEnum(s *jsonschema.Schema, f reflect.StructField) error {
	values, ok := f.Tag.Lookup("enum")
	if !ok {
		return nil
	}
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	p := s.Properties[name]
	if p == nil || p.Type != "string" {
		return errors.New("enum tag on " + f.Name + ", which is no member of type string")
	}
	for v := range strings.SplitSeq(values, ",") {
		p.Enum = append(p.Enum, v)
	}
	return nil
}

// plainDepth bounds how deep arguments are nested that count as plain.
const plainDepth = 8

// appendPlain appends the schema of a type, if it is one of those that arguments
// mostly consist of: text, numbers, booleans, lists, and structs of them. It
// gives what the library gives, in the form of model.NormaliseSchema, and costs
// next to nothing, which counts since
// each start of a program infers the schemas of all its tools. f is the member
// that has the type, depth how deep that stands. What the library has an error
// for, such as a type within itself, is left to it, too.
func appendPlain(b []byte, typ reflect.Type, f reflect.StructField, depth int) ([]byte, bool) {
	if depth > plainDepth || f.Tag.Get("enum") != "" && typ.Kind() != reflect.String || typ.NumMethod() > 0 || typ.PkgPath() == "time" {
		return nil, false
	}
	text, described := f.Tag.Lookup("jsonschema")
	if word, _, ok := strings.Cut(text, "="); described && (text == "" || ok && !strings.ContainsAny(word, " \t\n")) {
		return nil, false
	}
	ok := true
	switch typ.Kind() {
	case reflect.String:
		b = append(b, `{"type":"string"`...)
	case reflect.Bool:
		b = append(b, `{"type":"boolean"`...)
	case reflect.Int, reflect.Int64:
		b = append(b, `{"type":"integer"`...)
	case reflect.Float64:
		b = append(b, `{"type":"number"`...)
	case reflect.Slice:
		b = append(b, `{"type":"array"`...)
	case reflect.Struct:
		b = append(b, `{"type":"object"`...)
	default:
		return nil, false
	}
	if described {
		b = appendText(append(b, `,"description":`...), text)
	}
	switch typ.Kind() {
	case reflect.String:
		b = appendEnum(b, f.Tag.Get("enum"))
	case reflect.Slice:
		b, ok = appendPlain(append(b, `,"items":`...), typ.Elem(), reflect.StructField{}, depth+1)
	case reflect.Struct:
		b, ok = appendMembers(b, typ, depth)
	}
	return append(b, '}'), ok
}

// appendMembers appends the members of a struct and which of them are required.
func appendMembers(b []byte, typ reflect.Type, depth int) ([]byte, bool) {
	var required []string
	b = append(b, `,"properties":{`...)
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "" || name == "-" {
			return nil, false
		}
		switch options {
		case "":
			required = append(required, name)
		case "omitzero", "omitempty":
		default:
			return nil, false
		}
		if i > 0 {
			b = append(b, ',')
		}
		var ok bool
		if b, ok = appendPlain(append(appendText(b, name), ':'), f.Type, f, depth+1); !ok {
			return nil, false
		}
	}
	b = append(b, '}')
	for i, name := range required {
		if i == 0 {
			b = append(b, `,"required":[`...)
		} else {
			b = append(b, ',')
		}
		b = appendText(b, name)
	}
	if len(required) > 0 {
		b = append(b, ']')
	}
	return b, true
}

// appendEnum appends the values of an enum tag, if there is one.
func appendEnum(b []byte, values string) []byte {
	if values == "" {
		return b
	}
	b = append(b, `,"enum":[`...)
	for i, v := range strings.Split(values, ",") {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, v)
	}
	return append(b, ']')
}

// appendText appends a string as JSON.
func appendText(b []byte, s string) []byte {
	b, err := jsontext.AppendQuote(b, s)
	if err != nil { // s is not UTF-8, and is written with replacement characters
		return b
	}
	return b
}
