package anthropic

import (
	"fmt"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// deltaEvents are text deltas as Anthropic sends them and, with spaces, as
// Bedrock's do.
var deltaEvents = map[string][]byte{
	"plain":   []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" some more words of it"}    }`),
	"escaped": []byte(`{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": " a \"word\"\n\u00e9"}}`),
}

const streamLength = 20_000

func BenchmarkTextDelta(b *testing.B) {
	for name, data := range deltaEvents {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			yield := func(model.Delta) bool { return true }
			for n := 0; b.Loop(); n++ {
				d := newDecoder(testProfile(), nil)
				for range streamLength {
					if _, err := d.Event("content_block_delta", data, yield); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/streamLength, "ns/delta")
		})
	}
}

// BenchmarkRound is one round of an agent whose conversation has about n
// rounds: three new messages, all else as in the request before.
func BenchmarkRound(b *testing.B) {
	const more = 100
	for _, n := range []int{50, 500} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			p, tools := testProfile(), toolSet("ls")
			var line []message.History // the history after each round
			msgs := rounds(b, n+more).Messages()
			for end := 1 + 3*n; end <= len(msgs); end += 3 {
				line = append(line, history(b, msgs[:end]...))
			}
			var cache *model.Cache
			for i := 0; b.Loop(); i++ {
				if i%more == 0 {
					b.StopTimer()
					cache = new(model.Cache)
					mustEncode(b, p, &model.Request{System: "s", Tools: tools, History: line[0], Cache: cache})
					b.StartTimer()
				}
				req := &model.Request{System: "s", Tools: tools, History: line[1+i%more], Cache: cache, Effort: "low"}
				if _, err := Encode(p, req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestTextDeltaAllocatesLittle(t *testing.T) {
	for name, data := range deltaEvents {
		d := newDecoder(testProfile(), nil)
		yield := func(model.Delta) bool { return true }
		n := testing.AllocsPerRun(streamLength, func() {
			if _, err := d.Event("", data, yield); err != nil {
				t.Fatal(err)
			}
		})
		if n > 3 {
			t.Errorf("%s: %v allocations a delta", name, n)
		}
	}
}

// parallelEvents are a reply of n tool calls as Anthropic streams it.
func parallelEvents(n int) [][]byte {
	events := [][]byte{[]byte(`{"type":"message_start","message":{"id":"msg_01XFDUDYJgAACzvnptvVoYEL","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],` +
		`"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":58,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}`)}
	for i := range n {
		events = append(events,
			fmt.Appendf(nil, `{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"toolu_01T1x1fJ34qAmk2tNTrN7U%02d","name":"read","input":{}}}`, i, i),
			fmt.Appendf(nil, `{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":"{\"n\":%d}"}}`, i, i),
			fmt.Appendf(nil, `{"type":"content_block_stop","index":%d}`, i))
	}
	return append(events,
		[]byte(`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":96}}`),
		[]byte(`{"type":"message_stop"}`))
}

// BenchmarkParallelCalls reads a reply of 8 calls.
func BenchmarkParallelCalls(b *testing.B) {
	p, events := testProfile(), parallelEvents(8)
	yield := func(model.Delta) bool { return true }
	b.ReportAllocs()
	for b.Loop() {
		d := newDecoder(p, nil)
		for _, data := range events {
			if _, err := d.Event("", data, yield); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := d.End(); err != nil {
			b.Fatal(err)
		}
	}
}
