package chat

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// shared returns the files below a folder of the data shared with others, which
// stands beside the repository or where RONDO_SHARED says. It skips the test
// where there are none.
func shared(t testing.TB, pattern ...string) []string {
	t.Helper()
	dir := os.Getenv("RONDO_SHARED")
	for at, up := ".", 0; dir == "" && up < 10; at, up = filepath.Join(at, ".."), up+1 {
		if _, err := os.Stat(filepath.Join(at, "shared", "cases")); err == nil {
			dir = filepath.Join(at, "shared")
		}
	}
	files, err := filepath.Glob(filepath.Join(append([]string{dir}, pattern...)...))
	if err != nil || dir == "" || len(files) == 0 {
		t.Skip("no shared data beside the repository or at RONDO_SHARED")
	}
	return files
}

func load(t testing.TB, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
