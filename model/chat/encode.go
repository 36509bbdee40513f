package chat

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// cacheMark is the mark that ends a prefix which Anthropic's models are to keep,
// as OpenRouter passes it on.
const cacheMark = `,"cache_control":{"type":"ephemeral"}`

// maxMarks is how many messages are marked besides the system prompt.
const maxMarks = 3

// Encode returns the body of the request for req, in pieces to be sent one
// after the other. It depends on nothing but p and req. Everything up to the
// end of the history is the same, byte for byte, in the next request of the
// conversation, but for the marks of Profile.CacheMarks, which move, and the
// note of Request.Ephemeral, which is not repeated.
//
// Tool messages hold only text in this protocol. With Profile.NoToolImages the
// images and files of a round's results follow in a user message of their own,
// once all calls are answered, and the results say so; an assistant message
// comes next in any case, so that the roles still take turns. Where even that
// is refused (by Mistral, whose call ids tell) only the notes are left. Without
// the quirk they stand in the tool messages, which some servers take.
//
// It is an error if the history ends with calls that have no result, or if a
// member of Profile.Extra is no JSON.
func Encode(p *model.Profile, req *model.Request) ([][]byte, error) {
	return encode(p, req, 0)
}

func encode(p *model.Profile, req *model.Request, a adaptation) ([][]byte, error) {
	if open := req.History.OpenCalls(); len(open) > 0 {
		return nil, fmt.Errorf("encode request for %s/%s: call %q at the end of the history has no result", p.Provider, p.Model, open[0].ID)
	}
	e := &encoder{profile: p}
	tail, err := e.tail(req, a)
	if err != nil {
		return nil, fmt.Errorf("encode request for %s/%s: %w", p.Provider, p.Model, err)
	}
	cache := req.Cache
	if cache == nil {
		cache = &model.Cache{}
	}
	all := cache.Sync(req.History.Messages(), model.Encoding{
		Key: e.key(), Next: e.next,
		Append: func(dst []byte, msgs []*message.Message) []byte { return e.appendUnit(dst, msgs, extras{}) },
	})
	pieces := [][]byte{e.head(req, cache)}
	if req.System != "" && len(all)+len(req.Ephemeral) > 0 {
		pieces = append(pieces, []byte{','})
	}
	pieces = e.appendHistory(pieces, cache, all, req.Ephemeral)
	return append(pieces, tail), nil
}

// encoder encodes for one profile.
type encoder struct {
	profile *model.Profile
}

// key names all that the encoding of a history depends on beside the history.
func (e *encoder) key() string {
	p := e.profile
	return strings.Join([]string{
		"chat", p.Provider, p.Model, p.Account, p.ReasoningField, p.ToolIDAlphabet,
		strconv.FormatBool(p.NoImages), strconv.FormatBool(p.NoToolImages),
		strconv.FormatBool(p.DeveloperRole), strconv.FormatBool(p.CacheMarks),
	}, "\x00")
}

// head is the beginning of a request, kept in Cache.Aux.
type head struct {
	system string
	tools  *model.ToolSet
	json   []byte
}

func (e *encoder) head(req *model.Request, cache *model.Cache) []byte {
	if h, ok := cache.Aux.(*head); ok && h.system == req.System && h.tools == req.Tools {
		return h.json
	}
	h := &head{system: req.System, tools: req.Tools}
	h.json = wire.AppendString([]byte(`{"model":`), e.profile.Model)
	h.json = appendTools(h.json, req.Tools)
	h.json = append(h.json, `,"messages":[`...)
	if req.System != "" {
		h.json = append(h.json, `{"role":"`...)
		h.json = append(h.json, e.systemRole()...)
		h.json = append(h.json, `","content":`...)
		h.json = appendContent(h.json, []item{{text: req.System}}, e.profile.CacheMarks)
		h.json = append(h.json, '}')
	}
	cache.Aux = h
	return h.json
}

func (e *encoder) systemRole() string {
	if e.profile.DeveloperRole {
		return "developer"
	}
	return "system"
}

func appendTools(dst []byte, tools *model.ToolSet) []byte {
	if tools == nil || len(tools.Specs) == 0 {
		return dst
	}
	sep := `,"tools":[`
	for _, t := range tools.Specs {
		dst = append(dst, sep...)
		dst = append(dst, `{"type":"function","function":{"name":`...)
		dst = wire.AppendString(dst, t.Name)
		if t.Description != "" {
			dst = append(dst, `,"description":`...)
			dst = wire.AppendString(dst, t.Description)
		}
		dst = append(dst, `,"parameters":`...)
		if len(t.Schema) > 0 {
			dst = append(dst, t.Schema...)
		} else {
			dst = append(dst, `{"type":"object","properties":{}}`...)
		}
		dst = append(dst, `}}`...)
		sep = ","
	}
	return append(dst, ']')
}

// appendHistory appends the encoded history all to pieces. Units that carry
// more than in the cached prefix are encoded anew.
func (e *encoder) appendHistory(pieces [][]byte, cache *model.Cache, all []byte, note string) [][]byte {
	marked := e.marked(cache)
	from := 0
	last := cache.Units() - 1
	for i := max(0, last-len(marked)*2); i <= last; i++ {
		x := extras{mark: slices.Contains(marked, i)}
		if i == last && takesNote(cache.Messages(i)) {
			x.note, note = note, ""
		}
		if x == (extras{}) {
			continue
		}
		start, end := cache.Span(i)
		pieces = append(pieces, all[from:start], e.appendUnit(nil, cache.Messages(i), x))
		from = end
	}
	pieces = append(pieces, all[from:])
	if note == "" {
		return pieces
	}
	var own []byte
	if len(all) > 0 {
		own = append(own, ',')
	}
	return append(pieces, appendUser(own, []item{{text: note}}, false))
}

// takesNote reports whether a note can stand at the end of the unit msgs.
func takesNote(msgs []*message.Message) bool {
	role := msgs[len(msgs)-1].Role
	return role == message.User || role == message.Tool
}

// marked returns the last units that can be marked.
func (e *encoder) marked(cache *model.Cache) []int {
	if !e.profile.CacheMarks {
		return nil
	}
	var units []int
	for i := cache.Units() - 1; i >= 0 && len(units) < maxMarks; i-- {
		m := cache.Messages(i)[0]
		if m.Role == message.System || m.Role == message.Assistant && m.Text() == "" {
			continue // a message of calls alone has no content to mark
		}
		units = append(units, i)
	}
	return units
}

// tail is the end of a request: all that is about this request alone.
func (e *encoder) tail(req *model.Request, a adaptation) ([]byte, error) {
	p := e.profile
	t := &tail{json: []byte{']'}, extra: p.Extra}
	if streams(p, req, a) {
		t.member("stream", "true")
		if !p.NoStreamOptions && a&withoutStreamOptions == 0 {
			t.member("stream_options", `{"include_usage":true}`)
		}
	}
	if n := cmp.Or(req.MaxOutputTokens, p.MaxOutput); n > 0 {
		t.member(maxTokensField(p, a), strconv.Itoa(n))
	}
	if req.Effort != "" && !p.NoEffort && a&withoutEffort == 0 {
		t.member("reasoning_effort", string(wire.AppendString(nil, req.Effort)))
	}
	if req.Tools != nil && len(req.Tools.Specs) > 0 && req.ToolChoice != model.ToolAuto {
		t.member("tool_choice", toolChoice(req.ToolChoice))
	}
	for _, name := range slices.Sorted(maps.Keys(p.Extra)) {
		if name == "temperature" && a&withoutTemperature != 0 {
			continue
		}
		value := p.Extra[name]
		if !jsontext.Value(value).IsValid() {
			return nil, fmt.Errorf("the extra member %q is not valid JSON: %.100q", name, value)
		}
		t.append(name, value)
	}
	return append(t.json, '}'), nil
}

type tail struct {
	json  []byte
	extra map[string]string
}

// member adds a member unless the profile's own of that name takes its place.
func (t *tail) member(name, value string) {
	if _, own := t.extra[name]; !own {
		t.append(name, value)
	}
}

func (t *tail) append(name, value string) {
	t.json = append(t.json, ',')
	t.json = wire.AppendString(t.json, name)
	t.json = append(t.json, ':')
	t.json = append(t.json, value...)
}

func toolChoice(c model.ToolChoice) string {
	if c == model.ToolNone || c == model.ToolRequired {
		return `"` + string(c) + `"`
	}
	return `{"type":"function","function":{"name":` + string(wire.AppendString(nil, string(c))) + `}}`
}

func maxTokensField(p *model.Profile, a adaptation) string {
	const old, current = "max_tokens", "max_completion_tokens"
	field := p.MaxTokensField
	if field == "" {
		field = old
	}
	switch {
	case a&otherMaxTokens == 0:
		return field
	case field == old:
		return current
	}
	return old
}
