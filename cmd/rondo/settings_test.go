package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/internal/config"
	"github.com/rondo-engine/rondo/model/provider"
)

// configured makes an environment with NAME=value words and a home whose
// config.yaml is text.
func configured(t *testing.T, text, variables string) (*environment, *config.Loaded) {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{"RONDO_HOME": home}
	for w := range strings.FieldsSeq(variables) {
		name, value, _ := strings.Cut(w, "=")
		vars[name] = value
	}
	env := &environment{Dir: home, Now: time.Now, Getenv: func(n string) string { return vars[n] }}
	l, err := env.load(home, nil)
	if err != nil {
		t.Fatal(err)
	}
	return env, l
}

func TestSettingsReachTheProvider(t *testing.T) {
	tests := []struct{ name, text, variables, want string }{
		{"environment", "", "RONDO_BASE_URL=http://h:1/v1 RONDO_API_KEY=k RONDO_MODEL=m", "custom/m chat_completions http://h:1/v1 api_key"},
		{"mode", "", "RONDO_BASE_URL=http://h:1/v1 RONDO_API_MODE=responses RONDO_MODEL=m", "custom/m codex_responses http://h:1/v1 "},
		{"top of the file", "base_url: http://h:2/v1\napi_key: k\nmodel: m\n", "OPENAI_API_KEY=o", "custom/m chat_completions http://h:2/v1 providers.custom.api_key"},
		{"top of the file, owned", "provider: openai\nbase_url: http://h:2/v1\napi_key: k\nmodel: m\n", "", "openai/m chat_completions http://h:2/v1 providers.openai.api_key"},
		{"another provider does not get them", "provider: openai\nbase_url: http://h:2/v1\napi_key: k\n", "RONDO_MODEL=anthropic/m ANTHROPIC_API_KEY=a", "anthropic/m anthropic_messages https://api.anthropic.com ANTHROPIC_API_KEY"},
		{"alias under providers", "providers: {gemini: {api_key: k}}\nmodel: google/m\n", "", "google/m chat_completions https://generativelanguage.googleapis.com/v1beta/openai providers.google.api_key"},
		{"provider over model of the file", "model: openai/m\n", "RONDO_PROVIDER=anthropic ANTHROPIC_API_KEY=a", "anthropic/claude"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env, l := configured(t, tt.text, tt.variables)
			r, err := env.resolve(t.Context(), l)
			if err != nil {
				t.Fatal(err)
			}
			p := r.Profile
			got := p.Provider + "/" + p.Model + " " + string(p.Mode) + " " + p.BaseURL + " " + r.KeyFrom
			if !strings.HasPrefix(got, tt.want) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestFallbacksTakeNothingFromFlagsAndVariables(t *testing.T) {
	env, l := configured(t, `
fallback_providers:
  - {model: anthropic/m}
  - {provider: mine, model: m, base_url: http://h:3/v1, key_env: MINE}
  - {model: openai/m, key_command: echo k}
`, "RONDO_BASE_URL=http://h:1/v1 RONDO_API_KEY=k RONDO_MODEL=m ANTHROPIC_API_KEY=a MINE=x")
	want := []string{
		"anthropic https://api.anthropic.com ANTHROPIC_API_KEY", "mine http://h:3/v1 MINE",
		"openai https://api.openai.com/v1 providers.openai.key_command",
	}
	for i, target := range l.Fallback {
		s, err := env.targetSettings(l, target)
		if err != nil {
			t.Fatal(err)
		}
		r, err := provider.Resolve(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Profile.Provider + " " + r.Profile.BaseURL + " " + r.KeyFrom; got != want[i] {
			t.Errorf("%d: got %s, want %s", i, got, want[i])
		}
		if r.Refresh != nil {
			if key, err := r.Keys.Key(t.Context()); key != "k" || err != nil {
				t.Errorf("key command: %q, %v", key, err)
			}
		}
	}
}

func TestKeyCommandFailureNamesTheCommand(t *testing.T) {
	_, err := runKeyCommand(t.Context(), "echo locked >&2; exit 3")
	if err == nil || !strings.Contains(err.Error(), "locked") || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("got %v", err)
	}
}
