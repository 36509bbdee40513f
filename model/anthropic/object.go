package anthropic

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/model/wire"
)

// lenient reads what providers send: names twice and broken UTF-8 included.
var lenient = wire.Lenient()

// object is a JSON object that keeps the order of its members.
type object []member

// member is one of them. While its value is a string that still grows, the
// string stands in text and value is nil.
type member struct {
	name  string
	value jsontext.Value
	text  []byte
}

// parseObject reads a JSON object; of members with the same name the last wins.
func parseObject(raw []byte) (object, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw), lenient)
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	var o object
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		o.set(key, value.Clone())
	}
	_, err := dec.ReadToken()
	return o, err
}

func (o *object) find(name string) *member {
	i := slices.IndexFunc(*o, func(m member) bool { return m.name == name })
	if i < 0 {
		return nil
	}
	return &(*o)[i]
}

func (o *object) set(name string, value jsontext.Value) {
	if m := o.find(name); m != nil {
		m.value, m.text = value, nil
		return
	}
	*o = append(*o, member{name: name, value: value})
}

func (o *object) remove(name string) {
	*o = slices.DeleteFunc(*o, func(m member) bool { return m.name == name })
}

// fold merges a delta into o: strings are appended, all else replaces.
func (o *object) fold(delta object) {
	for _, d := range delta {
		if d.name == "type" {
			continue
		}
		m := o.find(d.name)
		if d.value.Kind() != '"' || m == nil {
			o.set(d.name, d.value)
			continue
		}
		if m.value != nil {
			m.text = []byte(unquote(m.value))
			m.value = nil
		}
		m.text = append(m.text, unquote(d.value)...)
	}
}

// append appends the text of o to dst.
func (o object) append(dst []byte) []byte {
	dst = append(dst, '{')
	for i, m := range o {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(wire.AppendString(dst, m.name), ':')
		if m.value == nil {
			dst = wire.AppendString(dst, string(m.text))
			continue
		}
		dst = append(dst, bytes.TrimSpace(m.value)...)
	}
	return append(dst, '}')
}

// unquote returns the content of a JSON string; empty for any other value.
func unquote(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	s, _ := jsontext.AppendUnquote(nil, bytes.TrimSpace(v)) // broken UTF-8 comes back mended
	return string(s)
}

// isObject reports whether s is the text of a JSON object.
func isObject(s string) bool {
	v := jsontext.Value(s)
	return v.Kind() == '{' && v.IsValid(jsontext.AllowDuplicateNames(true))
}
