package provider

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/model"
)

// env reads NAME=value words.
func env(words string) func(string) string {
	m := map[string]string{}
	for w := range strings.FieldsSeq(words) {
		name, value, _ := strings.Cut(w, "=")
		m[name] = value
	}
	return func(name string) string { return m[name] }
}

// serve stands for local servers: models by base URL.
func serve(models map[string][]string) func(context.Context, string) ([]string, error) {
	return func(_ context.Context, url string) ([]string, error) {
		if m, ok := models[url]; ok {
			return m, nil
		}
		return nil, errors.New("connection refused")
	}
}

func TestResolveChoosesProviderModelModeAndEndpoint(t *testing.T) {
	config := map[string]Endpoint{
		"corp":      {BaseURL: "https://llm.corp.example/v1", KeyEnv: "CORP_KEY", Model: "house"},
		"anthropic": {APIKey: "sk-file"},
	}
	ollama := map[string][]string{"http://127.0.0.1:11434/v1": {"qwen3:8b", "llama3"}}
	tests := []struct {
		name string
		env  string
		s    Settings
		want string // provider model mode base URL, key from
	}{
		{"first key", "OPENAI_API_KEY=k", Settings{}, "openai " + defaultModel("openai") + " codex_responses https://api.openai.com/v1 OPENAI_API_KEY"},
		{"order of providers", "OPENROUTER_API_KEY=k ANTHROPIC_API_KEY=k", Settings{}, "anthropic " + defaultModel("anthropic") + " anthropic_messages https://api.anthropic.com ANTHROPIC_API_KEY"},
		{"named with provider", "OPENAI_API_KEY=k DEEPSEEK_API_KEY=d", Settings{Model: "deepseek/deepseek-chat"}, "deepseek deepseek-chat chat_completions https://api.deepseek.com/v1 DEEPSEEK_API_KEY"},
		{"alias", "GOOGLE_API_KEY=k", Settings{Model: "gemini/gemini-2.5-pro"}, "google gemini-2.5-pro chat_completions https://generativelanguage.googleapis.com/v1beta/openai GOOGLE_API_KEY"},
		{"plain name, one key", "OPENAI_API_KEY=k", Settings{Model: "gpt-x"}, "openai gpt-x codex_responses https://api.openai.com/v1 OPENAI_API_KEY"},
		{"plain name, maker", "OPENAI_API_KEY=k ANTHROPIC_API_KEY=a", Settings{Model: "claude-99"}, "anthropic claude-99 anthropic_messages https://api.anthropic.com ANTHROPIC_API_KEY"},
		{"plain name, nobody's", "OPENAI_API_KEY=k ANTHROPIC_API_KEY=a", Settings{Model: "rounds-20"}, "openai rounds-20 codex_responses https://api.openai.com/v1 OPENAI_API_KEY"},
		{"vendor name", "OPENAI_API_KEY=k OPENROUTER_API_KEY=r", Settings{Model: "meta-llama/llama-3"}, "openrouter meta-llama/llama-3 chat_completions https://openrouter.ai/api/v1 OPENROUTER_API_KEY"},
		{"vendor name, one key", "OPENAI_API_KEY=k", Settings{Model: "meta-llama/llama-3"}, "openai meta-llama/llama-3 codex_responses https://api.openai.com/v1 OPENAI_API_KEY"},
		{"openai moved", "OPENAI_API_KEY=k OPENAI_BASE_URL=http://127.0.0.1:9/v1", Settings{Model: "openai/rounds-2"}, "openai rounds-2 chat_completions http://127.0.0.1:9/v1 OPENAI_API_KEY"},
		{"openai moved, mode set", "OPENAI_API_KEY=k OPENAI_BASE_URL=http://127.0.0.1:9/v1/", Settings{Model: "m", APIMode: model.CodexResponses}, "openai m codex_responses http://127.0.0.1:9/v1 OPENAI_API_KEY"},
		{"anthropic moved", "ANTHROPIC_API_KEY=k ANTHROPIC_BASE_URL=http://127.0.0.1:9", Settings{Model: "anthropic/m"}, "anthropic m anthropic_messages http://127.0.0.1:9 ANTHROPIC_API_KEY"},
		{"anthropic moved with v1", "ANTHROPIC_API_KEY=k ANTHROPIC_BASE_URL=http://h/v1/", Settings{Model: "anthropic/m"}, "anthropic m anthropic_messages http://h ANTHROPIC_API_KEY"},
		{"base URL alone", "OPENAI_API_KEY=k", Settings{Model: "m/n", BaseURL: "http://h:1"}, "custom m/n chat_completions http://h:1/v1 -"},
		{"base URL and key", "", Settings{Model: "m", BaseURL: "http://h:1/api", APIKey: "x"}, "custom m chat_completions http://h:1/api api_key"},
		{"base URL known", "GROQ_API_KEY=k", Settings{Model: "m", BaseURL: "https://api.groq.com/openai/v1"}, "groq m chat_completions https://api.groq.com/openai/v1 GROQ_API_KEY"},
		{"base URL hints at Anthropic", "", Settings{Model: "m", BaseURL: "https://h/anthropic/v1", APIKey: "x"}, "custom m anthropic_messages https://h/anthropic api_key"},
		{"base URL with the call", "", Settings{Model: "m", BaseURL: "https://h/v1/chat/completions"}, "custom m chat_completions https://h/v1 -"},
		{"base URL, any provider name", "", Settings{Provider: "mine", Model: "m", BaseURL: "https://h/v1"}, "mine m chat_completions https://h/v1 -"},
		{"base URL, its model", "", Settings{BaseURL: "http://127.0.0.1:11434"}, "custom  error"},
		{"aggregator keeps vendor", "OPENROUTER_API_KEY=k", Settings{Provider: "openrouter", Model: "openai/gpt-5"}, "openrouter openai/gpt-5 chat_completions https://openrouter.ai/api/v1 OPENROUTER_API_KEY"},
		{"aggregator's own model", "OPENROUTER_API_KEY=k", Settings{Model: "openrouter/openrouter/auto"}, "openrouter openrouter/auto chat_completions https://openrouter.ai/api/v1 OPENROUTER_API_KEY"},
		{"provider named twice", "OPENAI_API_KEY=k", Settings{Provider: "openai", Model: "openai/gpt-5"}, "openai gpt-5 codex_responses https://api.openai.com/v1 OPENAI_API_KEY"},
		{"configured provider", "CORP_KEY=k", Settings{Model: "corp/house", Endpoints: config}, "corp house chat_completions https://llm.corp.example/v1 CORP_KEY"},
		{"configured provider's model", "CORP_KEY=k", Settings{Provider: "corp", Endpoints: config}, "corp house chat_completions https://llm.corp.example/v1 CORP_KEY"},
		{"environment before file", "ANTHROPIC_API_KEY=k", Settings{Provider: "anthropic", Endpoints: config}, "anthropic " + defaultModel("anthropic") + " anthropic_messages https://api.anthropic.com ANTHROPIC_API_KEY"},
		{"key in file", "", Settings{Provider: "anthropic", Model: "m", Endpoints: config}, "anthropic m anthropic_messages https://api.anthropic.com providers.anthropic.api_key"},
		{"gemini by name", "GEMINI_API_KEY=k", Settings{Model: "gemini-native/gemini-2.5-pro"}, "gemini-native gemini-2.5-pro gemini_generate_content https://generativelanguage.googleapis.com/v1beta GEMINI_API_KEY"},
		{"gemini by URL", "GEMINI_API_KEY=k GEMINI_BASE_URL=https://generativelanguage.googleapis.com", Settings{Model: "google/gemini-2.5-pro"}, "google gemini-2.5-pro gemini_generate_content https://generativelanguage.googleapis.com/v1beta GEMINI_API_KEY"},
		{"gemini in another mode", "GEMINI_API_KEY=k", Settings{Model: "gemini-native/m", APIMode: model.ChatCompletions, BaseURL: "http://h/v1"}, "gemini-native m chat_completions http://h/v1 GEMINI_API_KEY"},
		{"responses by name", "OPENAI_API_KEY=k OPENAI_BASE_URL=http://h/v1", Settings{Model: "openai-codex/m"}, "openai-codex m codex_responses http://h/v1 OPENAI_API_KEY"},
		{"local server", "", Settings{List: serve(ollama)}, "ollama qwen3:8b chat_completions http://127.0.0.1:11434/v1 -"},
		{"local server has it", "", Settings{Model: "llama3", List: serve(ollama)}, "ollama llama3 chat_completions http://127.0.0.1:11434/v1 -"},
		{"local named", "OPENAI_API_KEY=k", Settings{Model: "ollama/llama3"}, "ollama llama3 chat_completions http://127.0.0.1:11434/v1 -"},
		{"local moved", "OLLAMA_HOST=0.0.0.0:7", Settings{Model: "ollama/llama3"}, "ollama llama3 chat_completions http://127.0.0.1:7/v1 -"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.s.Env = env(tt.env)
			if tt.s.List == nil {
				tt.s.List = serve(nil)
			}
			r, err := Resolve(t.Context(), tt.s)
			if strings.HasSuffix(tt.want, " error") && err != nil {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			p, key := r.Profile, r.KeyFrom
			if key == "" {
				key = "-"
			}
			if got := strings.Join([]string{p.Provider, p.Model, string(p.Mode), p.BaseURL, key}, " "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if (r.Keys == nil) != (key == "-") || (p.Account == "") != (r.Keys == nil) {
				t.Errorf("keys %v, account %q, from %s", r.Keys, p.Account, key)
			}
		})
	}
}

func TestResolveErrorsSayWhatToDo(t *testing.T) {
	tests := []struct {
		name string
		env  string
		s    Settings
		want []string
	}{
		{"nothing", "", Settings{}, []string{"OPENAI_API_KEY", "ollama", "--base-url", "rondo demo"}},
		{"no key", "", Settings{Model: "openai/gpt-5"}, []string{"no key for openai", "set OPENAI_API_KEY", "--base-url"}},
		{"no key, two variables", "", Settings{Model: "gemini/x"}, []string{"GEMINI_API_KEY or GOOGLE_API_KEY"}},
		{"no key of the maker", "", Settings{Model: "claude-x"}, []string{"no key for anthropic", "ANTHROPIC_API_KEY"}},
		{"key elsewhere", "OPENROUTER_API_KEY=k", Settings{Model: "anthropic/claude-sonnet-4.5"}, []string{"--model openrouter/anthropic/claude-sonnet-4.5"}},
		{"unknown provider", "", Settings{Provider: "nope", Model: "m"}, []string{`unknown provider "nope"`, "openai, anthropic", "--base-url"}},
		{"no default", "TOGETHER_API_KEY=k", Settings{Provider: "together"}, []string{"which model of together", "--model together/NAME"}},
		{"azure without URL", "AZURE_OPENAI_API_KEY=k", Settings{Model: "azure/m"}, []string{"AZURE_OPENAI_BASE_URL", "--base-url"}},
		{"model of another", "ANTHROPIC_API_KEY=k", Settings{Provider: "anthropic", Model: "openai/gpt-5"}, []string{"provider openai", "provider anthropic is set"}},
		{"not a URL", "", Settings{Model: "m", BaseURL: "localhost:8000"}, []string{"base_url", "localhost:8000", "https://host/v1"}},
		{"secret in URL", "", Settings{Model: "m", BaseURL: "ftp://me:hunter2@h"}, []string{"...@h"}},
		{"server is down", "", Settings{Provider: "ollama"}, []string{"ollama", "connection refused", "start the server"}},
		{"server has several", "", Settings{BaseURL: "http://h/v1", List: serve(map[string][]string{"http://h/v1": {"a", "b"}})}, []string{"has 2", "--model", "a, b"}},
		{"server has none", "", Settings{BaseURL: "http://h/v1", List: serve(map[string][]string{"http://h/v1": {}})}, []string{"no models"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.s.Env = env(tt.env)
			if tt.s.List == nil {
				tt.s.List = serve(nil)
			}
			_, err := Resolve(t.Context(), tt.s)
			if err == nil {
				t.Fatal("no error")
			}
			for _, w := range tt.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q lacks %q", err, w)
				}
			}
			if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") {
				t.Errorf("error gives away a password or has several lines: %q", err)
			}
		})
	}
}

func TestKeyGoesWithTheEndpointOfTheSameLayer(t *testing.T) {
	s := Settings{
		Model: "openai/m", Env: env("OPENAI_API_KEY=from-env"),
		Endpoints: map[string]Endpoint{"openai": {BaseURL: "https://proxy.example/v1", APIKey: "for-proxy"}},
	}
	r, err := Resolve(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if key, _ := r.Keys.Key(t.Context()); key != "for-proxy" {
		t.Errorf("the configured endpoint gets key %q", key)
	}
}

func TestKeyCommandRunsOnceAndOnlyWhenNeeded(t *testing.T) {
	runs := 0
	s := Settings{
		Model: "openai/m", Endpoints: map[string]Endpoint{"openai": {KeyCommand: "pass openai"}},
		Command: func(_ context.Context, c string) (string, error) { runs++; return "key of " + c + "\n", nil },
	}
	r, err := Resolve(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if runs != 0 {
		t.Error("the command ran before a key was asked for")
	}
	for range 2 {
		if key, err := r.Keys.Key(t.Context()); key != "key of pass openai" || err != nil {
			t.Errorf("got key %q, %v", key, err)
		}
	}
	if runs != 1 {
		t.Errorf("the command ran %d times", runs)
	}
	for range 2 { // the command prints the same key: it is refused again
		if key, err := r.Refresh(t.Context(), "key of pass openai"); key == "" || err != nil {
			t.Errorf("refreshed to %q, %v", key, err)
		}
	}
	if runs != 3 {
		t.Errorf("after refreshing the command ran %d times", runs)
	}
}

func TestSeveralVariablesMakeAPool(t *testing.T) {
	s := Settings{
		Model: "openai/m", Env: env("OPENAI_API_KEY=other KEY_A=a KEY_C=c"),
		Endpoints: map[string]Endpoint{"openai": {KeyEnv: "KEY_A, KEY_B, KEY_C"}},
	}
	r, err := Resolve(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if want := []model.KeySource{model.StaticKey("a"), model.StaticKey("c")}; !slices.Equal(r.Pool, want) || r.Keys != want[0] || r.KeyFrom != "KEY_A, KEY_C" {
		t.Errorf("pool of %d from %s", len(r.Pool), r.KeyFrom)
	}
}

func TestAccountTellsKeysApartWithoutShowingThem(t *testing.T) {
	if account(model.StaticKey("x"), model.StaticKey("y")) != account(model.StaticKey("y"), model.StaticKey("x")) || account() != "" {
		t.Error("the order of a pool makes another account of it, or there is one without a key")
	}
	a, b := account(model.StaticKey("sk-one")), account(model.StaticKey("sk-two"))
	if a == b || a != account(model.StaticKey("sk-one")) || len(a) != 12 || strings.Contains(a, "one") {
		t.Errorf("accounts %q and %q", a, b)
	}
}
