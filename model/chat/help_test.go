package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

func testProfile() *model.Profile {
	return &model.Profile{Provider: "p", Model: "m", Account: "a", Mode: model.ChatCompletions}
}

// outcome is all that came of one reply.
type outcome struct {
	deltas []model.Delta
	reply  *model.Reply
	err    error
}

// decode reads a body as it would come over HTTP, n bytes at a time (0 for at
// once).
func decode(p *model.Profile, body []byte, n int) outcome {
	var src io.Reader = bytes.NewReader(body)
	if n > 0 {
		src = &cutReader{src, n}
	}
	return collect(p, src)
}

func collect(p *model.Profile, src io.Reader) outcome {
	return readReply(p, wire.Response{Body: src}, NewDecoder(p))
}

func readReply(p *model.Profile, r wire.Response, dec wire.Decoder) outcome {
	var o outcome
	for d, err := range wire.Decode(p, "decode", time.Time{}, r, dec) {
		switch {
		case err != nil:
			o.err = err
		case d.Kind == model.DeltaDone:
			o.reply = d.Reply
		default:
			o.deltas = append(o.deltas, d)
		}
	}
	return o
}

type cutReader struct {
	r io.Reader
	n int
}

func (c *cutReader) Read(p []byte) (int, error) { return c.r.Read(p[:min(len(p), c.n)]) }

// splitAt reads a body with cuts at offsets.
func splitAt(body []byte, offsets []int) io.Reader {
	var readers []io.Reader
	from := 0
	for _, at := range offsets {
		if at > from && at < len(body) {
			readers = append(readers, bytes.NewReader(body[from:at]))
			from = at
		}
	}
	return io.MultiReader(append(readers, bytes.NewReader(body[from:]))...)
}

// joined joins the deltas of a kind.
func (o *outcome) joined(k model.DeltaKind) string {
	var b strings.Builder
	for _, d := range o.deltas {
		if d.Kind == k {
			b.WriteString(d.Text)
		}
	}
	return b.String()
}

// String is a short form for comparisons: the parts, how it ended and the usage.
func (o *outcome) String() string {
	if o.err != nil {
		return fmt.Sprintf("error %s", model.ClassOf(o.err))
	}
	var b strings.Builder
	for _, p := range o.reply.Message.Parts {
		switch p.Kind {
		case message.KindToolCall:
			fmt.Fprintf(&b, "call %s %s %s", p.Call.ID, p.Call.Name, p.Call.Arguments)
		default:
			fmt.Fprintf(&b, "%s %q", p.Kind, p.Text)
		}
		if p.State != nil {
			fmt.Fprintf(&b, " (%s %s)", p.State.Kind, p.State.Data)
		}
		b.WriteString("; ")
	}
	if o.reply.Refusal != "" {
		fmt.Fprintf(&b, "refusal %q; ", o.reply.Refusal)
	}
	b.WriteString(string(o.reply.Finish))
	if u := o.reply.Usage; u != (model.Usage{}) {
		fmt.Fprintf(&b, " %d/%d/%d/%d/%d", u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning)
	}
	return b.String()
}

// sse frames chunks as a stream.
func sse(chunks ...string) []byte {
	var b []byte
	for _, c := range chunks {
		b = append(b, "data: "+c+"\n\n"...)
	}
	return b
}

// deltaChunk is a chunk with a delta; finish may be empty.
func deltaChunk(delta, finish string) string {
	f := "null"
	if finish != "" {
		f = `"` + finish + `"`
	}
	return `{"id":"r1","object":"chat.completion.chunk","created":1,"model":"m1","choices":[{"index":0,"delta":` +
		delta + `,"finish_reason":` + f + `}]}`
}

func equalJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

func history(t testing.TB, msgs ...*message.Message) message.History {
	t.Helper()
	var h message.History
	for _, m := range msgs {
		var err error
		if h, err = h.Append(m); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// body encodes req as it is sent.
func body(t testing.TB, p *model.Profile, req *model.Request) string {
	t.Helper()
	pieces, err := Encode(p, req)
	if err != nil {
		t.Fatal(err)
	}
	b := slices.Concat(pieces...)
	if !json.Valid(b) {
		t.Fatalf("not JSON: %s", b)
	}
	return string(b)
}
