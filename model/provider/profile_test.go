package provider

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo/model"
)

func resolve(t *testing.T, s Settings) *model.Profile {
	t.Helper()
	if s.APIKey == "" {
		s.APIKey = "k"
	}
	r, err := Resolve(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return r.Profile
}

func TestSizesComeFromSettingsThenConfigThenCatalogue(t *testing.T) {
	card, ok := Lookup("anthropic", "claude-opus-4-5")
	if !ok {
		t.Fatal("the catalogue lacks claude-opus-4-5")
	}
	config := map[string]ModelSettings{"anthropic/claude-opus-4-5": {ContextWindow: 5000, MaxOutput: 50}, "m": {ContextWindow: 7000}}
	tests := []struct {
		name        string
		s           Settings
		window, max int
	}{
		{"catalogue", Settings{Model: "anthropic/claude-opus-4-5"}, card.ContextWindow, card.MaxOutput},
		{"config", Settings{Model: "anthropic/claude-opus-4-5", Models: config}, 5000, 50},
		{"settings", Settings{Model: "anthropic/claude-opus-4-5", Models: config, ContextWindow: 900, MaxOutput: 9}, 900, 9},
		{"config by name alone", Settings{Model: "m", BaseURL: "http://h/v1", Models: config}, 7000, 0},
		{"unknown", Settings{Model: "m", BaseURL: "http://h/v1"}, DefaultWindow, 0},
		{"known elsewhere", Settings{Model: "claude-opus-4-5", BaseURL: "http://h/v1"}, card.ContextWindow, 0},
	}
	for _, tt := range tests {
		tt.s.APIKey = "k"
		r, err := Resolve(t.Context(), tt.s)
		if err != nil {
			t.Fatal(err)
		}
		p := r.Profile
		if p.ContextWindow != tt.window || p.MaxOutput != tt.max {
			t.Errorf("%s: window %d, output %d, want %d and %d", tt.name, p.ContextWindow, p.MaxOutput, tt.window, tt.max)
		}
		if set := tt.s.ContextWindow > 0 || tt.s.Models != nil; r.WindowSet != set {
			t.Errorf("%s: the window is set: %v, want %v", tt.name, r.WindowSet, set)
		}
	}
}

func TestPriceIsKnownOnlyWhereTheModelIs(t *testing.T) {
	if p := resolve(t, Settings{Model: "openai/gpt-4.1"}); p.Price == nil || p.Price.Input != 2 || p.Price.CacheRead != 0.5 || p.Price.Output != 8 {
		t.Errorf("gpt-4.1 costs %+v", p.Price)
	}
	if p := resolve(t, Settings{Model: "gpt-4.1", BaseURL: "http://h/v1"}); p.Price != nil {
		t.Errorf("a custom endpoint costs %+v", p.Price)
	}
}

// TestQuirks has a case for each row of the table, named by its why.
func TestQuirks(t *testing.T) {
	openrouter := map[string]string{"X-Title": "rondo"}
	tests := []struct {
		why                   string
		mode                  model.Mode
		provider, host, model string
		want                  model.Quirks
	}{
		{quirks[0].why, model.ChatCompletions, "x", "h", "m", model.Quirks{NoToolImages: true}},
		{quirks[1].why, model.ChatCompletions, "azure", "r.openai.azure.com", "m", model.Quirks{NoToolImages: true, MaxTokensField: "max_completion_tokens"}},
		{quirks[2].why, model.ChatCompletions, "openai", "api.openai.com", "o3-mini", model.Quirks{NoToolImages: true, MaxTokensField: "max_completion_tokens", DeveloperRole: true}},
		{quirks[3].why, model.ChatCompletions, "mistral", "api.mistral.ai", "m", model.Quirks{NoToolImages: true, NoStreamOptions: true}},
		{quirks[4].why, model.ChatCompletions, "x", "h", "mistralai/Devstral-2", model.Quirks{NoToolImages: true, ToolIDAlphabet: "mistral"}},
		{quirks[5].why, model.CodexResponses, "x", "h", "anthropic/claude-x", model.Quirks{ToolIDAlphabet: "anthropic"}},
		{quirks[6].why, model.AnthropicMessages, "minimax", "api.minimax.io", "m", model.Quirks{ToolIDAlphabet: "anthropic"}},
		{quirks[7].why, model.ChatCompletions, "moonshot", "api.moonshot.cn", "m", model.Quirks{NoToolImages: true, ReasoningField: "reasoning_content"}},
		{quirks[8].why, model.ChatCompletions, "openrouter", "openrouter.ai", "z/m", model.Quirks{NoToolImages: true, ReasoningField: "reasoning", Headers: openrouter}},
		{quirks[9].why, model.ChatCompletions, "xai", "api.x.ai", "grok-4", model.Quirks{NoToolImages: true, ReasoningField: "reasoning_content"}},
		{quirks[10].why, model.ChatCompletions, "x", "ollama.com", "gpt-oss:120b", model.Quirks{NoToolImages: true, ReasoningField: "reasoning"}},
		{quirks[11].why, model.AnthropicMessages, "bedrock", "h", "us.anthropic.claude-opus-4-7-v1", model.Quirks{ToolIDAlphabet: "anthropic", AdaptiveThinking: true}},
		{quirks[12].why, model.ChatCompletions, "openrouter", "openrouter.ai", "anthropic/claude-x", model.Quirks{NoToolImages: true, ReasoningField: "reasoning", Headers: openrouter, CacheMarks: true, ToolIDAlphabet: "anthropic"}},
		{quirks[13].why, model.ChatCompletions, "vllm", "127.0.0.1", "m", model.Quirks{NoToolImages: true, ThinkTags: true}},
		{quirks[14].why, model.ChatCompletions, "groq", "api.groq.com", "qwen/Qwen3-32b", model.Quirks{NoToolImages: true, ThinkTags: true, ImageBytes: 1_000_000}},
		{quirks[15].why, model.ChatCompletions, "groq", "api.groq.com", "llama-4", model.Quirks{NoToolImages: true, ImageBytes: 1_000_000}},
		{quirks[16].why, model.GeminiGenerate, "gemini-native", "generativelanguage.googleapis.com", "gemini-2.5-pro", model.Quirks{NoToolImages: true}},
		{quirks[17].why, model.GeminiGenerate, "gemini-native", "generativelanguage.googleapis.com", "gemini-3-pro-preview", model.Quirks{ThinkingLevels: true, SignedCalls: true}},
		{"no row", model.CodexResponses, "openai", "api.openai.com", "gpt-5", model.Quirks{}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, quirksFor(tt.mode, tt.provider, tt.host, tt.model)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
	if len(tests) != len(quirks)+1 {
		t.Errorf("%d rows, but %d cases", len(quirks), len(tests)-1)
	}
}

func TestNewerClaudesThinkAsTheyLike(t *testing.T) {
	adaptive := map[string]bool{
		"claude-opus-4-7": true, "claude-opus-4.8-fast": true, "claude-sonnet-5": true, "claude-opus-5-5": true, "claude-haiku-5-5": true, "claude-mythos-5": true,
		"claude-opus-4-6": false, "claude-opus-4-20250514": false, "claude-opus-4-1-20250805": false, "claude-3-5-haiku-20241022": false,
		"claude-sonnet-4-5-20250929": false, "claude-3-7-sonnet": false, "deepseek-v4": false,
	}
	for name, want := range adaptive {
		if got := quirksFor(model.AnthropicMessages, "anthropic", "api.anthropic.com", name).AdaptiveThinking; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestOpenAIsNameAtAnotherHostIsACustomServer(t *testing.T) {
	p := resolve(t, Settings{Model: "openai/m", BaseURL: "http://127.0.0.1:9/v1"})
	if !p.ThinkTags || p.MaxTokensField != "" {
		t.Errorf("quirks %+v", p.Quirks)
	}
}

func TestConfigOverridesQuirks(t *testing.T) {
	off, field := false, "max_tokens"
	p := resolve(t, Settings{
		Model: "openrouter/anthropic/claude-x",
		Endpoints: map[string]Endpoint{"openrouter": {Quirks: Overrides{
			CacheMarks: &off, MaxTokensField: &field, Headers: map[string]string{"X-Team": "a"}, Extra: map[string]string{"user": `"me"`},
		}}},
		Models: map[string]ModelSettings{"anthropic/claude-x": {Quirks: Overrides{MaxTokensField: new("max_completion_tokens")}}},
	})
	if p.CacheMarks || p.MaxTokensField != "max_completion_tokens" {
		t.Errorf("quirks %+v", p.Quirks)
	}
	if want := map[string]string{"X-Title": "rondo", "X-Team": "a"}; !cmp.Equal(p.Headers, want) || p.Extra["user"] != `"me"` {
		t.Errorf("headers %v, extra %v", p.Headers, p.Extra)
	}
	if again := resolve(t, Settings{Model: "openrouter/x/y"}); len(again.Headers) != 1 {
		t.Errorf("an override leaked into the table: %v", again.Headers)
	}
}
