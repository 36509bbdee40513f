package replay

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/model"
)

// recording is one recorded exchange.
type recording struct {
	ID       string
	API      string
	Provider string
	Model    string
	Host     string
	Stream   bool   `json:"streaming"`
	Session  string `json:"session"`
	Turn     int
	Request  struct {
		Path string
		Body json.RawMessage
	}
	Response struct {
		Status  int
		Headers map[string]string
		Body    string
	}
}

var modes = map[string]model.Mode{
	"openai-chat":        model.ChatCompletions,
	"openai-responses":   model.CodexResponses,
	"anthropic-messages": model.AnthropicMessages,
}

// endpoint is the base URL that the exchange was recorded at, as far as it is
// known: hosts that were blotted out have a stand-in.
func (r *recording) endpoint() string {
	if r.Host == "" || strings.Contains(r.Host, "<") {
		return "https://provider.invalid/v1"
	}
	path, _, _ := strings.Cut(r.Request.Path, "?")
	for _, call := range []string{"/chat/completions", "/responses", "/messages"} {
		if base, ok := strings.CutSuffix(path, call); ok {
			return "https://" + r.Host + base
		}
	}
	return "https://" + r.Host
}

// sharedCassettes is where the recordings are, beside the repository or where
// RONDO_SHARED says. It skips the test where there are none.
func sharedCassettes(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("RONDO_SHARED")
	for at, up := ".", 0; dir == "" && up < 10; at, up = filepath.Join(at, ".."), up+1 {
		if _, err := os.Stat(filepath.Join(at, "shared", "cassettes")); err == nil {
			dir = filepath.Join(at, "shared")
		}
	}
	dir = filepath.Join(dir, "cassettes")
	if _, err := os.Stat(filepath.Join(dir, "index.json")); err != nil {
		t.Skip("no recorded exchanges beside the repository or at RONDO_SHARED")
	}
	return dir
}

// sessions returns the recorded sessions, each as its exchanges in order.
func sessions(t *testing.T) [][]*recording {
	t.Helper()
	dir := sharedCassettes(t)
	var index []struct {
		Path, API, Session string
		Turn               int
	}
	read(t, filepath.Join(dir, "index.json"), &index)
	at := map[string]int{}
	var all [][]*recording
	for _, e := range index {
		if e.Session == "" || modes[e.API] == "" {
			continue
		}
		r := new(recording)
		read(t, filepath.Join(dir, e.Path), r)
		i, ok := at[e.Session]
		if !ok {
			i = len(all)
			at[e.Session] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], r)
	}
	for _, s := range all {
		slices.SortFunc(s, func(a, b *recording) int { return a.Turn - b.Turn })
	}
	return all
}

func read(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
