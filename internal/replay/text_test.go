package replay

import (
	"encoding/json"
	"strings"

	"github.com/rondo-engine/rondo/model"
)

// visibleText is the text of a recorded reply, read without any code of
// rondo's: of a stream the text of all deltas, else that of the reply.
func visibleText(mode model.Mode, body string) string {
	var b strings.Builder
	if strings.HasPrefix(strings.TrimSpace(body), "{") {
		var v map[string]any
		if json.Unmarshal([]byte(body), &v) == nil {
			wholeText(&b, mode, v)
		}
		return b.String()
	}
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:")
		var v map[string]any
		if ok && json.Unmarshal([]byte(data), &v) == nil {
			deltaText(&b, mode, v)
		}
	}
	return b.String()
}

func wholeText(b *strings.Builder, mode model.Mode, v map[string]any) {
	switch mode {
	case model.AnthropicMessages:
		texts(b, v["content"])
	case model.CodexResponses:
		for _, o := range list(v["output"]) {
			if item, _ := o.(map[string]any); item["type"] == "message" {
				texts(b, item["content"])
			}
		}
	default:
		choice(b, v, "message")
	}
}

func deltaText(b *strings.Builder, mode model.Mode, v map[string]any) {
	switch mode {
	case model.AnthropicMessages:
		if d, ok := v["delta"].(map[string]any); ok {
			b.WriteString(str(d["text"]))
		}
		if c, ok := v["content_block"].(map[string]any); ok {
			b.WriteString(str(c["text"]))
		}
	case model.CodexResponses:
		if strings.HasSuffix(str(v["type"]), ".delta") && strings.Contains(str(v["type"]), "output_text") {
			b.WriteString(str(v["delta"]))
		}
	default:
		choice(b, v, "delta")
	}
}

func choice(b *strings.Builder, v map[string]any, member string) {
	for _, c := range list(v["choices"]) {
		c, _ := c.(map[string]any)
		m, _ := c[member].(map[string]any)
		if s, ok := m["content"].(string); ok {
			b.WriteString(s)
		}
		texts(b, m["content"])
	}
}

func texts(b *strings.Builder, content any) {
	for _, e := range list(content) {
		m, _ := e.(map[string]any)
		b.WriteString(str(m["text"]))
	}
}
