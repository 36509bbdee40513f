package modeltest

import (
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// responsesEncoder makes a response, or its events.
type responsesEncoder struct {
	emit emitter
	srv  *Server
	req  *Request
	id   string
	seq  int
	done []any // the items that are complete
}

func (responsesProtocol) encoder(s *Server, req *Request, emit emitter) encoder {
	return &responsesEncoder{emit: emit, srv: s, req: req, id: s.newID(req, "resp_", 48)}
}

// nameItem gives a block the id of its item.
func (s *Server) nameItem(req *Request, b *block) {
	switch b.kind {
	case message.KindReasoning:
		b.itemID = s.newID(req, "rs_", 48)
		b.seal = s.encryptReasoning(req.Model, b.itemID)
	case message.KindToolCall:
		b.itemID = s.newID(req, "fc_", 48)
	default:
		b.itemID = s.newID(req, "msg_", 48)
	}
}

func (e *responsesEncoder) event(name string, more ...any) {
	data := append(o("type", name, "sequence_number", e.seq), more...)
	e.seq++
	e.emit(name, encode(data))
}

// response is the response as it stands.
func (e *responsesEncoder) response(status string, more ...any) obj {
	r := o("id", e.id, "object", "response", "created_at", created, "status", status, "model", e.req.Model,
		"previous_response_id", orNull(e.req.PreviousResponse), "store", e.req.store, "parallel_tool_calls", true)
	return append(r, more...)
}

func (e *responsesEncoder) open(ending) {
	empty := e.response("in_progress", "output", []any{}, "error", nil, "incomplete_details", nil, "usage", nil)
	e.event("response.created", "response", empty)
	e.event("response.in_progress", "response", empty)
}

func (e *responsesEncoder) begin(b *block) {
	item := o("id", b.itemID, "type", "message", "status", "in_progress", "role", "assistant", "content", []any{})
	switch b.kind {
	case message.KindReasoning:
		item = o("id", b.itemID, "type", "reasoning", "summary", []any{})
	case message.KindToolCall:
		item = o("id", b.itemID, "type", "function_call", "status", "in_progress", "call_id", b.callID, "name", b.name, "arguments", "")
	}
	e.event("response.output_item.added", "output_index", b.index, "item", item)
	switch b.kind {
	case message.KindReasoning:
		e.part(b, "response.reasoning_summary_part.added", "summary_index", "part", o("type", "summary_text", "text", ""))
	case message.KindText:
		e.part(b, "response.content_part.added", "content_index", "part", outputText(""))
	}
}

// part is an event about the one part of an item.
func (e *responsesEncoder) part(b *block, name, index string, more ...any) {
	e.event(name, append(o("item_id", b.itemID, "output_index", b.index, index, 0), more...)...)
}

func outputText(s string) obj {
	return o("type", "output_text", "text", s, "annotations", []any{}, "logprobs", []any{})
}

func (e *responsesEncoder) delta(b *block, piece string) {
	switch b.kind {
	case message.KindReasoning:
		e.part(b, "response.reasoning_summary_text.delta", "summary_index", "delta", piece)
	case message.KindToolCall:
		e.event("response.function_call_arguments.delta", "item_id", b.itemID, "output_index", b.index, "delta", piece)
	default:
		e.part(b, "response.output_text.delta", "content_index", "delta", piece)
	}
}

func (e *responsesEncoder) end(b *block) {
	switch b.kind {
	case message.KindReasoning:
		e.part(b, "response.reasoning_summary_text.done", "summary_index", "text", b.text)
		e.part(b, "response.reasoning_summary_part.done", "summary_index", "part", o("type", "summary_text", "text", b.text))
	case message.KindToolCall:
		e.event("response.function_call_arguments.done", "item_id", b.itemID, "output_index", b.index, "arguments", b.text)
	default:
		e.part(b, "response.output_text.done", "content_index", "text", b.text, "logprobs", []any{})
		e.part(b, "response.content_part.done", "content_index", "part", outputText(b.text))
	}
	item := e.item(b)
	e.done = append(e.done, item)
	e.event("response.output_item.done", "output_index", b.index, "item", item)
}

// item is a block as a complete item.
func (e *responsesEncoder) item(b *block) obj {
	switch b.kind {
	case message.KindReasoning:
		item := o("id", b.itemID, "type", "reasoning", "summary", []any{o("type", "summary_text", "text", b.text)})
		if e.req.encrypted {
			item = append(item, "encrypted_content", b.seal)
		}
		return item
	case message.KindToolCall:
		return o("id", b.itemID, "type", "function_call", "status", "completed", "call_id", b.callID, "name", b.name, "arguments", b.text)
	}
	return o("id", b.itemID, "type", "message", "status", "completed", "role", "assistant", "content", []any{outputText(b.text)})
}

func (e *responsesEncoder) close(end ending) {
	status, response := e.final(end)
	e.event("response."+status, "response", response)
}

// final is the response when it is over. It can be gone on from then, if it is
// to be stored.
func (e *responsesEncoder) final(end ending) (status string, response obj) {
	status = "completed"
	var details any
	switch end.finish {
	case model.FinishLength:
		status, details = "incomplete", o("reason", "max_output_tokens")
	case model.FinishContentFilter:
		status, details = "incomplete", o("reason", "content_filter")
	case model.FinishStop, model.FinishToolCalls, model.FinishPause: // all are complete here
	default:
		status, details = "incomplete", o("reason", string(end.finish))
	}
	output := e.done
	if output == nil {
		output = []any{}
	}
	e.srv.keep(e.req, e.id, end.blocks, output)
	return status, e.response(status, "output", output, "error", nil, "incomplete_details", details, "usage", responsesUsage(end.usage))
}

func responsesUsage(u model.Usage) obj {
	return o("input_tokens", u.Input, "input_tokens_details", o("cached_tokens", u.CacheRead),
		"output_tokens", u.Output, "output_tokens_details", o("reasoning_tokens", u.Reasoning),
		"total_tokens", u.Input+u.Output)
}

// keep remembers a response: which reasoning its items belong to, and all of it
// if it is to be stored.
func (s *Server) keep(req *Request, id string, blocks []*block, output []any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	after := ""
	for _, b := range blocks {
		if b.kind != message.KindReasoning {
			s.itemAfter[b.itemID] = after
			after = ""
			continue
		}
		after = b.itemID
		if req.store {
			s.reasonings[b.itemID] = req.Model
		}
	}
	if !req.store {
		return
	}
	kept := &storedResponse{previous: req.previous, items: req.items, bytes: len(req.Body)}
	for _, item := range output {
		raw := encode(item)
		kept.items, kept.bytes = append(kept.items, raw), kept.bytes+len(raw)
	}
	s.responses[id] = kept
}

func (e *responsesEncoder) fail(kind, msg string) {
	e.event("error", "code", kind, "message", msg, "param", nil)
	e.event("response.failed", "response", e.response("failed", "output", []any{}, "error", o("code", kind, "message", msg), "usage", nil))
}

func (e *responsesEncoder) whole(blocks []*block, end ending) obj {
	for _, b := range blocks {
		e.done = append(e.done, e.item(b))
	}
	_, response := e.final(end)
	return response
}
