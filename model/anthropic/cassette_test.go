package anthropic

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// cassette is a recorded exchange.
type cassette struct {
	Streaming bool `json:"streaming"`
	Request   struct {
		Body json.RawMessage `json:"body"`
	} `json:"request"`
	Response struct {
		Status int    `json:"status"`
		Body   string `json:"body"`
	} `json:"response"`
}

func eachCassette(t *testing.T, test func(t *testing.T, name string, c *cassette)) {
	files, err := filepath.Glob(filepath.Join(shared(t, "cassettes/dev/anthropic-messages"), "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no cassettes", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c cassette
		if err := json.Unmarshal(data, &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) { test(t, name, &c) })
	}
}

func (c *cassette) response() wire.Response {
	header := http.Header{"Content-Type": {"application/json"}}
	if c.Streaming {
		header.Set("Content-Type", "text/event-stream; charset=utf-8")
	}
	return wire.Response{Status: c.Response.Status, Header: header, Body: strings.NewReader(c.Response.Body)}
}

// reading is what a plain reader makes of a reply.
type reading struct {
	Text, Finish string
	Thinking     string
	Calls        [][2]string
	Usage        model.Usage
	Opaque       int
}

func TestRecordedRepliesAreReadAsAPlainReaderReadsThem(t *testing.T) {
	eachCassette(t, func(t *testing.T, name string, c *cassette) {
		o := decodeResponse(testProfile(), c.response())
		if strings.HasSuffix(name, "spliced-message-start-00") || c.Response.Status != 200 {
			if model.ClassOf(o.err) == "" || o.reply != nil {
				t.Errorf("error %v, reply %v", o.err, o.reply)
			}
			return
		}
		if o.err != nil {
			t.Fatal(o.err)
		}
		r := o.reply
		got := reading{Text: r.Message.Text(), Thinking: r.Message.Reasoning(), Finish: string(r.Finish), Usage: r.Usage}
		for _, p := range r.Message.Parts {
			switch p.Kind {
			case message.KindToolCall:
				got.Calls = append(got.Calls, [2]string{p.Call.ID + " " + p.Call.Name, sorted(p.Call.Arguments)})
			case message.KindOpaque:
				got.Opaque++
			}
		}
		if diff := cmp.Diff(plainly(t, c), got); diff != "" {
			t.Errorf("-plain +decoded\n%s", diff)
		}
		if streamed := deltaText(o.deltas); streamed != got.Text {
			t.Errorf("the deltas say %q, the reply %q", streamed, got.Text)
		}
	})
}

func TestRecordedRepliesComeInAnyChunks(t *testing.T) {
	eachCassette(t, func(t *testing.T, _ string, c *cassette) {
		whole, chunked := c.response(), c.response()
		chunked.Body = iotest.OneByteReader(chunked.Body)
		want, got := decodeResponse(testProfile(), whole), decodeResponse(testProfile(), chunked)
		if diff := cmp.Diff(want.String(), got.String()); diff != "" {
			t.Error(diff)
		}
		sameInFull(t, c.Response.Body)
	})
}

func deltaText(deltas []model.Delta) string {
	var b strings.Builder
	for _, d := range deltas {
		if d.Kind == model.DeltaText {
			b.WriteString(d.Text)
		}
	}
	return b.String()
}

// sorted gives JSON a form to compare, and other text as it is.
func sorted(s string) string {
	var v any
	if json.Unmarshal([]byte(s), &v) != nil {
		return s
	}
	out, _ := json.Marshal(v)
	return string(out)
}

type values = map[string]any

// plainly reads a cassette's reply the simplest way there is.
func plainly(t *testing.T, c *cassette) reading {
	var blocks []values
	var reason string
	usage := values{}
	note := func(u any) {
		for k, v := range asObject(u) {
			if n, ok := v.(float64); !ok || n != 0 {
				usage[k] = v
			}
		}
	}
	for _, e := range plainEvents(t, c) {
		index, _ := e["index"].(float64)
		switch e["type"] {
		case "message_start":
			m := asObject(e["message"])
			note(m["usage"])
			for _, b := range m["content"].([]any) {
				blocks = append(blocks, asObject(b))
			}
			reason, _ = m["stop_reason"].(string)
		case "content_block_start":
			blocks = append(blocks, asObject(e["content_block"]))
		case "content_block_delta":
			for k, v := range asObject(e["delta"]) {
				if s, ok := v.(string); ok && k != "type" {
					old, _ := blocks[int(index)][k].(string)
					blocks[int(index)][k] = old + s
				}
			}
		case "message_delta":
			note(e["usage"])
			reason, _ = asObject(e["delta"])["stop_reason"].(string)
		}
	}
	return plainReading(blocks, reason, usage)
}

func asObject(v any) values {
	o, _ := v.(values)
	return o
}

// plainEvents returns the events up to the end of the first message.
func plainEvents(t *testing.T, c *cassette) (list []values) {
	if !c.Streaming {
		m := values{}
		if err := json.Unmarshal([]byte(c.Response.Body), &m); err != nil {
			t.Fatal(err)
		}
		return []values{{"type": "message_start", "message": m}}
	}
	for line := range strings.Lines(c.Response.Body) {
		data, ok := strings.CutPrefix(line, "data:")
		if !ok {
			continue
		}
		e := values{}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		if e["type"] == "message_stop" {
			return list
		}
		if e["type"] == "message_start" && len(list) > 0 {
			continue
		}
		list = append(list, e)
	}
	return list
}

func plainReading(blocks []values, reason string, usage values) (r reading) {
	for _, b := range blocks {
		s := func(name string) string { v, _ := b[name].(string); return v }
		switch b["type"] {
		case "text":
			r.Text += s("text")
		case "thinking":
			r.Thinking += s("thinking")
		case "tool_use":
			args := s("partial_json")
			if args == "" {
				data, _ := json.Marshal(b["input"])
				args = string(data)
			}
			r.Calls = append(r.Calls, [2]string{s("id") + " " + s("name"), sorted(args)})
		default:
			r.Opaque++
		}
	}
	r.Finish = map[string]string{
		"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "max_tokens": "length",
		"pause_turn": "pause", "refusal": "content_filter", "": "stop", "compaction": "pause",
	}[reason]
	if len(r.Calls) > 0 && (r.Finish == "stop" || r.Finish == "pause") {
		r.Finish = "tool_calls"
	}
	n := func(u values, name string) int64 { v, _ := u[name].(float64); return int64(v) }
	r.Usage = model.Usage{
		Input:      n(usage, "input_tokens") + n(usage, "cache_creation_input_tokens") + n(usage, "cache_read_input_tokens"),
		CacheRead:  n(usage, "cache_read_input_tokens"),
		CacheWrite: n(usage, "cache_creation_input_tokens"),
		Output:     n(usage, "output_tokens"),
		Reasoning:  n(asObject(usage["output_tokens_details"]), "thinking_tokens"),
	}
	return r
}
