package builtin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadFileKeepsToTheWorkspaceAndTheLimit(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(dir, "a.txt"), filepath.Join(outside, "b.txt")} {
		if err := os.WriteFile(path, []byte("hello"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(outside, "b.txt"), filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	w, err := OpenWorkspace(dir, WorkspaceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if data, err := w.ReadFile("a.txt", 5); string(data) != "hello" || err != nil {
		t.Errorf("got %q, %v", data, err)
	}
	for path, want := range map[string]string{
		"link": "outside of the workspace", filepath.Join(outside, "b.txt"): "outside of the workspace", ".": "is a directory", "c.txt": "c.txt",
	} {
		if _, err := w.ReadFile(path, 100); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := w.ReadFile("a.txt", 4); err == nil || !strings.Contains(err.Error(), "has 5 bytes, more than the 4") {
		t.Errorf("beyond the limit: %v", err)
	}
}
