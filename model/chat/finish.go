package chat

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/model"
)

// finishes maps the finish reasons that servers send, in lower case. One that
// is not listed says that the reply ended, and no more.
var finishes = map[string]model.Finish{
	"tool_calls": model.FinishToolCalls, "tool_call": model.FinishToolCalls, "tool_use": model.FinishToolCalls,
	"function_call": model.FinishToolCalls,

	"length": model.FinishLength, "max_tokens": model.FinishLength, "max_output_tokens": model.FinishLength,
	"model_length": model.FinishLength, "model_context_window_exceeded": model.FinishLength,
	"max_length": model.FinishLength, "token_limit": model.FinishLength,

	"content_filter": model.FinishContentFilter, "content_filtered": model.FinishContentFilter,
	"safety": model.FinishContentFilter, "refusal": model.FinishContentFilter, "sensitive": model.FinishContentFilter,
	"recitation": model.FinishContentFilter, "blocklist": model.FinishContentFilter,
	"prohibited_content": model.FinishContentFilter, "spii": model.FinishContentFilter,
	"guardrail_intervened": model.FinishContentFilter,

	"pause": model.FinishPause, "pause_turn": model.FinishPause,

	"error": model.FinishError, "network_error": model.FinishError,
	"malformed_function_call": model.FinishError, "insufficient_system_resource": model.FinishError,
}

func readFinish(reason string) model.Finish {
	if f, ok := finishes[strings.ToLower(reason)]; ok {
		return f
	}
	return model.FinishStop
}

// readUsage reads a usage object in any of its forms.
func readUsage(v jsontext.Value) model.Usage {
	var u struct {
		Prompt     number `json:"prompt_tokens"`
		Completion number `json:"completion_tokens"`
		Total      number `json:"total_tokens"`
		Input      number `json:"input_tokens"`
		Output     number `json:"output_tokens"`
		Hit        number `json:"prompt_cache_hit_tokens"` // DeepSeek
		Cached     number `json:"cached_tokens"`           // Moonshot, Together
		Read       number `json:"cache_read_input_tokens"` // Claude behind a gateway
		Written    number `json:"cache_creation_input_tokens"`
		Reasoning  number `json:"reasoning_tokens"`
		Details    struct {
			Cached  number `json:"cached_tokens"`
			Written number `json:"cache_write_tokens"` // OpenRouter
		} `json:"prompt_tokens_details"`
		OutputDetails struct {
			Reasoning number `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
	if !isObject(v) || json.Unmarshal(v, &u, lenient) != nil {
		return model.Usage{}
	}
	got := model.Usage{
		Input:      int64(max(u.Prompt, u.Input)),
		Output:     int64(max(u.Completion, u.Output)),
		CacheRead:  int64(max(u.Details.Cached, u.Hit, u.Cached, u.Read)),
		CacheWrite: int64(max(u.Details.Written, u.Written)),
		Reasoning:  int64(max(u.OutputDetails.Reasoning, u.Reasoning)),
	}
	cached := got.CacheRead + got.CacheWrite
	if max(got.CacheRead, got.CacheWrite) > got.Input || u.Read+u.Written > 0 && cached > got.Input { // they were not counted in
		got.Input += cached
	}
	if got.Reasoning > 0 && int64(u.Total) == got.Input+got.Output+got.Reasoning { // nor was the reasoning: xAI
		got.Output += got.Reasoning
	}
	return got
}
