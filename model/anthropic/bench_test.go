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

// BenchmarkRound is one round of an agent at the end of a conversation of n
// rounds: three new messages, all else as in the request before.
func BenchmarkRound(b *testing.B) {
	for _, n := range []int{50, 500} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			p, cache, tools := testProfile(), new(model.Cache), toolSet("ls")
			now := rounds(b, n)
			before := history(b, now.Messages()[:now.Len()-3]...)
			for b.Loop() {
				for _, h := range []message.History{before, now} {
					if _, err := Encode(p, &model.Request{System: "s", Tools: tools, History: h, Cache: cache}); err != nil {
						b.Fatal(err)
					}
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
