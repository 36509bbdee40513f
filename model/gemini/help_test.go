package gemini

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

func testProfile() *model.Profile {
	return &model.Profile{Provider: "gemini-native", Model: "gemini-x", Account: "acc", Mode: model.GeminiGenerate}
}

// decode tells what comes of a reply, line by line.
func decode(r wire.Response) string {
	var b strings.Builder
	kinds := map[model.DeltaKind]string{
		model.DeltaText: "text", model.DeltaReasoning: "reasoning", model.DeltaCall: "call", model.DeltaCallArgs: "arguments",
	}
	p := testProfile()
	for d, err := range wire.Decode(p, opStream, time.Time{}, r, NewDecoder(p)) {
		switch {
		case err != nil:
			e := err.(*model.Error)
			fmt.Fprintf(&b, "error %s: %v\n", e.Class, e.Err)
			if e.Partial != nil {
				b.WriteString("partial\n" + parts(e.Partial.Message))
			}
		case d.Kind == model.DeltaDone:
			b.WriteString(describe(d.Reply))
		default:
			fmt.Fprintf(&b, "> %s %d %s %q\n", kinds[d.Kind], d.Index, d.Name, d.Text)
		}
	}
	return b.String()
}

func describe(r *model.Reply) string {
	u := r.Usage
	return fmt.Sprintf("reply %q by %q: %s, announced=%v, refusal=%q\n%susage input=%d read=%d output=%d reasoning=%d\n",
		r.ID, r.Model, r.Finish, r.Announced, r.Refusal, parts(r.Message), u.Input, u.CacheRead, u.Output, u.Reasoning)
}

func parts(m *message.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		fmt.Fprintf(&b, "  %s %q", p.Kind, p.Text)
		if p.Call != nil {
			fmt.Fprintf(&b, " %s %s %s", p.Call.ID, p.Call.Name, p.Call.Arguments)
		}
		if p.State != nil {
			fmt.Fprintf(&b, " %s %s", p.State.Kind, p.State.Data)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// stream makes an event stream of lines of data.
func stream(lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			b.WriteString("data: " + line + "\r\n\r\n")
		}
	}
	return b.String()
}

func conversation(t testing.TB, msgs ...*message.Message) message.History {
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

func body(t testing.TB, p *model.Profile, req *model.Request) string {
	t.Helper()
	pieces, err := Encode(p, req)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.Join(pieces, nil))
}

// signed makes a call as testProfile's endpoint made it.
func signed(id, name, arguments, state string) message.Part {
	p := message.Call(id, name, arguments)
	p.State = &message.State{Origin: testProfile().Origin(), Kind: stateSignature, Data: state}
	return p
}
