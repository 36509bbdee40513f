package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestEveryKeyIsDocumented looks for each key, by its last name, in the
// documentation.
func TestEveryKeyIsDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range allPaths(reflect.TypeFor[Config](), "") {
		name := path[strings.LastIndexByte(strings.TrimSuffix(path, ".*"), '.')+1:]
		if name = strings.TrimSuffix(name, ".*"); !strings.Contains(string(text), name) {
			t.Errorf("docs/configuration.md lacks %s", path)
		}
	}
}

// TestExamplesOfTheDocumentationLoad reads each YAML block of it.
func TestExamplesOfTheDocumentationLoad(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```yaml\n")[1:]
	for _, b := range blocks {
		example, _, _ := strings.Cut(b, "```")
		if _, err := layers(t, example, "", Options{}); err != nil {
			t.Errorf("%v in\n%s", err, example)
		}
	}
	if len(blocks) == 0 {
		t.Error("no examples")
	}
}
