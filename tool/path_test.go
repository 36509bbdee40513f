package tool

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// tree makes files, and links as name -> target, in a new directory.
func tree(t *testing.T, files []string, links map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	return dir
}

func TestResolvePath(t *testing.T) {
	dir := tree(t, []string{"real/a.txt"}, map[string]string{
		"link": "real", "alias.txt": "real/a.txt", "dangling": "../elsewhere/new.txt",
		"chain": "link", "loop": "loop", "up": "real/../alias.txt", "far": "x/y",
	})
	for path, want := range map[string]string{
		"real/a.txt":        "real/a.txt",
		"./real//a.txt":     "real/a.txt",
		"link/a.txt":        "real/a.txt",
		"alias.txt":         "real/a.txt",
		"chain/x/y.txt":     "real/x/y.txt",
		"dangling":          "../elsewhere/new.txt",
		"none/../real":      "real",
		"link/../alias.txt": "real/a.txt",
		"far/../b.txt":      "x/b.txt",
		"up":                "real/a.txt",
	} {
		got, err := ResolvePath(dir + "/" + path)
		if err != nil || got != filepath.Join(dir, want) {
			t.Errorf("%s: got %s, %v, want %s", path, got, err, want)
		}
	}
	if got, err := ResolvePath(filepath.Join(dir, "loop")); err == nil {
		t.Errorf("a loop resolved to %s", got)
	}
}

// Scenario 49, the last part.
func TestOneFileUnderTwoNamesIsOneResource(t *testing.T) {
	dir := tree(t, []string{"race.txt", "other.txt"}, map[string]string{"alias.txt": "race.txt"})
	if err := os.Link(filepath.Join(dir, "race.txt"), filepath.Join(dir, "hard.txt")); err != nil {
		t.Skip("no hard links here:", err)
	}
	writes := func(name string) Access { return Access{Writes: PathKeys(filepath.Join(dir, name))} }
	for _, name := range []string{"alias.txt", "./race.txt", "hard.txt"} {
		if !Conflict(writes("race.txt"), writes(name)) {
			t.Errorf("race.txt and %s do not conflict", name)
		}
	}
	if Conflict(writes("race.txt"), writes("other.txt")) {
		t.Error("two files conflict")
	}
	if !Conflict(writes("race.txt"), Access{Reads: []string{DirKey(dir)}}) {
		t.Error("a file and its directory do not conflict")
	}
	if !slices.Equal(PathKeys(filepath.Join(dir, "new/x")), []string{filepath.ToSlash(filepath.Join(dir, "new/x"))}) {
		t.Error("a file that does not exist must have its path as its only key")
	}
}
