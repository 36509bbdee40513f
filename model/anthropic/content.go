package anthropic

import (
	"encoding/base64"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model/wire"
)

// What stands where the API wants content and there is none.
const (
	noContent = "(no content)"
	noOutput  = "(no output)"
)

// The functions below append blocks with a comma behind each; closeContent
// removes the last one.

func (e *encoder) appendUser(dst []byte, m *message.Message) []byte {
	dst = append(dst, `{"role":"user","content":[`...)
	start := len(dst)
	for i := range m.Parts {
		dst = e.appendPart(dst, &m.Parts[i])
	}
	return append(closeContent(dst, start, noContent), '}')
}

func (e *encoder) appendAssistant(dst []byte, m *message.Message) []byte {
	dst = append(dst, `{"role":"assistant","content":[`...)
	start := len(dst)
	var cut map[int]bool
	if m != e.paused && !m.HasCalls() {
		cut = runningTools(m) // no result comes any more, and without it the API refuses them
	}
	for i := range m.Parts {
		if cut[i] {
			continue
		}
		dst = e.appendPart(dst, &m.Parts[i])
	}
	return append(closeContent(dst, start, noContent), '}')
}

// runningTools returns which parts of m are uses of the server's own tools
// whose result is not in m. It comes in a later message if m was paused or asks
// for other tools besides.
func runningTools(m *message.Message) map[int]bool {
	var running map[int]bool
	ids := make(map[string]int)
	for i := range m.Parts {
		s := m.Parts[i].State
		if m.Parts[i].Kind != message.KindOpaque || s == nil || s.Kind != stateBlock {
			continue
		}
		var b contentBlock
		if json.Unmarshal([]byte(s.Data), &b, lenient) != nil {
			continue
		}
		if b.Type == "server_tool_use" || b.Type == "mcp_tool_use" {
			if running == nil {
				running = make(map[int]bool)
			}
			running[i], ids[b.ID] = true, i
		} else if use, ok := ids[b.ToolUseID]; ok {
			delete(running, use)
		}
	}
	return running
}

// appendResults makes one user message of the results of a round.
func (e *encoder) appendResults(dst []byte, msgs []*message.Message) []byte {
	dst = append(dst, `{"role":"user","content":[`...)
	start := len(dst)
	for _, m := range msgs {
		dst = e.appendResult(dst, m)
	}
	for _, m := range msgs {
		for i := range m.Parts {
			if p := &m.Parts[i]; e.besideResult(p) {
				dst = e.appendPart(dst, p)
			}
		}
	}
	return append(closeContent(dst, start, noContent), '}')
}

// besideResult reports whether p, of a result, follows the results of the round:
// what was injected, and media where the API takes none in a result.
func (e *encoder) besideResult(p *message.Part) bool {
	return p.Injected || p.Media != nil && e.profile.NoToolImages
}

func (e *encoder) appendResult(dst []byte, m *message.Message) []byte {
	dst = append(dst, `{"type":"tool_result","tool_use_id":`...)
	dst = wire.AppendString(dst, wire.Name(m.ToolCallID, false))
	switch m.Status {
	case message.StatusError, message.StatusDenied, message.StatusInterrupted:
		dst = append(dst, `,"is_error":true`...)
	}
	dst = append(dst, `,"content":[`...)
	start := len(dst)
	for i := range m.Parts {
		if p := &m.Parts[i]; !e.besideResult(p) {
			dst = e.appendPart(dst, p)
		}
	}
	return append(closeContent(dst, start, noOutput), "},"...)
}

// closeContent ends a list of blocks that begins at start, with a text block of
// its own if it is empty.
func closeContent(dst []byte, start int, empty string) []byte {
	if len(dst) == start {
		dst = appendText(dst, empty)
	}
	return append(dst[:len(dst)-1], ']')
}

func appendText(dst []byte, text string) []byte {
	return append(wire.AppendString(append(dst, `{"type":"text","text":`...), text), "},"...)
}

// appendPart appends the block of a part, or nothing if it has none here.
func (e *encoder) appendPart(dst []byte, p *message.Part) []byte {
	switch p.Kind {
	case message.KindText:
		if strings.TrimSpace(p.Text) == "" {
			return dst
		}
		dst = wire.AppendString(append(dst, `{"type":"text","text":`...), p.Text)
		return append(e.appendMembers(dst, p.State), "},"...)
	case message.KindReasoning:
		return e.appendThinking(dst, p)
	case message.KindToolCall:
		dst = wire.AppendString(append(dst, `{"type":"tool_use","id":`...), wire.Name(p.Call.ID, false))
		dst = wire.AppendString(append(dst, `,"name":`...), wire.Name(p.Call.Name, false))
		dst = append(append(dst, `,"input":`...), inputOf(p.Call)...)
		return append(e.appendMembers(dst, p.State), "},"...)
	case message.KindImage, message.KindFile:
		return e.appendMedia(dst, p)
	case message.KindOpaque:
		if e.sendsOpaque(p) {
			return append(append(dst, p.State.Data...), ',')
		}
	}
	return dst
}

func inputOf(c *message.ToolCall) string {
	if isObject(c.Arguments) {
		return strings.TrimSpace(c.Arguments)
	}
	return "{}"
}

// sendsOpaque reports whether p is a block that may go back.
func (e *encoder) sendsOpaque(p *message.Part) bool {
	if p.State == nil || !e.profile.Made(p.State.Origin) || !isObject(p.State.Data) {
		return false
	}
	return p.State.Kind == stateBlock || p.State.Kind == stateRedacted && !e.plain
}

// signature returns that of a thinking block that may go back.
func (e *encoder) signature(p *message.Part) (string, bool) {
	if e.plain || p.State == nil || p.State.Kind != stateThinking || !e.profile.Made(p.State.Origin) {
		return "", false
	}
	var s struct {
		Signature string `json:"signature"`
	}
	err := json.Unmarshal([]byte(p.State.Data), &s, lenient)
	return s.Signature, err == nil && s.Signature != ""
}

func (e *encoder) appendThinking(dst []byte, p *message.Part) []byte {
	signature, ok := e.signature(p)
	if !ok {
		return dst
	}
	dst = wire.AppendString(append(dst, `{"type":"thinking","thinking":`...), p.Text)
	dst = wire.AppendString(append(dst, `,"signature":`...), signature)
	return append(dst, "},"...)
}

// appendMembers appends what else the origin knows of a block, each with a
// comma before it.
func (e *encoder) appendMembers(dst []byte, s *message.State) []byte {
	if s == nil || s.Kind != stateMembers || !e.profile.Made(s.Origin) || !isObject(s.Data) {
		return dst
	}
	inner := strings.TrimSpace(strings.TrimSpace(s.Data)[1:])
	if inner == "}" {
		return dst
	}
	return append(append(dst, ','), inner[:len(inner)-1]...)
}

// appendMedia appends an image or a document, or a note where it cannot be shown.
func (e *encoder) appendMedia(dst []byte, p *message.Part) []byte {
	mime, data, url := p.Media.MIME, p.Media.Data, p.Media.URL
	if m := message.ParseMedia(url); m.Data != "" {
		mime, data, url = m.MIME, m.Data, ""
	}
	image := p.Kind == message.KindImage || strings.HasPrefix(mime, "image/")
	switch {
	case image && !e.profile.NoImages && (url != "" || isImage(mime)):
		dst = append(dst, `{"type":"image","source":`...)
	case !image && (url != "" || mime == "application/pdf" || isText(mime)):
		dst = append(dst, `{"type":"document","source":`...)
	default:
		return appendText(dst, "("+mediaName(p.Media)+" is left out: the model cannot read it)")
	}
	dst = appendSource(dst, image, mime, data, url)
	if !image && p.Media.Name != "" {
		dst = wire.AppendString(append(dst, `,"title":`...), p.Media.Name)
	}
	return append(e.appendMembers(dst, p.State), "},"...)
}

func appendSource(dst []byte, image bool, mime, data, url string) []byte {
	if url != "" {
		return append(wire.AppendString(append(dst, `{"type":"url","url":`...), url), '}')
	}
	kind := "base64"
	if !image && isText(mime) {
		if text, err := base64.StdEncoding.DecodeString(data); err == nil {
			kind, mime, data = "text", "text/plain", string(text)
		}
	}
	dst = append(append(append(dst, `{"type":"`...), kind...), `","media_type":`...)
	dst = append(wire.AppendString(dst, mime), `,"data":`...)
	return append(wire.AppendString(dst, data), '}')
}

func mediaName(m *message.Media) string {
	name := strings.TrimSpace(m.Name + " " + m.MIME)
	if name == "" {
		return "a file"
	}
	return name
}

// isImage reports whether the API takes images of that type.
func isImage(mime string) bool {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// isText reports whether the API can take a file of that type as plain text.
func isText(mime string) bool {
	mime, _, _ = strings.Cut(mime, ";")
	switch mime {
	case "application/json", "application/xml", "application/yaml", "application/toml", "application/javascript":
		return true
	}
	return strings.HasPrefix(mime, "text/") || strings.HasSuffix(mime, "+json") || strings.HasSuffix(mime, "+xml")
}
