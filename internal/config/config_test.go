package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// layers makes a home and a project with the given files and loads them.
func layers(t *testing.T, home, project string, o Options) (*Loaded, error) {
	t.Helper()
	root := t.TempDir()
	o.Home, o.Dir = filepath.Join(root, "home"), filepath.Join(root, "work")
	put(t, filepath.Join(o.Home, "config.yaml"), home)
	put(t, filepath.Join(o.Dir, ".rondo", "config.yaml"), project)
	put(t, filepath.Join(o.Dir, ".git", "HEAD"), "x")
	return Load(o)
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if text == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func getenv(name, value string) func(string) string {
	return func(n string) string {
		if n == name {
			return value
		}
		return ""
	}
}

func TestStrongerLayersWin(t *testing.T) {
	home, project := "model: home\neffort: low\nagent:\n  max_turns: 7\n  max_execution: 10m\n", "model: project\nagent: {max_turns: 8}\n"
	tests := []struct {
		name string
		o    Options
		want string
		from string
	}{
		{"project over home", Options{}, "project", "work/.rondo/config.yaml:1"},
		{"environment over files", Options{Getenv: getenv("RONDO_MODEL", "env")}, "env", "RONDO_MODEL"},
		{"flag over environment", Options{Getenv: getenv("RONDO_MODEL", "env"), Flags: []Setting{{"model", "flag", "--model"}}}, "flag", "--model"},
	}
	for i, tt := range tests {
		l, err := layers(t, home, project, tt.o)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if l.Model != tt.want || !strings.HasSuffix(l.Source("model"), tt.from) {
			t.Errorf("%s: model %q from %s, want %q from %s", tt.name, l.Model, l.Source("model"), tt.want, tt.from)
		}
		if want := Layer(int(ProjectLayer) + i); l.Layer("model") != want {
			t.Errorf("%s: layer %d, want %d", tt.name, l.Layer("model"), want)
		}
		if l.Files.Model != "project" {
			t.Errorf("%s: the files say %q", tt.name, l.Files.Model)
		}
		if l.Agent.MaxTurns != 8 || l.Agent.MaxExecution != 10*time.Minute || l.Effort != "low" {
			t.Errorf("%s: layers do not join: %+v", tt.name, l.Agent)
		}
		if l.Source("sandbox") != "default" || l.Sandbox != "workspace" {
			t.Errorf("%s: sandbox %q from %s", tt.name, l.Sandbox, l.Source("sandbox"))
		}
	}
}

func TestDefaultsAreThoseOfTheContract(t *testing.T) {
	l, err := Load(Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"agent.max_turns": "500", "agent.max_errors": "0", "agent.max_execution": "0s", "agent.snapshot": "every_tool_round",
		"compression.protect_last_n": "20", "compression.threshold": "0.5", "delegation.max_iterations": "50", "sandbox": "workspace",
	} {
		got, err := l.Get(path)
		if err != nil || len(got) != 1 || got[0].Text != want || got[0].Source != "default" {
			t.Errorf("%s: got %v, %v, want %s", path, got, err, want)
		}
	}
}

func TestEveryDefaultIsInItsLimits(t *testing.T) {
	l, err := Load(Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	c := Default()
	for _, v := range l.All() {
		if err := l.lay(Setting{Path: v.Path, Text: v.Text, From: "test"}, FlagLayer); err != nil {
			t.Error(err)
		}
	}
	if l.Agent != c.Agent || l.Compression != c.Compression {
		t.Errorf("the defaults do not survive being written and read: %+v", l.Config)
	}
}

func TestMapsAndListsAreRead(t *testing.T) {
	l, err := layers(t, `
providers:
  corp:
    base_url: https://llm.example/v1
    api_key: sk-0123456789abcdef
    quirks:
      think_tags: true
      headers: {X-Team: secret-team-header}
models:
  openai/gpt-4.1:
    context_window: 1000
    price: {input: 1.5}
fallback_providers:
  - {provider: anthropic, model: claude-x}
  - provider: corp
    model: m
auxiliary:
  vision: {model: google/v, timeout: 30s}
tools: [read_file, grep]
`, "providers:\n  corp:\n    model: house\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	corp := l.Providers["corp"]
	if corp.BaseURL != "https://llm.example/v1" || corp.Model != "house" || corp.Quirks.ThinkTags == nil || !*corp.Quirks.ThinkTags {
		t.Errorf("corp %+v", corp)
	}
	if m := l.Models["openai/gpt-4.1"]; m.ContextWindow != 1000 || m.Price == nil || m.Price.Input != 1.5 {
		t.Errorf("model %+v", m)
	}
	if len(l.Fallback) != 2 || l.Fallback[1].Provider != "corp" || l.Auxiliary["vision"].Timeout != 30*time.Second || !slices.Equal(l.Tools, []string{"read_file", "grep"}) {
		t.Errorf("fallback %v, auxiliary %v, tools %v", l.Fallback, l.Auxiliary, l.Tools)
	}
	for _, v := range l.All() {
		if strings.Contains(v.Text, "0123456789") || strings.Contains(v.Text, "secret-team") {
			t.Errorf("%s shows a secret: %s", v.Path, v.Text)
		}
	}
	if v, _ := l.Get("providers.corp.api_key"); len(v) != 1 || v[0].Text != "****cdef" {
		t.Errorf("masked key: %v", v)
	}
}

func TestWrongFilesAreRefusedWithPlaceAndAdvice(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"misspelt key", "modle: x\n", `1:1: unknown key "modle": did you mean model?`},
		{"misspelt nested key", "agent:\n  max_turn: 3\n", `2:3: unknown key "max_turn": did you mean max_turns?`},
		{"key in the wrong place", "max_turns: 3\n", `1:1: unknown key "max_turns": did you mean agent.max_turns?`},
		{"strange key", "compression:\n  zebra: 3\n", `2:3: unknown key "zebra": it is one of enabled, threshold, protect_last_n`},
		{"not a number", "agent:\n  max_turns: many\n", `2:14: agent.max_turns: "many" is no whole number`},
		{"too small", "agent: {max_turns: 0}\n", `1:20: agent.max_turns: 0 is too small: it must be at least 1`},
		{"too large", "compression: {threshold: 50}\n", `1:26: compression.threshold: 50 is too large: it must be at most 0.95`},
		{"not one of", "approve: sak\n", `1:10: approve: "sak" is none of ask, deny, all: did you mean ask?`},
		{"not a bool", "no_tools: yes\n", `1:11: no_tools: "yes" is neither true nor false`},
		{"no duration", "agent: {max_execution: 5}\n", `1:24: agent.max_execution: "5" is no duration: write it as in 90s, 10m or 1h30m`},
		{"no mapping", "agent: 5\n", `1:8: agent must hold keys, as in "key: value"`},
		{"no list", "tools: a\n", `1:8: tools must be a list, as in [a, b]`},
		{"no scalar", "model:\n  a: b\n", `2:3: model must be a single value`},
		{"in a list", "fallback_providers:\n  - {provider: a, modle: b}\n", `2:19: unknown key "modle": did you mean model?`},
		{"in a map", "providers:\n  x:\n    quirks: {think_tag: true}\n", `3:14: unknown key "think_tag": did you mean think_tags?`},
		{"no YAML", "model: [a\n", `1:8: `},
		{"twice", "model: a\nmodel: b\n", `2:1: `},
		{"anchor", "model: &a b\n", `1:8: anchors, aliases and tags`},
		{"second document", "model: a\n---\nmodel: b\n", `a second document`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := layers(t, tt.text, "", Options{})
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), "home/config.yaml:") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestAllProblemsOfAFileAreTold(t *testing.T) {
	_, err := layers(t, "modle: x\nagent:\n  max_turns: -1\n", "", Options{})
	if p, ok := err.(Problems); !ok || len(p) != 2 || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("got %v", err)
	}
}

func TestWrongFlagsAndVariablesNameThemselves(t *testing.T) {
	_, err := layers(t, "", "", Options{Getenv: getenv("RONDO_API_MODE", "chat")})
	if err == nil || !strings.HasPrefix(err.Error(), `RONDO_API_MODE: "chat" is none of chat_completions`) {
		t.Errorf("got %v", err)
	}
	_, err = layers(t, "", "", Options{Flags: []Setting{{"agent.max_turns", "x", "--max-turns"}}})
	if err == nil || err.Error() != `--max-turns: "x" is no whole number` {
		t.Errorf("got %v", err)
	}
}

func TestEmptyFilesSetNothing(t *testing.T) {
	for _, text := range []string{"\n", "# nothing\n", "---\n", "agent:\n", "agent:\n  max_turns:\n"} {
		l, err := layers(t, text, "", Options{})
		if err != nil || l.Agent.MaxTurns != 500 {
			t.Errorf("%q: %v", text, err)
		}
	}
}
