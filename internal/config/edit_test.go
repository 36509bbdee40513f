package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSetKeepsWhatElseIsInTheFile(t *testing.T) {
	tests := []struct{ name, before, path, value, want string }{
		{"new file", "", "agent.max_turns", "9", "agent:\n  max_turns: 9\n"},
		{"only comments", "# mine\n", "model", "m", "# mine\nmodel: m\n"},
		{"new key", "# mine\nmodel: m\n", "effort", "low", "# mine\nmodel: m\neffort: low\n"},
		{"other value", "# mine\nmodel: m # now\neffort: low\n", "model", "other", "# mine\nmodel: other # now\neffort: low\n"},
		{"new nested key", "agent:\n  max_turns: 3\n", "agent.max_errors", "2", "agent:\n  max_turns: 3\n  max_errors: 2\n"},
		{"dots in a name", "", "models.openai/gpt-4.1.context_window", "1000", "models:\n  openai/gpt-4.1:\n    context_window: 1000\n"},
		{"dots in a name, again", "models:\n  openai/gpt-4.1:\n    context_window: 1000\n", "models.openai/gpt-4.1.context_window", "2000", "models:\n  openai/gpt-4.1:\n    context_window: 2000\n"},
		{"list", "", "tools", "a, b", "tools:\n- a\n- b\n"},
		{"duration", "", "agent.max_execution", "10m", "agent:\n  max_execution: 10m0s\n"},
		{"looks like a number", "", "model", "123", "model: \"123\"\n"},
		{"pointer", "", "providers.x.quirks.think_tags", "false", "providers:\n  x:\n    quirks:\n      think_tags: false\n"},
		{"price", "", "models.m.price.input", "1.5", "models:\n  m:\n    price:\n      input: 1.5\n"},
		{"empty mapping", "agent:\n", "agent.max_turns", "4", "agent:\n  max_turns: 4\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "new", "config.yaml")
			put(t, file, tt.before)
			if err := Set(file, tt.path, tt.value); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(file)
			if err != nil || string(got) != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if info, _ := os.Stat(file); tt.before == "" && info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v", info.Mode())
			}
		})
	}
}

func TestSetRefusesWhatWouldNotLoad(t *testing.T) {
	tests := []struct{ before, path, value, want string }{
		{"", "modle", "x", `did you mean model?`},
		{"", "agent", "x", "holds other keys"},
		{"", "agent.max_turns", "x", "no whole number"},
		{"", "models.m", "x", "which key of it"},
		{"modle: x\n", "model", "y", "config.yaml:1:1: unknown key"},
		{"model: [\n", "model", "y", "edit the file instead"},
	}
	for _, tt := range tests {
		file := filepath.Join(t.TempDir(), "config.yaml")
		put(t, file, tt.before)
		err := Set(file, tt.path, tt.value)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s=%s: got %v, want %s", tt.path, tt.value, err, tt.want)
		}
		if got, _ := os.ReadFile(file); string(got) != tt.before {
			t.Errorf("the file was changed to %q", got)
		}
	}
}

func TestRulesAreAddedToThoseOfTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	put(t, file, "# mine\nmodel: m\napprovals:\n  deny: [x] # never\n")
	for _, rules := range [][]string{{"git push --force"}, {`rm -rf ../a\*b`, "git push --force"}, {`echo "a, b" 'c'`}} {
		if err := AllowCommands(file, rules); err != nil {
			t.Fatal(err)
		}
	}
	l, err := Load(Options{Home: filepath.Dir(file)})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"git push --force", `rm -rf ../a\*b`, `echo "a, b" 'c'`}
	if !slices.Equal(l.Approvals.Allow, want) || !slices.Equal(l.Approvals.Deny, []string{"x"}) || l.Model != "m" {
		t.Errorf("got %+v", l.Approvals)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "# mine") || !strings.Contains(string(text), "# never") {
		t.Errorf("the comments are gone: %s, %v", text, err)
	}
}
