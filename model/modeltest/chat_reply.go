package modeltest

import (
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// chatEncoder makes a chat.completion, or its chunks.
type chatEncoder struct {
	emit  emitter
	req   *Request
	id    string
	calls int
}

func (chatProtocol) encoder(s *Server, req *Request, emit emitter) encoder {
	return &chatEncoder{emit: emit, req: req, id: s.newID(req, "chatcmpl-", 29)}
}

func (e *chatEncoder) chunk(choices []any, more ...any) {
	members := o("id", e.id, "object", "chat.completion.chunk", "created", created, "model", e.req.Model, "choices", choices)
	e.emit("", encode(append(members, more...)))
}

// created is when all replies were made, in Unix seconds: the server has no
// clock of its own.
const created = 1767225600

func (e *chatEncoder) choice(delta obj) {
	e.chunk([]any{o("index", 0, "delta", delta, "finish_reason", nil)})
}

func (e *chatEncoder) open(ending) { e.choice(o("role", "assistant", "content", "")) }

func (e *chatEncoder) begin(b *block) {
	if b.kind != message.KindToolCall {
		return
	}
	e.choice(o("tool_calls", []any{o(
		"index", e.calls, "id", b.callID, "type", "function", "function", o("name", b.name, "arguments", ""))}))
}

func (e *chatEncoder) delta(b *block, piece string) {
	switch b.kind {
	case message.KindToolCall:
		e.choice(o("tool_calls", []any{o("index", e.calls, "function", o("arguments", piece))}))
	case message.KindReasoning:
		e.choice(o("reasoning_content", piece))
	default:
		e.choice(o("content", piece))
	}
}

func (e *chatEncoder) end(b *block) {
	if b.kind == message.KindToolCall {
		e.calls++
	}
}

func (e *chatEncoder) close(end ending) {
	e.chunk([]any{o("index", 0, "delta", o(), "finish_reason", chatFinish(end.finish))})
	if e.req.usageWish {
		e.chunk([]any{}, "usage", chatUsage(end.usage))
	}
	e.emit("", []byte("[DONE]"))
}

// chatFinish is the protocol's word for a finish reason.
func chatFinish(f model.Finish) string {
	if f == model.FinishPause {
		return "stop" // the protocol knows no pause
	}
	return string(f)
}

func chatUsage(u model.Usage) obj {
	return o(
		"prompt_tokens", u.Input, "completion_tokens", u.Output, "total_tokens", u.Input+u.Output,
		"prompt_tokens_details", o("cached_tokens", u.CacheRead, "audio_tokens", 0),
		"completion_tokens_details", o("reasoning_tokens", u.Reasoning, "audio_tokens", 0))
}

func (e *chatEncoder) fail(kind, msg string) {
	e.emit("", openAIRefusal(refusal{kind: kind, code: kind, msg: msg}))
}

func (e *chatEncoder) whole(blocks []*block, end ending) obj {
	msg := o("role", "assistant")
	var text, reasoning string
	var calls []any
	for _, b := range blocks {
		switch b.kind {
		case message.KindText:
			text += b.text
		case message.KindReasoning:
			reasoning += b.text
		case message.KindToolCall:
			calls = append(calls, o("id", b.callID, "type", "function", "function", o("name", b.name, "arguments", b.text)))
		}
	}
	msg = append(msg, "content", orNull(text), "refusal", nil)
	if reasoning != "" {
		msg = append(msg, "reasoning_content", reasoning)
	}
	if calls != nil {
		msg = append(msg, "tool_calls", calls)
	}
	return o("id", e.id, "object", "chat.completion", "created", created, "model", e.req.Model,
		"choices", []any{o("index", 0, "message", msg, "logprobs", nil, "finish_reason", chatFinish(end.finish))},
		"usage", chatUsage(end.usage))
}
