package gemini

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// budgets are the tokens for thinking by effort, as Google maps them in its API
// for clients of OpenAI. Any effort above takes the most.
var budgets = map[string]int{"minimal": 1024, "low": 1024, "medium": 8192}

const (
	maxBudget = 24576
	// minBudget is the least that models which always think take.
	minBudget = 128
)

// tail returns the body behind the contents.
func (e *encoder) tail(req *model.Request) []byte {
	b := []byte("]")
	if _, set := e.profile.Extra["generationConfig"]; !set {
		b = e.appendConfig(b, req)
	}
	forced := false
	if req.Tools != nil && len(req.Tools.Specs) > 0 && req.ToolChoice != model.ToolAuto {
		forced = true
		b = appendToolChoice(b, req.ToolChoice)
	}
	for _, name := range wire.ExtraNames(e.profile) {
		value := e.profile.Extra[name]
		if name == "tools" || value == "" || name == "toolConfig" && forced {
			continue
		}
		b = append(wire.AppendString(append(b, ','), name), ':')
		b = append(b, value...)
	}
	return append(b, '}')
}

func (e *encoder) appendConfig(b []byte, req *model.Request) []byte {
	limit := cmp.Or(req.MaxOutputTokens, e.profile.MaxOutput)
	thinking, budget := e.thinking(req)
	if budget > 0 && limit > 0 {
		if limit <= budget {
			limit += budget
		}
		if e.profile.MaxOutput > 0 {
			limit = min(limit, e.profile.MaxOutput)
		}
		if budget >= limit {
			budget = limit / 2
		}
	}
	start := len(b)
	b = append(b, `,"generationConfig":{`...)
	open := len(b)
	if limit > 0 {
		b = append(strconv.AppendInt(append(b, `"maxOutputTokens":`...), int64(limit), 10), ',')
	}
	if thinking != "" {
		b = append(append(b, `"thinkingConfig":{`...), thinking...)
		if budget >= 0 {
			b = strconv.AppendInt(append(b, `,"thinkingBudget":`...), int64(budget), 10)
		}
		b = append(b, "},"...)
	}
	if len(b) == open {
		return b[:start]
	}
	return append(b[:len(b)-1], '}')
}

// thinking returns what the request says of thinking, "" for nothing, and the
// budget for it, negative for none to be named. What was thought is shown
// unless there is to be none.
func (e *encoder) thinking(req *model.Request) (members string, budget int) {
	const shown, hidden = `"includeThoughts":true`, `"includeThoughts":false`
	p := e.profile
	effort := req.Effort
	if p.NoEffort {
		effort = ""
	}
	switch {
	case effort == "" && !p.Thinking:
		return "", -1
	case effort == "":
		return shown, -1
	case p.ThinkingLevels:
		members = shown
		if effort == "none" {
			members = hidden
		}
		return members + `,"thinkingLevel":"` + thinkingLevel(p.Model, effort) + `"`, -1
	case effort == "none" && strings.Contains(p.Model, "pro"):
		return hidden, minBudget
	case effort == "none":
		return hidden, 0
	}
	if n, ok := budgets[effort]; ok {
		return shown, n
	}
	return shown, maxBudget
}

// thinkingLevel returns the level of a model that is nearest to an effort: the
// larger models cannot do without thinking, and Gemini 3 Pro has no level
// between low and high.
func thinkingLevel(name, effort string) string {
	pro := strings.Contains(name, "pro")
	switch effort {
	case "none", "minimal":
		if pro {
			return "low"
		}
		return "minimal"
	case "low":
		return "low"
	case "medium":
		if !strings.HasPrefix(name, "gemini-3-pro") {
			return "medium"
		}
	}
	return "high"
}

func appendToolChoice(b []byte, c model.ToolChoice) []byte {
	b = append(b, `,"toolConfig":{"functionCallingConfig":{"mode":`...)
	switch c {
	case model.ToolNone:
		b = append(b, `"NONE"`...)
	case model.ToolRequired:
		b = append(b, `"ANY"`...)
	default:
		b = append(b, `"ANY","allowedFunctionNames":[`...)
		b = append(wire.AppendString(b, wire.Name(string(c), true)), ']')
	}
	return append(b, "}}"...)
}
