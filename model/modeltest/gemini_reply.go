package modeltest

import (
	"bytes"
	"encoding/base64"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// sign gives signatures to what was thought: to the first call of the reply,
// or else to its last text.
func (s *Server) sign(req *Request, blocks []*block) {
	var signed *block
	thinks := false
	for _, b := range blocks {
		switch {
		case b.kind == message.KindReasoning:
			thinks = true
		case signed == nil || signed.kind == message.KindText:
			signed = b
		}
	}
	if !thinks || signed == nil {
		return
	}
	id := s.newID(req, "", 16)
	signed.seal = base64.StdEncoding.EncodeToString([]byte(s.seal("signature", req.Model, id) + " " + id))
	if signed.kind == message.KindToolCall {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.thoughts[s.seal("thought", req.Model, geminiCallText(signed.name, signed.text))] = true
	}
}

// issued reports whether a signature was made here for that model.
func (s *Server) issued(modelName, signature string) bool {
	data, err := base64.StdEncoding.DecodeString(signature)
	seal, id, _ := strings.Cut(string(data), " ")
	return err == nil && seal == s.seal("signature", modelName, id)
}

// geminiCallText is what a call is known again by.
func geminiCallText(name, arguments string) string {
	return name + " " + compactJSON(jsontext.Value(arguments))
}

// geminiEncoder makes a GenerateContentResponse, or several that follow each
// other.
type geminiEncoder struct {
	emit  emitter
	req   *Request
	id    string
	usage model.Usage
	// args are those of the call that is being sent: they come in one piece.
	args      bytes.Buffer
	malformed bool
}

func (geminiProtocol) encoder(s *Server, req *Request, emit emitter) encoder {
	return &geminiEncoder{emit: emit, req: req, id: s.newID(req, "", 22)}
}

func (e *geminiEncoder) response(candidate obj, usage obj) obj {
	return o("candidates", []any{candidate}, "usageMetadata", usage, "modelVersion", e.req.Model, "responseId", e.id)
}

func geminiContent(parts ...any) obj {
	if parts == nil {
		parts = []any{}
	}
	return o("parts", parts, "role", "model")
}

func (e *geminiEncoder) send(part obj) {
	usage := o("promptTokenCount", e.usage.Input, "totalTokenCount", e.usage.Input)
	e.emit("", encode(e.response(o("content", geminiContent(part), "index", 0), usage)))
}

func (e *geminiEncoder) open(end ending) { e.usage = end.usage }

func (e *geminiEncoder) begin(*block) { e.args.Reset() }

func (e *geminiEncoder) delta(b *block, piece string) {
	switch b.kind {
	case message.KindReasoning:
		e.send(o("text", piece, "thought", true))
	case message.KindText:
		e.send(o("text", piece))
	case message.KindToolCall:
		e.args.WriteString(piece)
	}
}

func (e *geminiEncoder) end(b *block) {
	switch {
	case b.kind == message.KindToolCall:
		if part := e.call(b, e.args.String()); part != nil {
			e.send(part)
		}
	case b.seal != "":
		e.send(o("text", "", "thoughtSignature", b.seal))
	}
}

// call is the part of a call; nil for arguments that the protocol cannot carry.
func (e *geminiEncoder) call(b *block, arguments string) obj {
	call := o("name", b.name)
	if b.callID != "" {
		call = append(call, "id", b.callID)
	}
	if args := jsontext.Value(arguments); strings.TrimSpace(arguments) != "" {
		if !args.IsValid() || args.Kind() != '{' {
			e.malformed = true
			return nil
		}
		call = append(call, "args", args)
	}
	part := o("functionCall", call)
	if b.seal != "" {
		part = append(part, "thoughtSignature", b.seal)
	}
	return part
}

func (e *geminiEncoder) close(end ending) {
	e.emit("", encode(e.last(end, o("text", ""))))
}

// last is a response that ends the reply.
func (e *geminiEncoder) last(end ending, parts ...any) obj {
	if reason, ok := strings.CutPrefix(string(end.finish), "block:"); ok {
		return o("promptFeedback", o("blockReason", reason), "usageMetadata", geminiUsage(end.usage),
			"modelVersion", e.req.Model, "responseId", e.id)
	}
	finish := geminiFinish(end.finish)
	candidate := o("content", geminiContent(parts...), "finishReason", finish, "index", 0)
	if e.malformed && finish == "STOP" {
		candidate = o("content", o(), "finishReason", "MALFORMED_FUNCTION_CALL", "index", 0, "finishMessage", "Malformed function call.")
	}
	return e.response(candidate, geminiUsage(end.usage))
}

// geminiFinish is the protocol's word for a finish reason: it has none for
// calls, and knows no pause.
func geminiFinish(f model.Finish) string {
	switch f {
	case model.FinishStop, model.FinishToolCalls, model.FinishPause:
		return "STOP"
	case model.FinishLength:
		return "MAX_TOKENS"
	case model.FinishContentFilter:
		return "SAFETY"
	}
	return string(f)
}

func geminiUsage(u model.Usage) obj {
	usage := o("promptTokenCount", u.Input, "candidatesTokenCount", u.Output-u.Reasoning, "totalTokenCount", u.Input+u.Output)
	if u.CacheRead > 0 {
		usage = append(usage, "cachedContentTokenCount", u.CacheRead)
	}
	if u.Reasoning > 0 {
		usage = append(usage, "thoughtsTokenCount", u.Reasoning)
	}
	return usage
}

func (e *geminiEncoder) fail(kind, msg string) {
	e.emit("", geminiProtocol{}.refusal(refusal{status: 200, kind: kind, msg: msg}))
}

func (e *geminiEncoder) whole(blocks []*block, end ending) obj {
	var parts []any
	for _, b := range blocks {
		switch b.kind {
		case message.KindReasoning:
			parts = append(parts, o("text", b.text, "thought", true))
		case message.KindToolCall:
			if part := e.call(b, b.text); part != nil {
				parts = append(parts, part)
			}
		case message.KindText:
			part := o("text", b.text)
			if b.seal != "" {
				part = append(part, "thoughtSignature", b.seal)
			}
			parts = append(parts, part)
		}
	}
	return e.last(end, parts...)
}
