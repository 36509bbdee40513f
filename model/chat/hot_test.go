package chat

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// inFull is a decoder that reads each chunk the long way round.
type inFull struct{ *decoder }

func (d inFull) Event(name string, data []byte, yield func(model.Delta) bool) (bool, error) {
	return d.full(name, data, yield)
}

func newInFull(p *model.Profile) wire.Decoder { return inFull{NewDecoder(p).(*decoder)} }

// sameInFull wants a body to be read the same without scan.
func sameInFull(t testing.TB, p *model.Profile, body string) {
	t.Helper()
	got := readReply(p, wire.Response{Body: strings.NewReader(body)}, NewDecoder(p))
	want := readReply(p, wire.Response{Body: strings.NewReader(body)}, newInFull(p))
	same(t, body, got, want)
}

// same compares all that came of a reply.
func same(t testing.TB, body string, got, want outcome) {
	t.Helper()
	if !reflect.DeepEqual(got.deltas, want.deltas) {
		t.Errorf("%.2000s\n got deltas %v\nwant %v", body, got.deltas, want.deltas)
	}
	if !reflect.DeepEqual(got.reply, want.reply) || !reflect.DeepEqual(got.err, want.err) {
		t.Errorf("%.2000s\n got %s (%v)\nwant %s (%v)", body, got.String(), got.err, want.String(), want.err)
	}
}

// feed gives chunks to a decoder one by one, until one is an error.
func feed(d wire.Decoder, chunks ...string) (o outcome) {
	yield := func(d model.Delta) bool {
		o.deltas = append(o.deltas, d)
		return true
	}
	for _, c := range chunks {
		if _, o.err = d.Event("", []byte(c), yield); o.err != nil {
			return o
		}
	}
	o.reply, o.err = d.End()
	return o
}

func TestHotChunksReadAsTheFullReaderReadsThem(t *testing.T) {
	call := func(s string) string { return deltaChunk(`{"tool_calls":[`+s+`]}`, "") }
	for _, c := range []struct {
		chunk string
		hot   bool
	}{
		{deltaChunk(`{"content":"a"}`, ""), true},
		{deltaChunk(`{"content":"\"\\\u00e9\n"}`, ""), true},
		{deltaChunk(`{"content":"\ud83d"}`, ""), true},
		{deltaChunk(`{"role":"assistant","content":"a","refusal":null,"tool_calls":null}`, ""), true},
		{deltaChunk(`{"content":"","reasoning":"a","reasoning_details":null}`, ""), true},
		{deltaChunk(`{"content":null,"reasoning_content":"a"}`, ""), true},
		{deltaChunk(`{}`, ""), true},
		{`{ "choices" : [ { "delta" : { "content" : "a" } } ] , "usage" : null, "x" : [1,{"y":[]}, -1.5e+3, true] }`, true},
		{`{"choices":[{"index":0,"text":"a","delta":{"token_id":1,"content":"a"},"logprobs":{"x":["}"]}}]}`, true},
		{deltaChunk(`{"content":["a"]}`, ""), false},
		{deltaChunk(`{"content":"\x"}`, ""), false},
		{deltaChunk(`{"content":"\u00g0"}`, ""), false},
		{deltaChunk(`{"c\u006fntent":"a"}`, ""), false},
		{deltaChunk(`{"reasoning":"a","reasoning_content":"a"}`, ""), false},

		{deltaChunk(`{"content":"a","tool_calls":[]}`, ""), true},
		{call(`{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":""}}`), true},
		{call(`{"index":0,"id":"c","function":{"name":"f","arguments":"{\"a\":"}},{"index":1,"id":"d","function":{"name":"g","arguments":"{}"}}`), true},
		{call(`{"id":null,"custom":null,"extra_content":null,"function":{"name":"f","arguments":null},"x":{}}`), true},
		{deltaChunk(`{"tool_calls":[{"function":{"name":"f"}}],"content":"a","reasoning":"b"}`, "tool_calls"), true},
		{call(`{"index":0,"function":{"name":"f","arguments":{"a":1}}}`), false},
		{call(`{"index":"0","function":{"name":"f"}}`), false},
		{call(`{"index":null,"function":{"name":"f"}}`), false},
		{call(`{"index":1.5,"function":{"name":"f"}}`), false},
		{call(`{"id":7,"function":{"name":"f"}}`), false},
		{call(`{"index":0,"function":null}`), false},
		{call(`{"custom":{"name":"f","input":"a"}}`), false},
		{call(`{"function":{"name":"f"},"extra_content":{"a":1}}`), false},
		{call(`null`), false},
		{deltaChunk(`{"tool_calls":{"function":{"name":"f"}}}`, ""), false},

		{deltaChunk(`{"content":"a"}`, "stop"), true},
		{deltaChunk(`{}`, "length"), true},
		{deltaChunk(`{}`, "network_error"), true},
		{`{"choices":[{"delta":{"content":"a"},"finish_reason":""}],"usage":{"prompt_tokens":1}}`, true},
		{`{"choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`, true},
		{`{"choices":[{"finish_reason":"stop","usage":{"prompt_tokens":1}}]}`, false},
		{`{"choices":[{"finish_reason":["stop"]}]}`, false},

		{`{"choices":[],"usage":{"prompt_tokens":1}}`, true},
		{`{"choices":[],"message":"overloaded"}`, false},
		{`{"choices":[],"object":"\u0065rror"}`, false},
		{`{"choices":[{"index":1,"delta":{"content":"a"}}]}`, false},
		{`{"choices":[{"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}`, false},
		{`{"choices":[{"delta":{"content":"a"}}],"choices":[]}`, false},
		{`{"usage":{"prompt_tokens":1}}`, false},
		{`{"error":{"message":"x"},"choices":[{"delta":{"content":"a"}}]}`, false},
		{`{"choices":[{"delta":{"content":"a"}}]`, false},
		{`{"choices":[{"delta":{"content":"a"}}],"usage":"\`, false},
		{`[DONE]`, false},
		{``, false},
	} {
		if _, ok := scan([]byte(c.chunk), nil); ok != c.hot {
			t.Errorf("%s: hot %v, want %v", c.chunk, ok, c.hot)
		}
		for _, p := range hotProfiles() {
			same(t, c.chunk, feed(NewDecoder(p), c.chunk, "[DONE]"), feed(newInFull(p), c.chunk, "[DONE]"))
		}
	}
}

// hotProfiles are a plain one and one with tags around thoughts.
func hotProfiles() []*model.Profile {
	tags := testProfile()
	tags.ThinkTags = true
	return []*model.Profile{testProfile(), tags}
}

// oddCalls are elements of tool_calls as servers send them, and odder.
var oddCalls = []string{
	`{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":""}}`,
	`{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}`,
	`{"index":0,"id":"c","function":{"name":"g","arguments":"{\"a\":1}"}}`,
	`{"index":0,"id":"d","function":{"name":"f","arguments":"{\"a\":1}"}}`,
	`{"index":0,"id":"d","function":{"arguments":"{\"a\""}}`,
	`{"index":0,"function":{"arguments":":1}"}}`,
	`{"index":0,"function":{"name":"f"}}`,
	`{"index":0,"function":{"name":"f","arguments":"{\"a\":2}"}}`,
	`{"index":0,"function":{"name":"","arguments":"{"}}`,
	`{"index":0,"id":"","function":{"name":null,"arguments":null}}`,
	`{"index":0,"id":"c"}`,
	`{"index":0}`,
	`{"index":1,"id":"c","function":{"name":"g","arguments":"{}"}}`,
	`{"index":1,"id":"d","function":{"name":"g","arguments":"{"}}`,
	`{"index":1,"function":{"arguments":"}"}}`,
	`{"index":1,"id":null,"type":null,"function":{"name":"f","arguments":""}}`,
	`{"index":-1,"id":"e","function":{"name":"f","arguments":"{}"}}`,
	`{"index":"1","id":"e","function":{"name":"f","arguments":"{}"}}`,
	`{"index":1.0,"function":{"arguments":"}"}}`,
	`{"index":null,"id":"e","function":{"name":"f","arguments":"{}"}}`,
	`{"id":"c","function":{"name":"f","arguments":"{}"}}`,
	`{"id":"\u0063\/","function":{"name":"\"f\"","arguments":"\ud83d"}}`,
	`{"id":7,"function":{"name":"f","arguments":"{}"}}`,
	`{"function":{"arguments":" "}}`,
	`{"function":{"name":"f","arguments":{"a":1}}}`,
	`{"id":"c","function":null}`,
	`{"id":"c","id":"d","function":{"name":"f"},"function":{"arguments":"{}"}}`,
	`{"id":"c","type":"custom","custom":{"name":"f","input":"a b"}}`,
	`{"id":"c","custom":null,"extra_content":null,"function":{"name":"f","strict":true}}`,
	`{"index":0,"extra_content":{"google":{"thought_signature":"s"}}}`,
	`{"id":"d","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}`,
	`{}`,
	`null`,
}

// TestOddCallsReadTheSameInFull tries each call before each other one, in
// chunks of their own and in one, and what comes after.
func TestOddCallsReadTheSameInFull(t *testing.T) {
	p := testProfile()
	call := func(s string) string { return deltaChunk(`{"content":"a","tool_calls":[`+s+`]}`, "") }
	last := call(`{"index":0,"function":{"arguments":"}"}}`)
	end := deltaChunk(`{}`, "tool_calls")
	for _, first := range oddCalls {
		for _, second := range oddCalls {
			for _, chunks := range [][]string{
				{call(first), call(second), end},
				{call(first + "," + second), end},
				{call(first), call(second), last, end},
				{call(first), call(second), "[DONE]"},
			} {
				same(t, strings.Join(chunks, "\n"), feed(NewDecoder(p), chunks...), feed(newInFull(p), chunks...))
			}
		}
	}
}

func TestOddEndsReadTheSameInFull(t *testing.T) {
	p := testProfile()
	begin := deltaChunk(`{"content":"a\ud83d","tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{"}}]}`, "")
	var ends []string
	for _, reason := range []string{`null`, `""`, `"stop"`, `"tool_calls"`, `"TOOL_CALLS"`, `"length"`, `"l\u0065ngth"`, `"error"`, `"eos"`, `7`, `{}`} {
		for _, more := range []string{``, `,"delta":{}`, `,"delta":null`, `,"delta":{"content":"b"}`, `,"message":{"content":"b"}`, `,"usage":{"prompt_tokens":3}`, `,"error":{"message":"x"}`, `,"error":{}`, `,"index":1`} {
			for _, usage := range []string{``, `,"usage":null`, `,"usage":{"prompt_tokens":5,"completion_tokens":2}`, `,"x_groq":{"usage":{"prompt_tokens":4}}`} {
				ends = append(ends, fmt.Sprintf(`{"choices":[{"finish_reason":%s%s}]%s}`, reason, more, usage))
			}
		}
	}
	for _, end := range ends {
		for _, chunks := range [][]string{
			{begin, end},
			{begin, end, deltaChunk(`{"content":"z"}`, "stop")},
			{begin, deltaChunk(`{}`, "length"), end, "[DONE]"},
		} {
			same(t, strings.Join(chunks, "\n"), feed(NewDecoder(p), chunks...), feed(newInFull(p), chunks...))
		}
	}
}

// FuzzHot wants what is scanned to be read as the full reader reads it, after
// anything else.
func FuzzHot(f *testing.F) {
	end := deltaChunk(`{}`, "tool_calls")
	f.Add(deltaChunk(`{"content":"a\n"}`, ""), deltaChunk(`{"content":"","reasoning":"x","x":[{"y":1}]}`, "stop"))
	for i, c := range oddCalls {
		f.Add(deltaChunk(`{"tool_calls":[`+c+`]}`, ""), deltaChunk(`{"tool_calls":[`+oddCalls[(i+5)%len(oddCalls)]+`]}`, "length"))
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		if !jsontext.Value(first).IsValid(lenient) || !jsontext.Value(second).IsValid(lenient) {
			return // the scanner trusts what it skips
		}
		for _, p := range hotProfiles() {
			same(t, first+"\n"+second, feed(NewDecoder(p), first, second, end), feed(newInFull(p), first, second, end))
		}
	})
}

// FuzzDecoder wants a body to mean the same however it is cut.
func FuzzDecoder(f *testing.F) {
	f.Add(string(sse(deltaChunk(`{"content":"<think>a"}`, ""), deltaChunk(`{"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}`, "stop"), "[DONE]")), uint8(3))
	f.Add(`{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`, uint8(1))
	f.Add(string(sse(`{"error":{"message":"x"}}`)), uint8(1))
	f.Fuzz(func(t *testing.T, body string, n uint8) {
		p := testProfile()
		p.ThinkTags = true
		whole, cut := decode(p, []byte(body), 0), decode(p, []byte(body), int(n)+1)
		if whole.String() != cut.String() {
			t.Errorf("whole %s, cut %s", whole.String(), cut.String())
		}
	})
}
