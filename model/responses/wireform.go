package responses

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/model/wire"
)

// lenient reads JSON of providers, who now and then name a member twice or cut
// a character in two.
var lenient = wire.Lenient()

// item is an item of an input or an output. Members whose type differs from
// server to server are kept raw.
type item struct {
	Type      string         `json:"type"`
	Role      string         `json:"role"`
	ID        jsontext.Value `json:"id"`
	CallID    jsontext.Value `json:"call_id"`
	Name      jsontext.Value `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
	Input     jsontext.Value `json:"input"`
	Output    jsontext.Value `json:"output"`
	Content   jsontext.Value `json:"content"`
	Summary   jsontext.Value `json:"summary"`
	Origin    jsontext.Value `json:"_origin"`
}

// piece is one element of an item's content or summary.
type piece struct {
	Type     string         `json:"type"`
	Text     jsontext.Value `json:"text"`
	Refusal  jsontext.Value `json:"refusal"`
	ImageURL jsontext.Value `json:"image_url"`
	FileData jsontext.Value `json:"file_data"`
	FileURL  jsontext.Value `json:"file_url"`
	FileName jsontext.Value `json:"filename"`
}

// response is the object that a reply is, or that an event of its life brings.
type response struct {
	Object  string         `json:"object"`
	ID      jsontext.Value `json:"id"`
	Model   jsontext.Value `json:"model"`
	Status  jsontext.Value `json:"status"`
	Error   jsontext.Value `json:"error"`
	Output  jsontext.Value `json:"output"`
	Usage   jsontext.Value `json:"usage"`
	Details jsontext.Value `json:"incomplete_details"`
}

// usage is how Responses counts tokens: cached ones are part of the input,
// those of reasoning part of the output.
type usage struct {
	Input        float64 `json:"input_tokens"`
	Output       float64 `json:"output_tokens"`
	InputDetails struct {
		Cached  float64 `json:"cached_tokens"`
		Written float64 `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputDetails struct {
		Reasoning float64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// decode reads v, which may be absent or null.
func decode(v []byte, into any) error { return json.Unmarshal(v, into, lenient) }

// present reports whether v is there and not null.
func present(v jsontext.Value) bool { return len(v) > 0 && v.Kind() != 'n' }

// text returns the string that v is, or v itself where it is something else
// that stands where a string should.
func text(v jsontext.Value) string {
	switch {
	case !present(v):
		return ""
	case v.Kind() == '"':
		return unquote(v)
	}
	return strings.ToValidUTF8(string(v), "\uFFFD")
}

// pieces returns the elements of v, an array or a single string.
func pieces(v jsontext.Value) []piece {
	if !present(v) {
		return nil
	}
	if v.Kind() == '"' {
		return []piece{{Type: "text", Text: v}}
	}
	var ps []piece
	if decode(v, &ps) != nil {
		return nil
	}
	return ps
}

// elements returns the elements of v, raw; nil if it is no array.
func elements(v jsontext.Value) []jsontext.Value {
	var es []jsontext.Value
	if present(v) && decode(v, &es) != nil {
		return nil
	}
	return es
}

// without returns the object raw, compact, without the members that drop
// names and those that are null; "" if nothing is left.
func without(raw []byte, drop ...string) string {
	members, err := objectMembers(raw, drop)
	if err != nil {
		return ""
	}
	out := []byte{'{'}
	for _, m := range members {
		if !present(m.value) || m.value.Compact(lenient) != nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(wire.AppendString(out, m.name), ':'), m.value...)
	}
	if len(out) == 1 {
		return ""
	}
	return strings.ToValidUTF8(string(append(out, '}')), "\uFFFD")
}

type rawMember struct {
	name  string
	value jsontext.Value
}

// objectMembers returns the members of the object raw in order, without those
// that drop names. Of one that is named twice the last value counts, as when it
// is read into a struct.
func objectMembers(raw []byte, drop []string) ([]rawMember, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient) // reads from raw itself
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, errors.Join(err, errors.New("no JSON object"))
	}
	var members []rawMember
	for d.PeekKind() == '"' {
		t, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		name := t.String()
		v, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		if slices.Contains(drop, name) {
			continue
		}
		if i := slices.IndexFunc(members, func(m rawMember) bool { return m.name == name }); i >= 0 {
			members[i].value = v.Clone()
			continue
		}
		members = append(members, rawMember{name, v.Clone()})
	}
	return members, nil
}
