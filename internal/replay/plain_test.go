package replay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/rondo-engine/rondo/model"
)

// said is one thing that a request says, read without any code of rondo's:
// the kind of it, and what it is, free of what only the protocol needs.
type said struct{ kind, text string }

// plain is what a request says, in order.
type plain struct {
	things []said
	calls  map[string]int // the number of the last call with an id
	count  int
}

// readPlainly reads the body of a request in any of the three protocols.
func readPlainly(mode model.Mode, body []byte) ([]said, error) {
	var b struct {
		System, Instructions, Input any
		Messages, Tools             []map[string]any
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return nil, err
	}
	p := &plain{calls: map[string]int{}}
	switch mode {
	case model.AnthropicMessages:
		p.content("system", b.System)
		for _, m := range b.Messages {
			p.content(str(m["role"]), m["content"])
		}
	case model.CodexResponses:
		p.content("system", b.Instructions)
		if s, ok := b.Input.(string); ok {
			p.content("user", s)
		}
		for _, e := range list(b.Input) {
			p.item(e.(map[string]any))
		}
	default:
		for _, m := range b.Messages {
			p.chat(m)
		}
	}
	for _, t := range b.Tools {
		if f, ok := t["function"].(map[string]any); ok {
			t = f
		}
		if name := str(t["name"]); name != "" {
			p.add("tool", name+": "+str(t["description"]))
		}
	}
	return p.things, nil
}

// add takes one thing; texts of one speaker in a row become one.
func (p *plain) add(kind, text string) {
	if kind == "developer" {
		kind = "system"
	}
	text = strings.Join(strings.Fields(text), "")
	if text == "" && !slices.Contains([]string{"call", "result"}, kind) {
		return
	}
	n := len(p.things)
	if n > 0 && p.things[n-1].kind == kind && slices.Contains([]string{"system", "user", "assistant"}, kind) {
		p.things[n-1].text += text
		return
	}
	p.things = append(p.things, said{kind, text})
}

// call takes a tool call; it is named by its number, since ids may change.
func (p *plain) call(id, name, args string) {
	p.count++
	p.calls[id] = p.count
	p.add("call", fmt.Sprintf("#%d %s %s", p.count, name, canonical(args)))
}

func (p *plain) result(id string, content any) {
	prefix := fmt.Sprintf("#%d", p.calls[id])
	if p.calls[id] == 0 {
		prefix = "#none"
	}
	q := &plain{}
	q.content("user", content)
	text := prefix
	for _, s := range q.things {
		if s.kind == "user" {
			text += s.text
		}
	}
	p.add("result", text)
	for _, s := range q.things {
		if s.kind != "user" {
			p.add(s.kind, s.text)
		}
	}
}

func canonical(args string) string {
	var v any
	if json.Unmarshal([]byte(args), &v) != nil || v == nil {
		if strings.TrimSpace(args) == "" || v == nil && strings.TrimSpace(args) == "null" {
			return "{}"
		}
		return args
	}
	out, _ := json.Marshal(v)
	return string(out)
}

// content takes a string or pieces of content, which role says.
func (p *plain) content(role string, v any) {
	switch v := v.(type) {
	case string:
		p.add(role, v)
	case []any:
		for _, e := range v {
			if s, ok := e.(string); ok {
				p.add(role, s)
				continue
			}
			p.piece(role, e.(map[string]any))
		}
	}
}

func (p *plain) piece(role string, m map[string]any) {
	switch kind := str(m["type"]); kind {
	case "text", "input_text", "output_text", "summary_text", "reasoning_text":
		p.add(role, str(m["text"]))
	case "refusal":
		p.add(role, str(m["refusal"]))
	case "thinking":
		p.add("reasoning", str(m["thinking"])+str(m["signature"]))
	case "tool_use":
		args, _ := json.Marshal(m["input"])
		p.call(str(m["id"]), str(m["name"]), string(args))
	case "tool_result":
		p.result(str(m["tool_use_id"]), m["content"])
	case "image", "image_url", "input_image", "document", "file", "input_file":
		p.add("media", media(m))
	default:
		p.add("item "+kind, itemID(m))
	}
}

// itemID names an item that only the provider understands: servers send such
// back whole, clients now and then less than what they were given.
func itemID(m map[string]any) string {
	for _, k := range []string{"id", "tool_use_id", "data"} {
		if s := str(m[k]); s != "" {
			return s
		}
	}
	return digest(m)
}

// details is what the pieces of OpenRouter's reasoning_details hold, however
// they are cut.
func details(pieces []any) string {
	var b strings.Builder
	for _, k := range []string{"text", "summary", "data", "signature"} {
		for _, d := range pieces {
			m, _ := d.(map[string]any)
			b.WriteString(str(m[k]))
		}
	}
	return b.String()
}

// chat takes a message of chat_completions.
func (p *plain) chat(m map[string]any) {
	role := str(m["role"])
	if role == "tool" {
		p.result(str(m["tool_call_id"]), m["content"])
		return
	}
	if thought := str(m["reasoning_content"]); thought != "" {
		p.add("reasoning", thought)
	} else {
		p.add("reasoning", str(m["reasoning"]))
	}
	p.add("reasoning details", details(list(m["reasoning_details"])))
	p.content(role, m["content"])
	p.add(role, str(m["refusal"]))
	for _, c := range list(m["tool_calls"]) {
		c := c.(map[string]any)
		f, _ := c["function"].(map[string]any)
		p.call(str(c["id"]), str(f["name"]), str(f["arguments"]))
	}
}

// item takes an item of the Responses API.
func (p *plain) item(m map[string]any) {
	kind := str(m["type"])
	if kind == "" {
		kind = "message"
	}
	switch kind {
	case "message":
		p.content(str(m["role"]), m["content"])
	case "reasoning":
		p.add("reasoning", thought(m))
	case "function_call":
		p.call(str(m["call_id"]), str(m["name"]), str(m["arguments"]))
	case "function_call_output", "custom_tool_call_output":
		p.result(str(m["call_id"]), m["output"])
	case "custom_tool_call":
		args, _ := json.Marshal(map[string]any{"input": m["input"]})
		p.call(str(m["call_id"]), str(m["name"]), string(args))
	default:
		p.add("item "+kind, itemID(m))
	}
}

// thought is what a reasoning item holds: words, or else what is encrypted, or
// else the name under which the server may know it.
func thought(m map[string]any) string {
	q := &plain{}
	q.content("user", m["summary"])
	q.content("user", m["content"])
	if len(q.things) > 0 {
		return q.things[0].text
	}
	return cmp.Or(str(m["encrypted_content"]), str(m["id"]))
}

// media names an image or file by the bytes or the address of it, which the
// protocols keep in different places.
func media(m map[string]any) string {
	longest := ""
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case string:
			_, data, ok := strings.Cut(v, ";base64,")
			if !ok {
				data = v
			}
			if len(data) > len(longest) {
				longest = data
			}
		case map[string]any:
			for _, e := range v {
				look(e)
			}
		case []any:
			for _, e := range v {
				look(e)
			}
		}
	}
	look(m)
	return digest(longest)
}

// digest is a short name for v.
func digest(v any) string {
	data, _ := json.Marshal(v)
	h := fnv.New64a()
	h.Write(data)
	return fmt.Sprintf("%x", h.Sum64())
}

func str(v any) string {
	s, _ := v.(string)
	return s
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}
