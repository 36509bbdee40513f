package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestScenarioTableNamesRealTests holds docs/scenarios.md to the tree: each test
// and file that it names exists, and each scenario file is named.
func TestScenarioTableNamesRealTests(t *testing.T) {
	table, err := os.ReadFile(filepath.Join(root, "docs", "scenarios.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := testNames(t)
	for _, m := range regexp.MustCompile("`(Test\\w+|[\\w-]+\\.txtar)`").FindAllStringSubmatch(string(table), -1) {
		if !tests[m[1]] {
			t.Errorf("docs/scenarios.md names %s, which does not exist", m[1])
		}
	}
	for name := range tests {
		if strings.HasSuffix(name, ".txtar") && !strings.Contains(string(table), "`"+name+"`") {
			t.Errorf("docs/scenarios.md does not name %s", name)
		}
	}
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// testNames returns the names of all tests and scenario files.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.HasSuffix(path, ".txtar") && filepath.Base(filepath.Dir(path)) == "scenarios" {
			names[d.Name()] = true
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range testFunction.FindAllSubmatch(text, -1) {
			names[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
