package responses

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// minOutput is the least max_output_tokens that the service takes.
const minOutput = 16

// Encode makes the body of a request, in pieces to be sent one after the other.
// With req.Cache only what is new since the last request is encoded; what was
// sent before comes out in the same bytes, in front of all that changes from
// request to request. The pieces must not be changed.
//
// A member of p.Extra takes the place of the one that Encode would write, and
// an empty one leaves it out. Encode fails if req.History ends with calls that
// have no result, or if a member of p.Extra is no JSON.
func Encode(p *model.Profile, req *model.Request) ([][]byte, error) {
	cache := req.Cache
	if cache == nil {
		cache = new(model.Cache)
	}
	if open := req.History.OpenCalls(); len(open) > 0 {
		return nil, fmt.Errorf("encode request: the call %q has no result", open[0].ID)
	}
	mem := memoryOf(cache, p)
	msgs := req.History.Messages()
	tail, err := appendTail(nil, p, req, mem)
	if err != nil {
		return nil, err
	}
	head := mem.head(p, req)
	var items []byte
	if fresh := mem.fresh(p, req); fresh != nil {
		items = appendFresh(p, msgs, fresh)
		tail = append(wire.AppendString(append(tail, `,"previous_response_id":`...), mem.chain.id), '}')
	} else {
		items = mem.sync(cache, p, msgs)
		tail = append(tail, '}')
	}
	body := [][]byte{head}
	if len(items) > 0 {
		if head[len(head)-1] == '}' {
			body = append(body, []byte{','})
		}
		body = append(body, items)
	}
	return append(withNote(body, req), tail), nil
}

// withNote puts the request's note behind the last item: into a user message,
// or else as one of its own. What is cached stays as it is.
func withNote(body [][]byte, req *model.Request) [][]byte {
	if req.Ephemeral == "" {
		return body
	}
	note := appendText(nil, "input_text", req.Ephemeral)
	last := &body[len(body)-1]
	const end = "]}"
	if m := req.History.Last(); m != nil && m.Role == message.User && len(body) > 1 && bytes.HasSuffix(*last, []byte(end)) {
		*last = (*last)[:len(*last)-len(end)]
		return append(body, append(append([]byte{','}, note...), end...))
	}
	item := append(append([]byte(`{"type":"message","role":"user","content":[`), note...), end...)
	if (*last)[len(*last)-1] == '}' {
		item = append([]byte{','}, item...)
	}
	return append(body, item)
}

// appendFresh encodes what the service does not know yet. msgs are the whole
// history; fresh is its end, behind the message that the service said last.
func appendFresh(p *model.Profile, msgs, fresh []*message.Message) []byte {
	e := &encoder{p: p, ids: new(claims)}
	said := msgs[len(msgs)-len(fresh)-1]
	n := 0
	for n < len(fresh) && fresh[n].Role == message.Tool {
		n++
	}
	dst := e.results(nil, said, fresh[:n])
	for fresh = fresh[n:]; len(fresh) > 0; fresh = fresh[n:] {
		n = next(fresh)
		dst = e.items(dst, fresh[:n])
	}
	return dst
}

// appendHead appends all up to the first item that comes from the history.
func appendHead(dst []byte, p *model.Profile, req *model.Request) []byte {
	dst = append(dst, '{')
	if !overridden(p, "model") {
		dst = append(wire.AppendString(append(dst, `"model":`...), p.Model), ',')
	}
	if req.System != "" && !p.DeveloperRole && !overridden(p, "instructions") {
		dst = append(wire.AppendString(append(dst, `"instructions":`...), req.System), ',')
	}
	if hasTools(req) && !overridden(p, "tools") {
		dst = append(appendTools(append(dst, `"tools":`...), req.Tools), ',')
	}
	dst = append(dst, `"input":[`...)
	if req.System != "" && p.DeveloperRole {
		dst = appendSystem(dst, p, req.System)
	}
	return dst
}

func appendTools(dst []byte, tools *model.ToolSet) []byte {
	dst = append(dst, '[')
	for i := range tools.Specs {
		s := &tools.Specs[i]
		dst = wire.AppendString(append(separate(dst), `{"type":"function","name":`...), s.Name)
		dst = wire.AppendString(append(dst, `,"description":`...), s.Description)
		dst = append(dst, `,"parameters":`...)
		if schema := jsontext.Value(slices.Clone(s.Schema)); len(schema) > 0 && schema.Compact(lenient) == nil {
			dst = append(dst, schema...)
		} else {
			dst = append(dst, `{"type":"object","properties":{}}`...)
		}
		dst = append(dst, `,"strict":false}`...)
	}
	return append(dst, ']')
}

func hasTools(req *model.Request) bool { return req.Tools != nil && len(req.Tools.Specs) > 0 }

func overridden(p *model.Profile, name string) bool {
	_, ok := p.Extra[name]
	return ok
}

// appendTail appends the end of the input and the members that may change from
// request to request. It leaves the object open.
func appendTail(dst []byte, p *model.Profile, req *model.Request, mem *memory) ([]byte, error) {
	dst = append(dst, ']')
	add := func(name, value string) {
		if !overridden(p, name) {
			dst = append(dst, `,"`+name+`":`+value...)
		}
	}
	add("stream", strconv.FormatBool(!unstreamed(p, req)))
	add("store", strconv.FormatBool(p.ServerState))
	if !mem.noEncrypted {
		add("include", `["reasoning.encrypted_content"]`)
	}
	if n := maxOutput(p, req); n > 0 {
		add("max_output_tokens", strconv.Itoa(n))
	}
	if req.Effort != "" && !p.NoEffort {
		summary := `,"summary":"auto"`
		if mem.noSummary {
			summary = ""
		}
		add("reasoning", `{"effort":`+string(wire.AppendString(nil, req.Effort))+summary+`}`)
	}
	if hasTools(req) || p.Extra["tools"] != "" {
		if c := toolChoice(req.ToolChoice); c != "" {
			add("tool_choice", c)
		}
		add("parallel_tool_calls", "true")
	}
	for _, name := range slices.Sorted(maps.Keys(p.Extra)) {
		switch v := jsontext.Value(p.Extra[name]); {
		case len(v) == 0:
		case name == "input":
			return nil, errors.New("encode request: an extra member of the profile cannot be the input")
		case !v.IsValid(lenient):
			return nil, fmt.Errorf("encode request: the extra member %q of the profile is no JSON", name)
		default:
			dst = append(append(wire.AppendString(append(dst, ','), name), ':'), v...)
		}
	}
	return dst, nil
}

func unstreamed(p *model.Profile, req *model.Request) bool { return p.NoStream || req.NoStream }

func maxOutput(p *model.Profile, req *model.Request) int {
	n := req.MaxOutputTokens
	if n == 0 {
		n = p.MaxOutput
	}
	if n > 0 {
		n = max(n, minOutput)
	}
	return n
}

// toolChoice returns a tool choice in JSON; "" for the service's default.
func toolChoice(c model.ToolChoice) string {
	switch c {
	case model.ToolAuto:
		return ""
	case model.ToolNone, model.ToolRequired:
		return `"` + string(c) + `"`
	}
	return `{"type":"function","name":` + string(wire.AppendString(nil, string(c))) + `}`
}
