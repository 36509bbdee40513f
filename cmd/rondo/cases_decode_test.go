package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// TestSharedStreams decodes each recorded reply whole, cut where the case says,
// and one byte at a time.
func TestSharedStreams(t *testing.T) {
	for _, c := range sharedCases(t, "stream", "think", "responses", "anthropic") {
		given, want := c.Given.Variants, c.Want.Variants
		if len(given) == 0 {
			given, want = []caseGiven{c.Given}, []caseWant{c.Want}
		}
		for i, g := range given {
			if g.Stream == "" || g.Close == "reset" {
				continue
			}
			g.Config = c.Given.Config
			t.Run(c.ID+"/"+g.Name, func(t *testing.T) { decodeCase(t, c.API, g, want[i]) })
		}
	}
}

func decodeCase(t *testing.T, api string, g caseGiven, want caseWant) {
	args := []string{"wire", "decode", "--api", map[string]string{"any": "chat_completions"}[api] + strings.TrimPrefix(api, "any")}
	if g.Config.ThinkTags {
		args = append(args, "--think-tags")
	}
	if g.Config.StartsInThink {
		args = append(args, "--starts-in-think")
	}
	body := []byte(g.Stream)
	if g.Encoding == "gzip" {
		args = append(args, "--header", "Content-Encoding: gzip")
		body = gzipped(t, body)
	}
	chunks := []int{0, 1, 7}
	if len(body) > 100_000 {
		chunks = []int{0, 4093}
	}
	for _, n := range chunks {
		checkDecoded(t, bytes.NewReader(body), append(args, "--chunk", strconv.Itoa(n)), want)
	}
	if len(g.SplitAt) > 0 {
		checkDecoded(t, &cutReader{body: body, cuts: g.SplitAt}, args, want)
	}
	checkDeltas(t, body, args, want)
}

func gzipped(t *testing.T, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(body); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// cutReader gives out body in pieces that end at cuts.
type cutReader struct {
	body []byte
	cuts []int
	at   int
}

func (r *cutReader) Read(p []byte) (int, error) {
	if r.at == len(r.body) {
		return 0, io.EOF
	}
	end := len(r.body)
	for _, c := range r.cuts {
		if c > r.at {
			end = min(end, c)
			break
		}
	}
	n := copy(p, r.body[r.at:end])
	r.at += n
	return n, nil
}

// decodedJSON is what rondo wire decode prints, as others read it.
type decodedJSON struct {
	Text, Reasoning string
	ToolCalls       []wantCall `json:"tool_calls"`
	Finish          string
	Usage           map[string]float64
	ErrorClass      string `json:"error_class"`
	Retryable       bool
	Error           string
}

func checkDecoded(t *testing.T, body io.Reader, args []string, want caseWant) {
	t.Helper()
	var got decodedJSON
	runJSON(t, body, &got, args...)
	equal(t, "text", &got.Text, want.Text)
	equal(t, "visible text", &got.Text, want.Visible)
	equal(t, "reasoning", &got.Reasoning, want.Reasoning)
	equal(t, "retryable", &got.Retryable, want.Retryable)
	if want.Finish != "" && got.Finish != want.Finish {
		t.Errorf("%v: finish %q, want %q", args, got.Finish, want.Finish)
	}
	switch {
	case want.ErrorClass == "" && got.ErrorClass != "" && want.Finish != "" && want.Finish != "error":
		t.Errorf("%v: error %s: %s", args, got.ErrorClass, got.Error)
	case want.ErrorClass != "" && got.ErrorClass != want.ErrorClass:
		t.Errorf("%v: %+v, want error class %s", args, got, want.ErrorClass)
	}
	for k, v := range want.Usage {
		if got.Usage[k] != v {
			t.Errorf("%v: usage %s is %v, want %v", args, k, got.Usage[k], v)
		}
	}
	for _, s := range want.TextLacks {
		if strings.Contains(got.Text, s) {
			t.Errorf("%v: text %q has %q", args, got.Text, s)
		}
	}
	if want.ToolCalls != nil {
		checkCalls(t, got.ToolCalls, *want.ToolCalls)
	}
}

func equal[T comparable](t *testing.T, what string, got, want *T) {
	t.Helper()
	if want != nil && *got != *want {
		t.Errorf("%s is %v, want %v", what, *got, *want)
	}
}

func checkCalls(t *testing.T, got, want []wantCall) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d calls, want %d", len(got), len(want))
		return
	}
	for i, w := range want {
		g := got[i]
		if w.ID != "*" && g.ID != w.ID || g.ID == "" || g.Name != w.Name || !reflect.DeepEqual(g.Args, w.Args) {
			t.Errorf("call %d is %.200v, want %.200v", i, g, w)
		}
	}
}

// checkDeltas looks at each delta for what must never be seen, and that the
// deltas add up to the text.
func checkDeltas(t *testing.T, body []byte, args []string, want caseWant) {
	t.Helper()
	_, stdout, _ := run(t, bytes.NewReader(body), append(args, "--events", "--chunk", "5000")...)
	text, last := "", struct{ Type, Text string }{}
	for line := range strings.Lines(stdout) {
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Fatalf("line %.200q is no JSON: %v", line, err)
		}
		if last.Type != "text_delta" {
			continue
		}
		text += last.Text
		for _, s := range want.DeltasLack {
			if strings.Contains(last.Text, s) {
				t.Errorf("delta %q has %q", last.Text, s)
			}
		}
	}
	if last.Type != "done" || text != last.Text {
		t.Errorf("the last line is %s; the deltas are %.200q, the text is %.200q", last.Type, text, last.Text)
	}
}
