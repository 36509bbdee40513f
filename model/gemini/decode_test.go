package gemini

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

var update = flag.Bool("update", false, "write the outcomes into testdata/decode")

// samples calls f with each file of testdata/decode: what a server sent, and,
// behind a line of dashes, what is to come of it. Lines of JSON are the events
// of a stream, what follows a line "whole" is a reply in one piece.
func samples(t testing.TB, f func(file, reply, want string)) {
	t.Helper()
	files, err := filepath.Glob("testdata/decode/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no testdata", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		input, want, _ := strings.Cut(string(data), "----\n")
		reply := stream(input)
		if _, whole, ok := strings.Cut(input, "whole\n"); ok {
			reply = strings.TrimSpace(whole)
		}
		f(file, reply, want)
	}
}

func TestDecode(t *testing.T) {
	samples(t, func(file, reply, want string) {
		got := decode(wire.Response{Body: strings.NewReader(reply)})
		if *update {
			data, _ := os.ReadFile(file)
			input, _, _ := strings.Cut(string(data), "----\n")
			if err := os.WriteFile(file, []byte(input+"----\n"+got), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		if got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
		}
		if bytewise := decode(wire.Response{Body: iotest.OneByteReader(strings.NewReader(reply))}); bytewise != want {
			t.Errorf("%s, byte by byte: got\n%s\nwant\n%s", file, bytewise, want)
		}
	})
}

func TestToolNamesThatWereRewrittenComeBack(t *testing.T) {
	sent := wire.Name("fs/read", true)
	d := newDecoder(testProfile(), map[string]string{sent: "fs/read"})
	var got []string
	yield := func(delta model.Delta) bool { got = append(got, delta.Name+delta.Text); return true }
	data := `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"` + sent + `","args":{}}}]},"finishReason":"STOP"}]}`
	if _, err := d.Event("", []byte(data), yield); err != nil || strings.Join(got, " ") != "fs/read {}" {
		t.Errorf("told %q, %v", got, err)
	}
}

func TestDecoderStopsWhenNobodyListens(t *testing.T) {
	calls := 0
	d := newDecoder(testProfile(), nil)
	err := d.Whole([]byte(`{"candidates":[{"content":{"parts":[{"text":"a","thought":true},{"text":"b"}]}}]}`), func(model.Delta) bool { calls++; return false })
	if err != nil || calls != 1 {
		t.Errorf("told %d times, want once; error %v", calls, err)
	}
}

func TestScanLeavesUnusualEventsToTheFullReader(t *testing.T) {
	tests := []struct {
		data string
		ok   bool
	}{
		{`{"candidates":[{"content":{"parts":[{"text":"a\"b"}],"role":"model"},"index":0}],"usageMetadata":{"a":[1,{"b":2}]}}`, true},
		{` { "candidates" : [ { "content" : { "role" : "model", "parts" : [ { "thought" : true, "text" : "a" } ] } } ] } `, true},
		{`{"candidates":[{"content":{"parts":[{"text":"a","thoughtSignature":"s"}]}}]}`, false},
		{`{"candidates":[{"content":{"parts":[{"text":"a"},{"text":"b"}]}}]}`, false},
		{`{"candidates":[{"content":{"parts":[{"text":"a"}]}},{"content":{"parts":[{"text":"b"}]}}]}`, false},
		{`{"candidates":[{"content":{"parts":[{"text":"a"}]},"index":1}]}`, false},
		{`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}`, false},
		{`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]}}]}`, false},
		{`{"candidates":[{"content":{"parts":[]}}]}`, false},
		{`{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"error":{"code":500}}`, false},
		{`{"candidates":[{"content":{"parts":[{"text":"a"}]}}]`, false},
		{`{"candidates":[{"content":{"parts":[{"text":"a`, false},
		{``, false},
	}
	for _, tt := range tests {
		if _, ok := scan([]byte(tt.data)); ok != tt.ok {
			t.Errorf("scan(%s) = %v, want %v", tt.data, ok, tt.ok)
		}
	}
}
