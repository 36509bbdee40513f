package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// sharedCase is a case file of the data shared with others, as far as rondo
// wire has to do with it.
type sharedCase struct {
	ID, Kind, API string
	Given         caseGiven
	Want          caseWant
}

type caseGiven struct {
	Name     string
	Stream   string
	SplitAt  []int `json:"split_at"`
	Variants []caseGiven
	Encoding string
	Close    string
	Config   struct {
		ThinkTags     bool `json:"think_tags"`
		StartsInThink bool `json:"starts_in_think"`
	}
	Now     string
	Errors  []caseError
	History json.RawMessage
	Items   json.RawMessage
	Request json.RawMessage
	Target  json.RawMessage
}

type caseError struct {
	Name    string
	Status  int
	Headers map[string]string
	Body    json.RawMessage
	Stream  string
}

type caseWant struct {
	Name       string
	Text       *string
	Visible    *string `json:"visible_text"`
	Reasoning  *string
	ToolCalls  *[]wantCall `json:"tool_calls"`
	Finish     string
	Usage      map[string]float64
	ErrorClass string `json:"error_class"`
	Retryable  *bool
	TextLacks  []string `json:"text_lacks"`
	DeltasLack []string `json:"text_deltas_lack"`
	Variants   []caseWant

	Class         map[string]string
	WaitMS        map[string]*float64 `json:"wait_ms"`
	LearnedWindow map[string]int      `json:"learned_window"`

	Messages   []wantMessage
	Results    []string `json:"results_in_order"`
	Invariants []string
	Answers    map[string]string
	ItemIDs    []*string `json:"item_ids"`
	ItemTypes  []string  `json:"sent_item_types"`
	MaxMarks   int       `json:"max_marks"`
	IDPattern  string    `json:"id_pattern"`
}

type wantCall struct {
	ID, Name string
	Args     any
}

type wantMessage struct{ Role, Content string }

// sharedDir is the data shared with others: the directory beside the repository,
// or RONDO_SHARED.
func sharedDir(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("RONDO_SHARED"); dir != "" {
		return dir
	}
	for at, _ := filepath.Abs("."); at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "shared", "cases")); err == nil {
			return filepath.Join(at, "shared")
		}
	}
	t.Skip("no shared data beside the repository or at RONDO_SHARED")
	return ""
}

// sharedFiles returns the files of the cases, which lie beside the repository
// or where RONDO_SHARED says.
func sharedFiles(t *testing.T) []string {
	t.Helper()
	dir := sharedDir(t)
	files, err := filepath.Glob(filepath.Join(dir, "cases", "dev", "*.json"))
	if err != nil || len(files) == 0 {
		t.Skip("no shared cases beside the repository or at RONDO_SHARED")
	}
	return files
}

// sharedCases returns the cases of the given kinds.
func sharedCases(t *testing.T, kinds ...string) []sharedCase {
	t.Helper()
	var all []sharedCase
	for _, file := range sharedFiles(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c sharedCase
		if err := json.Unmarshal(fill(t, text), &c); err != nil {
			continue // it has other forms in the members above, and so another kind
		}
		if slices.Contains(kinds, c.Kind) {
			all = append(all, c)
		}
	}
	return all
}

// fill puts the text in the place of the token that a case is kept small with.
func fill(t *testing.T, text []byte) []byte {
	t.Helper()
	var c struct {
		Given struct {
			Fill *struct {
				Token, Text string
				Count       int
			}
		}
	}
	if json.Unmarshal(text, &c) != nil || c.Given.Fill == nil {
		return text
	}
	f := c.Given.Fill
	without := bytes.Replace(text, []byte(`"token": "`+f.Token+`"`), []byte(`"token": ""`), 1)
	return bytes.ReplaceAll(without, []byte(f.Token), bytes.Repeat([]byte(f.Text), f.Count))
}

// run runs rondo with the given stdin.
func run(t *testing.T, stdin io.Reader, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, diag bytes.Buffer
	home := t.TempDir()
	env := &environment{
		Args: args, Dir: home, Stdin: stdin, Stdout: &out, Stderr: &diag,
		Now:    func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) },
		Random: strings.NewReader("0123456789"),
		Getenv: func(name string) string {
			if name == "RONDO_HOME" {
				return home
			}
			return ""
		},
	}
	status = execute(context.Background(), env)
	return status, out.String(), diag.String()
}

// runJSON runs rondo, which must succeed, and reads the JSON that it prints.
func runJSON(t *testing.T, stdin io.Reader, into any, args ...string) {
	t.Helper()
	status, stdout, stderr := run(t, stdin, args...)
	if status != 0 {
		t.Fatalf("rondo %s: status %d: %s", strings.Join(args, " "), status, stderr)
	}
	if err := json.Unmarshal([]byte(stdout), into); err != nil {
		t.Fatalf("rondo %s printed no JSON (%v): %.200s", strings.Join(args, " "), err, stdout)
	}
}
