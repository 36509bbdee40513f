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
