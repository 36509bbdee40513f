package model

import "testing"

func TestResolveMode(t *testing.T) {
	tests := []struct {
		explicit      Mode
		provider, url string
		want          Mode
	}{
		{ChatCompletions, "anthropic", "https://api.anthropic.com", ChatCompletions},
		{"", "Claude", "https://api.openai.com/v1", AnthropicMessages},
		{"", "gemini-native", "http://127.0.0.1:1/v1beta", GeminiGenerate},
		{"", "google", "https://generativelanguage.googleapis.com/v1beta", GeminiGenerate},
		{"", "google", "https://generativelanguage.googleapis.com/v1beta/models/", GeminiGenerate},
		{"", "google", "https://generativelanguage.googleapis.com/v1beta/openai/", ChatCompletions},
		{"", "x", "https://api.openai.com/v1", CodexResponses},
		{"", "x", "https://host/anthropic/v1", AnthropicMessages},
		{"", "x", "https://generativelanguage.googleapis.com.example/v1beta", ChatCompletions},
		{"", "x", "://", ChatCompletions},
	}
	for _, tt := range tests {
		if got := ResolveMode(tt.explicit, tt.provider, tt.url); got != tt.want {
			t.Errorf("ResolveMode(%q, %q, %q) = %q, want %q", tt.explicit, tt.provider, tt.url, got, tt.want)
		}
	}
}

func TestParseMode(t *testing.T) {
	for _, m := range []Mode{ChatCompletions, CodexResponses, AnthropicMessages, GeminiGenerate} {
		if got, err := ParseMode(string(m)); got != m || err != nil {
			t.Errorf("ParseMode(%q) = %q, %v", m, got, err)
		}
	}
	if m, err := ParseMode("gemini"); err == nil {
		t.Errorf("a name that is none is read as %q", m)
	}
}
