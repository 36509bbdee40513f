package gemini

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// deltaEvents are text deltas as Google sends them, also pretty.
var deltaEvents = map[string]string{
	"plain":   `{"candidates":[{"content":{"parts":[{"text":" some more words of it"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":1234,"candidatesTokenCount":56,"totalTokenCount":1290,"promptTokensDetails":[{"modality":"TEXT","tokenCount":1234}],"thoughtsTokenCount":99},"modelVersion":"gemini-2.5-flash","responseId":"bGFzdCBvbmU"}`,
	"escaped": `{"candidates": [{"content": {"parts": [{"text": " a \"word\"\n\u00e9"}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 1234,"totalTokenCount": 1290},"modelVersion": "gemini-2.5-flash","responseId": "bGFzdCBvbmU"}`,
}

const streamLength = 20_000

func BenchmarkTextDelta(b *testing.B) {
	for name, data := range deltaEvents {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			yield := func(model.Delta) bool { return true }
			for b.Loop() {
				d := newDecoder(testProfile(), nil)
				for range streamLength {
					if _, err := d.Event("", []byte(data), yield); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/streamLength, "ns/delta")
		})
	}
}

func TestTextDeltaAllocatesLittle(t *testing.T) {
	for name, text := range deltaEvents {
		d, data := newDecoder(testProfile(), nil), []byte(text)
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

// line is a conversation of n rounds, and each of its beginnings that can be sent.
func line(t testing.TB, n int) []message.History {
	msgs := []*message.Message{message.NewUser("go")}
	beginnings := []message.History{conversation(t, msgs...)}
	for i := range n {
		a := signed(fmt.Sprint("a", i), "ls", `{"path":"a"}`, `{"thoughtSignature":"c2ln"}`)
		b := message.Call(fmt.Sprint("b", i), "ls", "{}")
		msgs = append(msgs, message.NewAssistant(message.Reasoning("hm"), a, b),
			message.NewResult(a.Call, message.StatusOK, "ok"), message.NewResult(b.Call, message.StatusOK, "ok"))
		beginnings = append(beginnings, conversation(t, msgs...))
	}
	return beginnings
}

// The provider finds a cached prefix only if its bytes come again.
func TestRequestsOfAConversationShareTheirPrefix(t *testing.T) {
	p, cache := testProfile(), new(model.Cache)
	tools := &model.ToolSet{Specs: []model.ToolSpec{{Name: "ls"}}}
	last := ""
	for n, h := range line(t, 20) {
		req := &model.Request{System: "s", Tools: tools, History: h, Cache: cache, Ephemeral: fmt.Sprint("note ", n), Effort: "low"}
		cached := body(t, p, req)
		alone := *req
		alone.Cache = nil
		if anew := body(t, p, &alone); cached != anew {
			t.Fatalf("round %d: cached and anew differ:\n%s\n%s", n, cached, anew)
		}
		note := strings.Index(cached, fmt.Sprintf(`,{"text":"note %d"}`, n))
		if !strings.HasPrefix(cached, last) || note < 0 {
			t.Fatalf("round %d: the prefix has changed:\n%s\n%s", n, last, cached)
		}
		last = cached[:note]
	}
}

// BenchmarkRound is one round of an agent whose conversation has about n
// rounds: three new messages, all else as in the request before.
func BenchmarkRound(b *testing.B) {
	const more = 100
	for _, n := range []int{50, 500} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			p, tools := testProfile(), &model.ToolSet{Specs: []model.ToolSpec{{Name: "ls"}}}
			all := line(b, n+more)[n:]
			var cache *model.Cache
			for i := 0; b.Loop(); i++ {
				if i%more == 0 {
					b.StopTimer()
					cache = new(model.Cache)
					body(b, p, &model.Request{System: "s", Tools: tools, History: all[0], Cache: cache})
					b.StartTimer()
				}
				if _, err := Encode(p, &model.Request{System: "s", Tools: tools, History: all[1+i%more], Cache: cache}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// FuzzDecodeInAnyChunks wants the same reply however its bytes come.
func FuzzDecodeInAnyChunks(f *testing.F) {
	samples(f, func(_, reply, _ string) { f.Add([]byte(reply), 7) })
	f.Fuzz(func(t *testing.T, reply []byte, size int) {
		if size = max(size, 1); size > len(reply) {
			size = max(len(reply), 1)
		}
		whole := decode(wire.Response{Body: bytes.NewReader(reply)})
		cut := decode(wire.Response{Body: &chunked{bytes.NewReader(reply), size}})
		if whole != cut {
			t.Errorf("whole\n%s\nin pieces of %d\n%s", whole, size, cut)
		}
	})
}

type chunked struct {
	r io.Reader
	n int
}

func (c *chunked) Read(p []byte) (int, error) { return c.r.Read(p[:min(len(p), c.n)]) }

// FuzzScan wants an event that is scanned to say what the full reader reads.
func FuzzScan(f *testing.F) {
	for _, data := range deltaEvents {
		f.Add([]byte(data))
	}
	samples(f, func(_, reply, _ string) {
		for event := range strings.SplitSeq(reply, "\r\n\r\n") {
			f.Add([]byte(strings.TrimPrefix(event, "data: ")))
		}
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		h, ok := scan(data)
		if !ok {
			return
		}
		hot, full := newDecoder(testProfile(), nil), newDecoder(testProfile(), nil)
		listen := func(model.Delta) bool { return true }
		hot.yield, full.yield = listen, listen
		hot.takeHot(&h)
		if full.read(data, model.StreamTruncated) != nil {
			return // it trusts what it skips
		}
		if got, want := parts(hot.message()), parts(full.message()); got != want || hot.id != full.id || hot.model != full.model {
			t.Errorf("scanned %s %q %q, read %s %q %q", got, hot.id, hot.model, want, full.id, full.model)
		}
	})
}
