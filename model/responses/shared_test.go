package responses_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// shared returns the path of a file or folder in the shared data, which stands
// beside the repository or where RONDO_SHARED says. It skips the test where
// there is none.
func shared(t testing.TB, path ...string) string {
	t.Helper()
	dir := os.Getenv("RONDO_SHARED")
	for at := "."; dir == ""; at = filepath.Join(at, "..") {
		if abs, err := filepath.Abs(at); err != nil || filepath.Dir(abs) == abs {
			t.Skip("there is no folder shared/cases beside the repository; RONDO_SHARED can name it")
		}
		if _, err := os.Stat(filepath.Join(at, "shared", "cases")); err == nil {
			dir = filepath.Join(at, "shared")
		}
	}
	full := filepath.Join(append([]string{dir}, path...)...)
	if _, err := os.Stat(full); err != nil {
		t.Skip("the shared data lacks what this test reads:", err)
	}
	return full
}

// exchange is a recorded request with its reply.
type exchange struct {
	ID        string `json:"id"`
	Provider  string `json:"provider"`
	Model     string `json:"model"`
	Streaming bool   `json:"streaming"`
	Request   struct {
		Body json.RawMessage `json:"body"`
	} `json:"request"`
	Response struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
	} `json:"response"`
}

// exchanges calls f for each recorded exchange of the Responses API.
func exchanges(t *testing.T, f func(t *testing.T, x *exchange)) {
	t.Helper()
	root := shared(t, "cassettes", "dev", "openai-responses")
	files, err := filepath.Glob(filepath.Join(root, "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Skip("there are no recorded exchanges")
	}
	for _, file := range files {
		var x exchange
		load(t, file, &x)
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) { f(t, &x) })
	}
}

func load(t testing.TB, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
