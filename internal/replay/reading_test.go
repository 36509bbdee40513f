package replay

import (
	"encoding/json"
	"strings"

	"github.com/rondo-engine/rondo/model"
)

// reading is a recorded reply, read without any code of rondo's.
type reading struct {
	text          string
	calls         []string       // name and arguments
	finish        string         // the provider's word
	input, output float64        // tokens, the cached ones among the input
	failed        bool           // there is an error object
	whole         bool           // a sign that nothing is missing
	parts         map[string]int // counts of tokens, and "at": the open call's block
}

// readReply reads the body of a reply, streamed or not.
func readReply(mode model.Mode, body string) *reading {
	r := &reading{parts: map[string]int{}}
	body = strings.TrimSpace(body)
	if strings.HasPrefix(body, "{") {
		var v map[string]any
		r.whole = json.Unmarshal([]byte(body), &v) == nil
		r.event(mode, v, "message")
		if mode == model.CodexResponses && v["output"] == nil {
			r.whole = false
		}
		return r
	}
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:")
		if data = strings.TrimSpace(data); data == "[DONE]" {
			r.whole = true
		}
		var v map[string]any
		if ok && json.Unmarshal([]byte(data), &v) == nil {
			r.event(mode, v, "delta")
		}
		if kind := str(v["type"]); kind == "message_stop" || kind == "response.completed" {
			break // some recordings hold the next reply, too
		}
	}
	return r
}

func (r *reading) event(mode model.Mode, v map[string]any, member string) {
	if e := v["error"]; e != nil && e != "" {
		r.failed = true
	}
	switch mode {
	case model.AnthropicMessages:
		r.anthropic(v)
	case model.CodexResponses:
		r.responses(v)
	default:
		r.chat(v, member)
	}
}

func (r *reading) chat(v map[string]any, member string) {
	for _, o := range []any{v, v["x_groq"]} {
		o, _ := o.(map[string]any)
		if u, ok := o["usage"].(map[string]any); ok && num(u["prompt_tokens"])+num(u["completion_tokens"]) > 0 {
			r.chatUsage(u)
		}
	}
	for _, c := range list(v["choices"]) {
		c, _ := c.(map[string]any)
		if num(c["index"]) != 0 {
			continue
		}
		if f := str(c["finish_reason"]); f != "" {
			r.finish, r.whole = f, true
		}
		m, _ := c[member].(map[string]any)
		if m == nil {
			m, _ = c["message"].(map[string]any)
		}
		if s, ok := m["content"].(string); ok {
			r.text += s
		}
		for _, p := range list(m["content"]) {
			p, _ := p.(map[string]any)
			r.text += str(p["text"])
		}
	}
}

// chatUsage counts as the provider's own total tells: xAI counts neither what
// was cached (on Azure) nor the reasoning in.
func (r *reading) chatUsage(u map[string]any) {
	r.input, r.output = num(u["prompt_tokens"]), num(u["completion_tokens"])
	in, _ := u["prompt_tokens_details"].(map[string]any)
	out, _ := u["completion_tokens_details"].(map[string]any)
	if num(in["cached_tokens"]) > r.input {
		r.input += num(in["cached_tokens"])
	}
	if num(u["total_tokens"]) == r.input+r.output+num(out["reasoning_tokens"]) {
		r.output += num(out["reasoning_tokens"])
	}
}

func (r *reading) anthropic(v map[string]any) {
	switch v["type"] {
	case "content_block_start":
		r.parts["open"]++
	case "content_block_stop":
		r.parts["open"]--
	case "message_start":
		r.failed = r.failed || r.parts["open"] > 0 // a proxy began anew: what came before was cut
	}
	if m, ok := v["message"].(map[string]any); ok {
		v = m
	}
	if u, ok := v["usage"].(map[string]any); ok {
		for k, n := range u {
			if n, ok := n.(float64); ok && n > 0 {
				r.parts[k] = int(n)
			}
		}
		r.input = float64(r.parts["input_tokens"] + r.parts["cache_read_input_tokens"] + r.parts["cache_creation_input_tokens"])
		r.output = float64(r.parts["output_tokens"])
	}
	for _, b := range list(v["content"]) {
		b, _ := b.(map[string]any)
		r.text += str(b["text"])
		if b["type"] == "tool_use" {
			args, _ := json.Marshal(b["input"])
			r.calls = append(r.calls, str(b["name"])+" "+canonical(string(args)))
		}
	}
	if b, ok := v["content_block"].(map[string]any); ok {
		r.text += str(b["text"])
		if b["type"] == "tool_use" {
			args := "" // they follow, or have come in one piece
			if in, ok := b["input"].(map[string]any); ok && len(in) > 0 {
				whole, _ := json.Marshal(in)
				args = string(whole)
			}
			r.calls = append(r.calls, str(b["name"])+" "+args)
			r.parts["at"] = int(num(v["index"]))
		}
	}
	d, _ := v["delta"].(map[string]any)
	r.text += str(d["text"])
	if d["type"] == "input_json_delta" && len(r.calls) > 0 && r.parts["at"] == int(num(v["index"])) {
		r.calls[len(r.calls)-1] += str(d["partial_json"])
	}
	for _, m := range []map[string]any{v, d} {
		if f := str(m["stop_reason"]); f != "" {
			r.finish, r.whole = f, true
		}
	}
}

func (r *reading) responses(v map[string]any) {
	if inner, ok := v["response"].(map[string]any); ok {
		if !strings.Contains("response.completed response.incomplete response.failed", str(v["type"])) {
			return
		}
		v = inner
	} else if v["type"] == "response.output_item.done" {
		item, _ := v["item"].(map[string]any)
		r.item(item)
		return
	}
	if u, ok := v["usage"].(map[string]any); ok {
		r.input, r.output = num(u["input_tokens"]), num(u["output_tokens"])
	}
	if e := v["error"]; e != nil && v["output"] != nil {
		r.failed = true
	}
	if s := str(v["status"]); s != "" && v["output"] != nil {
		r.finish, r.whole = s, strings.HasPrefix(s, "complete") || s == "incomplete"
		if len(list(v["output"])) > 0 { // the last word on what was said
			r.text, r.calls = "", nil
		}
		for _, o := range list(v["output"]) {
			item, _ := o.(map[string]any)
			r.item(item)
		}
	}
}

func (r *reading) item(item map[string]any) {
	switch item["type"] {
	case "message":
		for _, p := range list(item["content"]) {
			p, _ := p.(map[string]any)
			r.text += str(p["text"]) + str(p["refusal"])
		}
	case "function_call":
		r.calls = append(r.calls, str(item["name"])+" "+canonical(str(item["arguments"])))
	case "custom_tool_call":
		args, _ := json.Marshal(map[string]any{"input": item["input"]})
		r.calls = append(r.calls, str(item["name"])+" "+string(args))
	}
}

func num(v any) float64 {
	n, _ := v.(float64)
	return n
}
