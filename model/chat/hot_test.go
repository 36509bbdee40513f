package chat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/rondo-engine/rondo/model"
)

// fully feeds chunks to a decoder the long way round.
func fully(chunks []string) (string, error) {
	d := NewDecoder(testProfile()).(*decoder)
	d.yield = func(model.Delta) bool { return true }
	for _, c := range chunks {
		var v chunk
		if err := json.Unmarshal([]byte(c), &v, lenient); err != nil {
			return "", err
		}
		if err := d.take(&v, []byte(c)); err != nil {
			return "", err
		}
	}
	d.done = true
	o := outcome{}
	o.reply, o.err = d.End()
	return o.String(), nil
}

func TestHotChunksReadAsTheFullReaderReadsThem(t *testing.T) {
	for _, c := range []struct {
		chunk string
		hot   bool
	}{
		{deltaChunk(`{"content":"a"}`, ""), true},
		{deltaChunk(`{"content":"\"\\\u00e9\n"}`, ""), true},
		{deltaChunk(`{"role":"assistant","content":"a","refusal":null,"tool_calls":null}`, ""), true},
		{deltaChunk(`{"content":"","reasoning":"a","reasoning_details":null}`, ""), true},
		{deltaChunk(`{"content":null,"reasoning_content":"a"}`, ""), true},
		{deltaChunk(`{}`, ""), true},
		{`{ "choices" : [ { "delta" : { "content" : "a" } } ] , "usage" : null, "x" : [1,{"y":[]}, -1.5e+3, true] }`, true},
		{`{"choices":[{"index":0,"text":"a","delta":{"token_id":1,"content":"a"},"logprobs":{"x":["}"]}}]}`, true},
		{deltaChunk(`{"content":"a"}`, "stop"), false},
		{deltaChunk(`{"content":["a"]}`, ""), false},
		{deltaChunk(`{"reasoning":"a","reasoning_content":"a"}`, ""), false},
		{deltaChunk(`{"tool_calls":[]}`, ""), false},
		{deltaChunk(`{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":""}}]}`, ""), false},
		{`{"choices":[]}`, false},
		{`{"choices":[{"index":1,"delta":{"content":"a"}}]}`, false},
		{`{"choices":[{"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"}}]}`, false},
		{`{"choices":[{"delta":{"content":"a"},"finish_reason":""}],"usage":{"prompt_tokens":1}}`, true},
		{`{"error":{"message":"x"},"choices":[{"delta":{"content":"a"}}]}`, false},
		{`{"choices":[{"delta":{"content":"a"}}]`, false},
		{`{"choices":[{"delta":{"content":"a"}}],"usage":"\`, false},
		{`[DONE]`, false},
		{``, false},
	} {
		h, ok := scan([]byte(c.chunk))
		if ok != c.hot {
			t.Errorf("%s: hot %v, want %v", c.chunk, ok, c.hot)
		}
		if !ok {
			continue
		}
		want, err := fully([]string{c.chunk})
		if err != nil {
			t.Errorf("%s: %v", c.chunk, err)
		}
		d := NewDecoder(testProfile()).(*decoder)
		d.yield, d.done = func(model.Delta) bool { return true }, true
		d.takeHot(&h)
		o := outcome{}
		if o.reply, o.err = d.End(); o.String() != want {
			t.Errorf("%s:\n got %s\nwant %s", c.chunk, o.String(), want)
		}
	}
}

// FuzzHot wants all that is scanned to be what the full reader makes of it.
func FuzzHot(f *testing.F) {
	f.Add(deltaChunk(`{"content":"a\n"}`, ""))
	f.Add(deltaChunk(`{"content":"","reasoning":"x","x":[{"y":1}]}`, ""))
	f.Add(deltaChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`, ""))
	f.Fuzz(func(t *testing.T, chunk string) {
		h, ok := scan([]byte(chunk))
		if !ok || h.arguments != nil {
			return
		}
		want, err := fully([]string{chunk})
		if err != nil {
			return // the scanner trusts what it skips
		}
		d := NewDecoder(testProfile()).(*decoder)
		d.yield, d.done = func(model.Delta) bool { return true }, true
		d.takeHot(&h)
		o := outcome{}
		if o.reply, o.err = d.End(); o.String() != want {
			t.Errorf("got %s\nwant %s", o.String(), want)
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

// streamOf is a stream of n chunks of a delta, ended well.
func streamOf(delta string, n int) []string {
	chunks := make([]string, 0, n+2)
	for i := range n {
		chunks = append(chunks, fmt.Sprintf(`{"id":"chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG","object":"chat.completion.chunk","created":1741570283,`+
			`"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_fc9f1d7035","choices":[{"index":0,`+
			`"delta":%s,"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"%d"}`, delta, i))
	}
	return append(chunks, deltaChunk(`{}`, "stop"), "[DONE]")
}

func benchmark(b *testing.B, first, delta string) {
	const n = 20_000
	chunks := streamOf(delta, n)
	data := make([][]byte, len(chunks))
	for i, c := range chunks {
		data[i] = []byte(c)
	}
	yield := func(model.Delta) bool { return true }
	b.ReportAllocs()
	for b.Loop() {
		d := NewDecoder(testProfile())
		if _, err := d.Event("", []byte(deltaChunk(first, "")), yield); err != nil {
			b.Fatal(err)
		}
		for _, c := range data {
			if _, err := d.Event("", c, yield); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := d.End(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/delta")
}

func BenchmarkTextDeltas(b *testing.B) { benchmark(b, `{"role":"assistant"}`, `{"content":" word"}`) }

func BenchmarkEscapedDeltas(b *testing.B) {
	benchmark(b, `{"role":"assistant"}`, `{"content":"a \"word\"\n"}`)
}

func BenchmarkArgumentDeltas(b *testing.B) {
	benchmark(b, `{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{\"a\":\""}}]}`,
		`{"tool_calls":[{"index":0,"function":{"arguments":" word"}}]}`)
}

func BenchmarkFullReader(b *testing.B) {
	benchmark(b, `{"role":"assistant"}`, `{"content":" word","reasoning_details":[]}`)
}

func TestCostOfADeltaDoesNotGrow(t *testing.T) {
	yield := func(model.Delta) bool { return true }
	for _, delta := range []string{`{"content":"a \"word\""}`, `{"reasoning":"a"}`, `{"tool_calls":[{"index":0,"function":{"arguments":"a"}}]}`} {
		d := NewDecoder(testProfile())
		begin := deltaChunk(`{"content":"`+strings.Repeat("x", 1<<20)+`","tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{"}}]}`, "")
		if _, err := d.Event("", []byte(begin), yield); err != nil {
			t.Fatal(err)
		}
		c := []byte(deltaChunk(delta, ""))
		allocs := testing.AllocsPerRun(20_000, func() {
			if _, err := d.Event("", c, yield); err != nil {
				t.Fatal(err)
			}
		})
		if allocs > 3 {
			t.Errorf("%s: %.1f allocations", delta, allocs)
		}
	}
}
