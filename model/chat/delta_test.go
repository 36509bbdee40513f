package chat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

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

// parallelStream is a reply of n tool calls as OpenAI streams it.
func parallelStream(n int) [][]byte {
	const head = `{"id":"chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG","object":"chat.completion.chunk","created":1741570283,` +
		`"model":"gpt-4o-2024-08-06","system_fingerprint":"fp_fc9f1d7035","choices":[`
	chunk := func(delta, finish string) []byte {
		return fmt.Appendf(nil, `%s{"index":0,"delta":%s,"logprobs":null,"finish_reason":%s}]}`, head, delta, finish)
	}
	chunks := [][]byte{chunk(`{"role":"assistant","content":null}`, "null")}
	for i := range n {
		chunks = append(chunks,
			chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":"call_DdmO9pD3xa9XTPNJ32zg2h%02d","type":"function","function":{"name":"read","arguments":""}}]}`, i, i), "null"),
			chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":"{\"n\":%d}"}}]}`, i, i), "null"))
	}
	return append(chunks, chunk(`{}`, `"tool_calls"`),
		[]byte(head+`],"usage":{"prompt_tokens":58,"completion_tokens":96,"total_tokens":154,"prompt_tokens_details":{"cached_tokens":0},`+
			`"completion_tokens_details":{"reasoning_tokens":0}}}`),
		[]byte("[DONE]"))
}

// readAll feeds chunks to a new decoder.
func readAll(tb testing.TB, d wire.Decoder, chunks [][]byte) *model.Reply {
	tb.Helper()
	yield := func(model.Delta) bool { return true }
	for _, c := range chunks {
		if _, err := d.Event("", c, yield); err != nil {
			tb.Fatal(err)
		}
	}
	r, err := d.End()
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// BenchmarkParallelCalls reads a reply of 8 calls, the round that is made of
// little else than what opens and ends them.
func BenchmarkParallelCalls(b *testing.B) {
	p, chunks := testProfile(), parallelStream(8)
	b.ReportAllocs()
	for b.Loop() {
		readAll(b, NewDecoder(p), chunks)
	}
}

func TestParallelCallsTakeFewAllocations(t *testing.T) {
	const calls = 8
	p, chunks := testProfile(), parallelStream(calls)
	if n := testing.AllocsPerRun(100, func() { readAll(t, NewDecoder(p), chunks) }); n > 16*calls {
		t.Errorf("%v allocations for %d calls", n, calls)
	}
	if r := readAll(t, NewDecoder(p), chunks); len(r.Message.Calls()) != calls || r.Usage.Input != 58 {
		t.Errorf("got %+v", r)
	}
}
