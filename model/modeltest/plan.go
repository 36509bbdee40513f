package modeltest

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// plan lays out the steps of a reply: what is a block of its own, under which
// ids, in which pieces.
func (s *Server) plan(proto protocol, req *Request, r *Reply) ([]move, ending) {
	var end ending
	var usage *model.Usage
	moves := make([]move, 0, len(r.Steps))
	var last *block
	for i := range r.Steps {
		m := move{Step: r.Steps[i]}
		switch m.kind {
		case stepText, stepWords:
			last = end.grow(last, message.KindText, m.text)
			m.block, m.pieces = last, []string{m.text}
			if m.kind == stepWords {
				m.pieces = words(m.text)
			}
		case stepThink:
			last = end.grow(last, message.KindReasoning, m.text)
			m.block, m.pieces = last, []string{m.text}
		case stepRedacted:
			if proto.mode() != model.AnthropicMessages {
				continue
			}
			last = end.grow(nil, message.KindOpaque, m.text)
			m.block = last
		case stepCall:
			last = end.grow(nil, message.KindToolCall, m.text)
			last.name, last.callID = m.name, m.id
			m.block, m.pieces = last, chunks(m.text)
		case stepUsage:
			usage = &m.usage
		case stepFinish:
			end.finish = m.fin
		}
		moves = append(moves, m)
	}
	s.name(proto.mode(), req, end.blocks)
	end.usage = s.count(req, end.blocks)
	if usage != nil {
		end.usage = *usage
	}
	if end.finish == "" {
		end.finish = model.FinishStop
		if slices.ContainsFunc(end.blocks, func(b *block) bool { return b.kind == message.KindToolCall }) {
			end.finish = model.FinishToolCalls
		}
	}
	return moves, end
}

// grow adds text to the block b if it is of that kind, or to a new one.
func (e *ending) grow(b *block, kind message.Kind, text string) *block {
	if b == nil || b.kind != kind {
		b = &block{kind: kind, index: len(e.blocks)}
		e.blocks = append(e.blocks, b)
	}
	b.text += text
	return b
}

// name gives the blocks the ids and seals that go out with them.
func (s *Server) name(mode model.Mode, req *Request, blocks []*block) {
	if mode == model.ChatCompletions {
		s.rememberThought(req.Model, blocks)
	}
	if mode == model.GeminiGenerate {
		s.sign(req, blocks)
		return // calls have no ids there unless the script names one
	}
	for _, b := range blocks {
		switch {
		case b.kind == message.KindToolCall && b.callID == "":
			switch {
			case mode == model.AnthropicMessages:
				b.callID = s.newID(req, "toolu_01", 22)
			case s.opts.MistralIDs && mode == model.ChatCompletions:
				b.callID = s.newID(req, "", 9)
			default:
				b.callID = s.newID(req, "call_", 24)
			}
		case mode == model.AnthropicMessages && b.kind == message.KindReasoning:
			b.seal = s.seal("thinking", req.Model, b.text)
		case mode == model.AnthropicMessages && b.kind == message.KindOpaque:
			b.seal = s.seal("redacted", req.Model, "")
		}
		if mode == model.CodexResponses {
			s.nameItem(req, b)
		}
	}
}

// words cuts s behind each run of space.
func words(s string) []string {
	var out []string
	for s != "" {
		i := strings.IndexAny(s, " \n")
		if i < 0 {
			return append(out, s)
		}
		for i < len(s) && (s[i] == ' ' || s[i] == '\n') {
			i++
		}
		out, s = append(out, s[:i]), s[i:]
	}
	return out
}

// chunkBytes is the length of the pieces in which arguments are sent.
const chunkBytes = 12

// chunks cuts s into pieces without parting a character.
func chunks(s string) []string {
	var out []string
	for len(s) > chunkBytes {
		n := chunkBytes
		for n > 1 && !utf8.RuneStart(s[n]) {
			n--
		}
		out, s = append(out, s[:n]), s[n:]
	}
	if s != "" {
		out = append(out, s)
	}
	return out
}
