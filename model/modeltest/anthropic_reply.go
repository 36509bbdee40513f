package modeltest

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// anthropicEncoder makes a message, or its events.
type anthropicEncoder struct {
	emit emitter
	req  *Request
	id   string
}

func (anthropicProtocol) encoder(s *Server, req *Request, emit emitter) encoder {
	return &anthropicEncoder{emit: emit, req: req, id: s.newID(req, "msg_01", 22)}
}

func (e *anthropicEncoder) event(name string, more ...any) {
	e.emit(name, encode(append(o("type", name), more...)))
}

func (e *anthropicEncoder) open(end ending) {
	usage := end.usage
	usage.Output = min(usage.Output, 1) // more is told at the end
	e.event("message_start", "message", o(
		"id", e.id, "type", "message", "role", "assistant", "model", e.req.Model, "content", []any{},
		"stop_reason", nil, "stop_sequence", nil, "usage", anthropicUsage(usage)))
	e.event("ping")
}

func anthropicUsage(u model.Usage) obj {
	return o(
		"input_tokens", u.Input-u.CacheRead-u.CacheWrite, "cache_creation_input_tokens", u.CacheWrite,
		"cache_read_input_tokens", u.CacheRead, "output_tokens", u.Output, "service_tier", "standard")
}

func (e *anthropicEncoder) begin(b *block) {
	start := o("type", "text", "text", "")
	switch b.kind {
	case message.KindReasoning:
		start = o("type", "thinking", "thinking", "", "signature", "")
	case message.KindOpaque:
		start = o("type", "redacted_thinking", "data", b.seal)
	case message.KindToolCall:
		start = o("type", "tool_use", "id", b.callID, "name", b.name, "input", o())
	}
	e.event("content_block_start", "index", b.index, "content_block", start)
	if b.kind == message.KindToolCall {
		e.send(b, o("type", "input_json_delta", "partial_json", ""))
	}
}

func (e *anthropicEncoder) send(b *block, delta obj) {
	e.event("content_block_delta", "index", b.index, "delta", delta)
}

func (e *anthropicEncoder) delta(b *block, piece string) {
	switch b.kind {
	case message.KindReasoning:
		e.send(b, o("type", "thinking_delta", "thinking", piece))
	case message.KindToolCall:
		e.send(b, o("type", "input_json_delta", "partial_json", piece))
	case message.KindText:
		e.send(b, o("type", "text_delta", "text", piece))
	}
}

func (e *anthropicEncoder) end(b *block) {
	if b.kind == message.KindReasoning {
		e.send(b, o("type", "signature_delta", "signature", b.seal))
	}
	e.event("content_block_stop", "index", b.index)
}

func (e *anthropicEncoder) close(end ending) {
	e.event("message_delta", "delta", o("stop_reason", anthropicFinish(end.finish), "stop_sequence", nil), "usage", anthropicUsage(end.usage))
	e.event("message_stop")
}

// anthropicFinish is the protocol's word for a finish reason.
func anthropicFinish(f model.Finish) string {
	switch f {
	case model.FinishStop:
		return "end_turn"
	case model.FinishToolCalls:
		return "tool_use"
	case model.FinishLength:
		return "max_tokens"
	case model.FinishContentFilter:
		return "refusal"
	case model.FinishPause:
		return "pause_turn"
	}
	return string(f)
}

func (e *anthropicEncoder) fail(kind, msg string) {
	e.event("error", "error", o("type", kind, "message", msg))
}

func (e *anthropicEncoder) whole(blocks []*block, end ending) obj {
	content := []any{}
	for _, b := range blocks {
		switch b.kind {
		case message.KindReasoning:
			content = append(content, o("type", "thinking", "thinking", b.text, "signature", b.seal))
		case message.KindOpaque:
			content = append(content, o("type", "redacted_thinking", "data", b.seal))
		case message.KindToolCall:
			input := jsontext.Value(b.text)
			if !input.IsValid() {
				input = jsontext.Value("{}") // the protocol cannot carry it
			}
			content = append(content, o("type", "tool_use", "id", b.callID, "name", b.name, "input", input))
		default:
			content = append(content, o("type", "text", "text", b.text))
		}
	}
	return o("id", e.id, "type", "message", "role", "assistant", "model", e.req.Model, "content", content,
		"stop_reason", anthropicFinish(end.finish), "stop_sequence", nil, "usage", anthropicUsage(end.usage))
}
