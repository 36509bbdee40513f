package anthropic

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

// Each file of testdata/decode holds what a server sent, a line of dashes, and
// what is to come of it. Lines of JSON are the events of a stream; a single one
// behind a line "whole" is a reply in one piece.
func TestDecode(t *testing.T) {
	files, err := filepath.Glob("testdata/decode/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no testdata", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			input, want, _ := strings.Cut(string(data), "----\n")
			got := decode(testProfile(), replyBody(input)).String()
			sameInFull(t, replyBody(input))
			if *update {
				if err := os.WriteFile(file, []byte(input+"----\n"+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func replyBody(input string) string {
	if _, whole, ok := strings.Cut(input, "whole\n"); ok {
		return strings.TrimSpace(whole)
	}
	return events(input)
}

func TestDecoderTakesBytesInAnyChunks(t *testing.T) {
	files, _ := filepath.Glob("testdata/decode/*.txt")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		input, want, _ := strings.Cut(string(data), "----\n")
		r := iotest.OneByteReader(strings.NewReader(replyBody(input)))
		if got := decodeResponse(testProfile(), wire.Response{Body: r}).String(); got != want {
			t.Errorf("%s byte by byte: got\n%s\nwant\n%s", file, got, want)
		}
	}
}

// TestBlocksThatAreAllNumberedZero is the stream of a server that never counts
// on; what it repeats is one block all the same.
func TestBlocksThatAreAllNumberedZero(t *testing.T) {
	const stop = `{"type":"content_block_stop","index":0}`
	use := func(id string) string {
		return `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"` + id + `","name":"f","input":{}}}`
	}
	arguments := func(n string) string {
		return `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"n\":` + n + `}"}}`
	}
	d := newDecoder(testProfile(), nil)
	for _, event := range []string{
		`{"type":"message_start","message":{"id":"m"}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}`, stop,
		use("a"), use("a"), arguments("1"), stop, use("b"), arguments("2"), stop,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`,
	} {
		if _, err := d.Event("", []byte(event), func(model.Delta) bool { return true }); err != nil {
			t.Fatal(err)
		}
	}
	reply, err := d.End()
	if err != nil {
		t.Fatal(err)
	}
	got := reply.Message.Text()
	for _, c := range reply.Message.Calls() {
		got += " " + c.ID + c.Arguments
	}
	if want := `hi a{"n":1} b{"n":2}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDecoderStopsWhenNobodyListens(t *testing.T) {
	d := newDecoder(testProfile(), nil)
	calls := 0
	body := `{"type":"message","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"stop_reason":"end_turn"}`
	err := d.Whole([]byte(body), func(model.Delta) bool { calls++; return false })
	if err != nil || calls != 1 {
		t.Errorf("yield called %d times, want 1; error %v", calls, err)
	}
}

func TestDecoderGivesBackToolNamesThatWereRewritten(t *testing.T) {
	d := newDecoder(testProfile(), map[string]string{"fs_read_h0123456789ab": "fs.read"})
	var name string
	_, err := d.Event("", []byte(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"fs_read_h0123456789ab","input":{}}}`),
		func(x model.Delta) bool { name = x.Name; return true })
	if err != nil || name != "fs.read" {
		t.Errorf("name %q, error %v", name, err)
	}
}

func TestStateIsTaggedWithItsOrigin(t *testing.T) {
	o := decode(testProfile(), `{"type":"message","content":[{"type":"thinking","thinking":"t","signature":"s"}],"stop_reason":"end_turn"}`)
	got := o.reply.Message.Parts[0].State.Origin
	if got.Provider != "anthropic" || got.Model != "claude-x" || got.Account != "acc" {
		t.Errorf("origin %+v", got)
	}
}

func TestScanDeltaLeavesUnusualEventsToTheFullReader(t *testing.T) {
	tests := []struct {
		data string
		ok   bool
	}{
		{`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\"b"}}`, true},
		{`{"type": "content_block_delta", "index": 12, "delta": {"type": "text_delta", "text": "a"} } `, true},
		{`{"type":"content_block_delta","index":0,"delta":{"text":"a","type":"text_delta"}}`, false},
		{`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a","extra":1}}`, false},
		{`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a`, false},
		{`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\`, false},
		{`{"type":"content_block_delta","index":-1,"delta":{"type":"text_delta","text":"a"}}`, false},
		{`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"a"}}`, false},
		{``, false},
	}
	for _, tt := range tests {
		if _, ok := scanDelta([]byte(tt.data)); ok != tt.ok {
			t.Errorf("scanDelta(%s) = %v, want %v", tt.data, ok, tt.ok)
		}
	}
}
