package anthropic

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

const (
	// defaultMaxOutput is the limit where nobody names one: all models since
	// Claude 3.5 take it.
	defaultMaxOutput = 8192
	// minMaxOutput is what a nearly full window still leaves to the reply.
	minMaxOutput = 1024
	// minBudget is the least that the API takes for thinking.
	minBudget = 1024
	// bytesPerToken is a rough measure of the encoded prompt.
	bytesPerToken = 4
)

// budgets are the tokens for thinking by effort. Any other effort, and a
// profile that asks for thinking without one, counts as medium.
var budgets = map[string]int{
	"minimal": minBudget, "low": 4000, "medium": 8000, "high": 16000, "xhigh": 32000, "max": 32000,
}

// tail returns the body behind the messages. Prompt is its size in tokens.
func (e *encoder) tail(req *model.Request, stream, thinks bool, prompt int) []byte {
	limit, budget := e.limits(req, thinks, prompt)
	b := []byte("]")
	if _, set := e.profile.Extra["max_tokens"]; !set {
		b = strconv.AppendInt(append(b, `,"max_tokens":`...), int64(limit), 10)
	}
	if stream {
		b = append(b, `,"stream":true`...)
	}
	if thinks {
		b = e.appendThinkingMode(b, req, budget)
	}
	b = e.appendToolChoice(b, req)
	for _, name := range wire.ExtraNames(e.profile) {
		switch {
		case name == "tools", name == "thinking", e.profile.Extra[name] == "":
		case name == "tool_choice" && (req.ToolChoice != model.ToolAuto || !hasTools(req)):
		default:
			b = append(wire.AppendString(append(b, ','), name), ':')
			b = append(b, e.profile.Extra[name]...)
		}
	}
	return append(b, '}')
}

// limits returns the limit on the reply and, within it, the budget for
// thinking, 0 for none.
func (e *encoder) limits(req *model.Request, thinks bool, prompt int) (limit, budget int) {
	p := e.profile
	limit = req.MaxOutputTokens
	if limit <= 0 {
		limit = p.MaxOutput
	}
	if limit <= 0 {
		limit = defaultMaxOutput
	}
	if thinks && !e.profile.AdaptiveThinking {
		budget = budgetOf(req.Effort)
		if limit <= budget {
			limit += budget
		}
	}
	if p.MaxOutput > 0 {
		limit = min(limit, p.MaxOutput)
	}
	if p.ContextWindow > 0 {
		limit = min(limit, max(p.ContextWindow-prompt, minMaxOutput))
	}
	if budget >= limit {
		budget = limit / 2
	}
	if budget < minBudget {
		budget = 0
	}
	return limit, budget
}

func budgetOf(effort string) int {
	if n, ok := budgets[effort]; ok {
		return n
	}
	return budgets["medium"]
}

// thinks reports whether the model is to think: if that is asked for and
// nothing in the request forbids it.
func (e *encoder) thinks(req *model.Request) bool {
	extra, set := e.profile.Extra["thinking"]
	if set && extra == "" {
		return false
	}
	wanted := set || e.profile.Thinking || req.Effort != "" && !e.profile.NoEffort
	if e.plain || !wanted || req.Effort == "none" {
		return false
	}
	if hasTools(req) && req.ToolChoice != model.ToolAuto && req.ToolChoice != model.ToolNone {
		return false // the API forces no tool while it thinks
	}
	adaptive := e.profile.AdaptiveThinking || strings.Contains(extra, `"adaptive"`)
	return adaptive || e.turnMayThink(req.History.Messages())
}

// turnMayThink reports whether thinking is allowed at the end of msgs. In the
// middle of a turn, that is behind tool results or a paused reply, it is if the
// turn began with a thinking block that goes back, and if so did what another
// model has said last. Models that set their own budget do not ask for that.
func (e *encoder) turnMayThink(msgs []*message.Message) bool {
	var first, last *message.Message
	for _, m := range slices.Backward(msgs) {
		if m.Role == message.User {
			break
		}
		if m.Role == message.Assistant {
			first, last = m, cmp.Or(last, m)
		}
	}
	if first == nil {
		return true
	}
	return e.beginsThinking(first) && (e.profile.Made(last.Origin) || e.beginsThinking(last))
}

// beginsThinking reports whether m is sent with a thinking block in front.
func (e *encoder) beginsThinking(m *message.Message) bool {
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case message.KindReasoning:
			if _, ok := e.signature(p); ok {
				return true
			}
		case message.KindOpaque:
			if e.sendsOpaque(p) {
				return p.State.Kind == stateRedacted
			}
		default:
			if len(e.appendPart(nil, p)) > 0 {
				return false
			}
		}
	}
	return false
}

// appendThinkingMode asks for thinking: as the profile's extra members say, or
// as much as the model likes, or within budget, which is 0 if there is no room.
// The newer models show nothing of it unless they are asked to.
func (e *encoder) appendThinkingMode(b []byte, req *model.Request, budget int) []byte {
	if extra, ok := e.profile.Extra["thinking"]; ok {
		return append(append(b, `,"thinking":`...), extra...)
	}
	if e.profile.AdaptiveThinking {
		b = append(b, `,"thinking":{"type":"adaptive","display":"summarized"}`...)
		if _, set := e.profile.Extra["output_config"]; set || req.Effort == "" {
			return b
		}
		effort := req.Effort
		if effort == "minimal" {
			effort = "low"
		}
		return append(wire.AppendString(append(b, `,"output_config":{"effort":`...), effort), '}')
	}
	if budget == 0 {
		return b
	}
	b = append(b, `,"thinking":{"type":"enabled","budget_tokens":`...)
	return append(strconv.AppendInt(b, int64(budget), 10), '}')
}

func (e *encoder) appendToolChoice(b []byte, req *model.Request) []byte {
	if !hasTools(req) {
		return b
	}
	switch req.ToolChoice {
	case model.ToolAuto:
		return b
	case model.ToolNone:
		return append(b, `,"tool_choice":{"type":"none"}`...)
	case model.ToolRequired:
		return append(b, `,"tool_choice":{"type":"any"}`...)
	}
	b = append(b, `,"tool_choice":{"type":"tool","name":`...)
	return append(wire.AppendString(b, wire.Name(string(req.ToolChoice), false)), '}')
}

func hasTools(req *model.Request) bool { return req.Tools != nil && len(req.Tools.Specs) > 0 }
