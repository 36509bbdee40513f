package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

func testProfile() *model.Profile {
	return &model.Profile{Provider: "anthropic", Model: "claude-x", Account: "acc", Mode: model.AnthropicMessages}
}

// events makes an event stream of JSON values, one a line.
func events(lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			b.WriteString("data: " + line + "\n\n")
		}
	}
	return b.String()
}

// outcome is what came of decoding a reply.
type outcome struct {
	deltas []model.Delta
	reply  *model.Reply
	err    error
}

func decode(p *model.Profile, body string) outcome {
	return decodeResponse(p, wire.Response{Status: 200, Body: strings.NewReader(body)})
}

// decodeInChunks decodes a body that comes size bytes at a time.
func decodeInChunks(body string, size int) outcome {
	r := readerFunc(func(p []byte) (int, error) {
		if body == "" {
			return 0, io.EOF
		}
		n := copy(p[:min(len(p), size)], body)
		body = body[n:]
		return n, nil
	})
	return decodeResponse(testProfile(), wire.Response{Status: 200, Body: r})
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func decodeResponse(p *model.Profile, r wire.Response) outcome {
	return decodeBy(NewDecoder(p), p, r)
}

func decodeBy(by wire.Decoder, p *model.Profile, r wire.Response) (o outcome) {
	for d, err := range wire.Decode(p, opStream, time.Time{}, r, by) {
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

// String renders o in a form to be read and compared.
func (o outcome) String() string {
	var b strings.Builder
	for _, d := range o.deltas {
		switch d.Kind {
		case model.DeltaText:
			fmt.Fprintf(&b, "> text %q\n", d.Text)
		case model.DeltaReasoning:
			fmt.Fprintf(&b, "> reasoning %q\n", d.Text)
		case model.DeltaCall:
			fmt.Fprintf(&b, "> call %d %s\n", d.Index, d.Name)
		case model.DeltaCallArgs:
			fmt.Fprintf(&b, "> args %d %q\n", d.Index, d.Text)
		}
	}
	if o.err != nil {
		var e *model.Error
		if !errors.As(o.err, &e) {
			return b.String() + "untyped error " + o.err.Error() + "\n"
		}
		fmt.Fprintf(&b, "error %s\n", e.Class)
		if e.Partial != nil {
			fmt.Fprintf(&b, "partial\n%s", renderParts(e.Partial.Message))
		}
		return b.String()
	}
	r := o.reply
	fmt.Fprintf(&b, "reply %s by %s\n%s", r.ID, r.Model, renderParts(r.Message))
	fmt.Fprintf(&b, "finish %s announced=%v", r.Finish, r.Announced)
	if r.Refusal != "" {
		fmt.Fprintf(&b, " refusal=%q", r.Refusal)
	}
	u := r.Usage
	fmt.Fprintf(&b, "\nusage input=%d read=%d write=%d output=%d reasoning=%d\n", u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning)
	return b.String()
}

func renderParts(m *message.Message) string {
	var b strings.Builder
	for i := range m.Parts {
		p := &m.Parts[i]
		fmt.Fprintf(&b, "  %s", p.Kind)
		if p.Kind == message.KindToolCall {
			fmt.Fprintf(&b, " %s %s %q", p.Call.ID, p.Call.Name, p.Call.Arguments)
		} else if p.Kind != message.KindOpaque {
			fmt.Fprintf(&b, " %q", p.Text)
		}
		if p.State != nil {
			fmt.Fprintf(&b, " %s %s", p.State.Kind, p.State.Data)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// body is the part of a request's body that tests look at.
type body struct {
	Model      string          `json:"model"`
	MaxTokens  int             `json:"max_tokens"`
	Stream     bool            `json:"stream"`
	System     []wireBlock     `json:"system"`
	Tools      []wireBlock     `json:"tools"`
	Messages   []wireMessage   `json:"messages"`
	ToolChoice json.RawMessage `json:"tool_choice"`
	Thinking   *struct {
		Type   string `json:"type"`
		Budget int    `json:"budget_tokens"`
	} `json:"thinking"`
	Temperature *float64 `json:"temperature"`
}

type wireMessage struct {
	Role    string      `json:"role"`
	Content []wireBlock `json:"content"`
}

type wireBlock map[string]any

func (b wireBlock) str(name string) string {
	s, _ := b[name].(string)
	return s
}

// outline gives roles and block types in order.
func (b *body) outline() string {
	var lines []string
	for _, m := range b.Messages {
		var types []string
		for _, c := range m.Content {
			t := c.str("type")
			if c["cache_control"] != nil {
				t += "*"
			}
			types = append(types, t)
		}
		lines = append(lines, m.Role+": "+strings.Join(types, " "))
	}
	return strings.Join(lines, "\n")
}

func mustEncode(t testing.TB, p *model.Profile, req *model.Request) []byte {
	t.Helper()
	pieces, err := Encode(p, req)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Join(pieces, nil)
}

func encodeBody(t testing.TB, p *model.Profile, req *model.Request) *body {
	t.Helper()
	return parseBody(t, mustEncode(t, p, req))
}

func parseBody(t testing.TB, data []byte) *body {
	t.Helper()
	var b body
	if err := json.Unmarshal(data, &b); err != nil {
		t.Fatalf("the body is not JSON: %v\n%s", err, data)
	}
	return &b
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

// shared returns a directory of the data that the project shares, or skips.
func shared(t testing.TB, dir string) string {
	t.Helper()
	if root := os.Getenv("RONDO_SHARED"); root != "" {
		return filepath.Join(root, dir)
	}
	at, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for at != filepath.Dir(at) {
		path := filepath.Join(at, "shared", dir)
		if _, err := os.Stat(path); err == nil {
			return path
		}
		at = filepath.Dir(at)
	}
	t.Skipf("no shared/%s beside the repository", dir)
	return ""
}
