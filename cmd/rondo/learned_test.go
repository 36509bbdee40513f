package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo/model/resilient"
)

func homeOf(dir string, now time.Time, args ...string) (env *environment, stdout, stderr *bytes.Buffer) {
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	return &environment{
		Args: args, Dir: dir, Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr, Random: strings.NewReader(strings.Repeat("0123456789", 10)),
		Now: func() time.Time { return now },
		Getenv: func(name string) string {
			return map[string]string{"RONDO_HOME": filepath.Join(dir, "home")}[name]
		},
	}, stdout, stderr
}

// TestTheNextRunAsksForNoMoreThanTheProviderNamed runs twice against a server
// that takes a shorter reply than it is asked for.
func TestTheNextRunAsksForNoMoreThanTheProviderNamed(t *testing.T) {
	var asked []int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			MaxTokens int `json:"max_tokens"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		if asked = append(asked, body.MaxTokens); body.MaxTokens > 4096 {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"message":"max_tokens: 9000 > 4096, which is the maximum allowed number of output tokens"}}`)
			return
		}
		_, _ = io.WriteString(w, `{"type":"message","role":"assistant","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn"}`)
	}))
	defer server.Close()
	dir := t.TempDir()
	for i, want := range []struct {
		more []string
		most []int
	}{
		{nil, []int{4096, 4096}},
		{nil, []int{4096}},
		{[]string{"--max-output-tokens", "9000"}, []int{9000, 4096}}, // what a user sets is asked for again
	} {
		asked = nil
		args := append([]string{"run", "--base-url", server.URL, "--api-mode", "anthropic_messages", "--model", "m", "--no-tools"}, want.more...)
		env, stdout, stderr := homeOf(dir, time.Unix(1.8e9, 0), append(args, "hi")...)
		if status := execute(context.Background(), env); status != 0 || strings.TrimSpace(stdout.String()) != "done" {
			t.Fatalf("run %d: status %d, %s%s", i, status, stdout, stderr)
		}
		if i == 0 {
			asked[0] = min(asked[0], 4096) // the adapter's own default is more
		}
		if !cmp.Equal(asked, want.most) {
			t.Errorf("run %d asked for %v, want %v", i, asked, want.most)
		}
	}
	env, _, _ := homeOf(dir, time.Unix(1.8e9, 0))
	bounds, err := learned{env}.load()
	want := map[string]resilient.Bounds{"custom/m@" + strings.TrimPrefix(server.URL, "http://"): {MaxOutput: 4096}}
	if err != nil || !cmp.Equal(bounds, want) {
		t.Errorf("kept %v, %v, want %v", bounds, err, want)
	}
}

func TestLearnedLimitsFadeAndMerge(t *testing.T) {
	dir := t.TempDir()
	begin := time.Unix(1.8e9, 0)
	for day, key := range map[int]string{0: "p/old", 20: "p/new"} {
		env, _, _ := homeOf(dir, begin.Add(time.Duration(day)*24*time.Hour))
		if err := (learned{env}).save(key, resilient.Bounds{ContextWindow: 1000 + day}); err != nil {
			t.Fatal(err)
		}
	}
	for day, want := range map[int]map[string]resilient.Bounds{
		20: {"p/old": {ContextWindow: 1000}, "p/new": {ContextWindow: 1020}},
		40: {"p/new": {ContextWindow: 1020}},
		60: {},
	} {
		env, _, _ := homeOf(dir, begin.Add(time.Duration(day)*24*time.Hour))
		if got, err := (learned{env}).load(); err != nil || !cmp.Equal(got, want) {
			t.Errorf("day %d: %v, %v, want %v", day, got, err, want)
		}
	}
}

func TestADamagedFileOfLimitsIsTold(t *testing.T) {
	dir := t.TempDir()
	env, _, _ := homeOf(dir, time.Unix(1.8e9, 0))
	if err := os.MkdirAll(filepath.Join(dir, "home"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "home", learnedFile), []byte("{half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := (learned{env}).load(); err == nil || len(got) > 0 || !strings.Contains(err.Error(), "delete it") {
		t.Errorf("got %v, %v", got, err)
	}
}
