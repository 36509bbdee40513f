package model

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestClassifyAnswersTheSharedCases holds the errors of all shared cases
// against the classes, windows and waits that they want.
func TestClassifyAnswersTheSharedCases(t *testing.T) {
	files, err := filepath.Glob(findShared(t, "cases/dev") + "/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, file := range files {
		var c sharedCase
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if json.Unmarshal(data, &c) != nil || c.Kind != "retry" {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) { c.hold(t) })
	}
}

type sharedCase struct {
	Kind  string
	Given struct {
		Now    time.Time
		Errors []struct {
			Name    string
			Status  int
			Headers map[string]string
			Body    json.RawMessage
			Stream  string
		}
	}
	Want struct {
		Class   map[string]Class
		Window  map[string]int      `json:"learned_window"`
		Wait    map[string]*float64 `json:"wait_ms"`
		TooLong []string            `json:"no_wait_fail"`
	}
}

func (c *sharedCase) hold(t *testing.T) {
	for _, given := range c.Given.Errors {
		f := Failure{Status: given.Status, Body: given.Body, Now: c.Given.Now, Header: map[string][]string{}}
		if given.Stream != "" {
			f.Body = []byte(given.Stream)
		}
		for name, value := range given.Headers {
			f.Header[name] = []string{value}
		}
		e := Classify(f)
		if want, ok := c.Want.Class[given.Name]; ok && e.Class != want {
			t.Errorf("%s: class %s, want %s", given.Name, e.Class, want)
		}
		if want, ok := c.Want.Window[given.Name]; ok && e.LearnedWindow != want {
			t.Errorf("%s: window %d, want %d", given.Name, e.LearnedWindow, want)
		}
		if want, ok := c.Want.Wait[given.Name]; ok {
			if want == nil && e.RetryAfter >= 0 || want != nil && e.RetryAfter != time.Duration(*want)*time.Millisecond {
				t.Errorf("%s: wait %v, want %v", given.Name, e.RetryAfter, want)
			}
		}
		if slices.Contains(c.Want.TooLong, given.Name) && e.Action() != "fallback" {
			t.Errorf("%s: %s, want fallback", given.Name, e.Action())
		}
	}
}

// recordedClasses are the classes of recorded error bodies: of those with a
// piece of text in them, else of those with the status alone.
var recordedClasses = map[int][]struct {
	piece string
	class Class
}{
	400: {
		{"credit balance", Billing},
		{"Incorrect API key", Auth},
		{"model_not_found", ModelNotFound},
		{"tool_use_failed", ServerError},
		{"prompt is too long", ContextOverflow},
		{"context limit", ContextOverflow},
		{"context_length_exceeded", ContextOverflow},
		{"exceed_context_size_error", ContextOverflow},
		{"context window", ContextOverflow},
		{"context length", ContextOverflow},
		{"token limit", ContextOverflow},
		{"prompt length", ContextOverflow},
		{"too_many_prompt_tokens", ContextOverflow},
		{"", InvalidRequest},
	},
	401: {{"", Auth}},
	402: {{"", Billing}},
	403: {{"access to the model", ModelNotFound}},
	404: {{"", ModelNotFound}},
	413: {{"", ContextOverflow}},
	429: {{"insufficient_quota", Billing}, {"Request too large", ContextOverflow}, {"", RateLimit}},
	500: {{"", ServerError}},
	529: {{"", Overloaded}},
}

func TestClassifyReadsAllRecordedErrors(t *testing.T) {
	for name, x := range recorded(t) {
		status, body := x.Response.Status, x.Response.Body
		for _, want := range recordedClasses[status] {
			if !strings.Contains(body, want.piece) {
				continue
			}
			e := Classify(Failure{Status: status, Provider: x.Provider, Body: []byte(body)})
			if e.Class != want.class {
				t.Errorf("%s: %d %s\ngot %s, want %s", name, status, body, e.Class, want.class)
			}
			break
		}
	}
}

type exchange struct {
	Provider string
	Response struct {
		Status int
		Body   string
	}
}

// recorded returns the recorded exchanges by file name.
func recorded(t *testing.T) map[string]exchange {
	t.Helper()
	exchanges := map[string]exchange{}
	root := findShared(t, "cassettes")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" || filepath.Dir(path) == root {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var x exchange
		if err := json.Unmarshal(data, &x); err != nil {
			return err
		}
		exchanges[filepath.Base(path)] = x
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return exchanges
}

// findShared finds a directory of the shared material beside the repository;
// it skips the test where there is none.
func findShared(t *testing.T, name string) string {
	t.Helper()
	if root := os.Getenv("RONDO_SHARED"); root != "" {
		return filepath.Join(root, name)
	}
	for up := ".."; strings.Count(up, "..") < 8; up += "/.." {
		dir := filepath.Join(up, "shared", name)
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	t.Skipf("no shared/%s beside the repository; RONDO_SHARED names another place", name)
	return ""
}
