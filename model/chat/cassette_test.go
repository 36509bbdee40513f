package chat

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// exchange is a recorded reply.
type exchange struct {
	Response struct {
		Status  int
		Headers map[string]string
		Body    string
	}
}

// plain is the naive reading of a reply.
type plain struct {
	text, thought string
	calls         []string // name and arguments, in order of their index
	finish        string
	failed        bool // there is an error object
	cut           bool // neither finish reason nor [DONE]
}

func TestRecordedExchanges(t *testing.T) {
	read := 0
	for _, file := range shared(t, "cassettes", "dev", "openai-chat", "*", "*.json") {
		var x exchange
		load(t, file, &x)
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) {
			p := testProfile()
			h := http.Header{}
			for name, value := range x.Response.Headers {
				h.Set(name, value)
			}
			r := wire.Response{Status: x.Response.Status, Header: h, Body: strings.NewReader(x.Response.Body)}
			o := readReply(p, r, NewDecoder(p))
			sameInFull(t, p, x.Response.Body)
			if (o.err == nil) == (o.reply == nil) {
				t.Fatal("neither reply nor error, or both")
			}
			compare(t, o, x.Response.Status, x.Response.Body)
		})
		read++
	}
	t.Logf("%d exchanges", read)
}

func compare(t *testing.T, o outcome, status int, body string) {
	t.Helper()
	if status != http.StatusOK {
		if e, ok := o.err.(*model.Error); !ok || e.Status != status {
			t.Errorf("status %d: %v", status, o.err)
		}
		return
	}
	want := readPlainly(body)
	if want.failed || want.cut {
		if o.err == nil {
			t.Errorf("no error for %+v", want)
		}
		return
	}
	if o.err != nil {
		t.Fatal(o.err)
	}
	m := o.reply.Message
	if m.Text() != want.text || o.joined(model.DeltaText) != want.text {
		t.Errorf("text %.300q, want %.300q", m.Text(), want.text)
	}
	if want.thought != "" && m.Reasoning() != want.thought {
		t.Errorf("reasoning %.300q, want %.300q", m.Reasoning(), want.thought)
	}
	calls := m.Calls()
	if len(calls) != len(want.calls) {
		t.Fatalf("%d calls, want %q", len(calls), want.calls)
	}
	ids := map[string]bool{"": true}
	for i, c := range calls {
		name, args, _ := strings.Cut(want.calls[i], " ")
		if c.Name != name || c.Arguments != args && !equalJSON(c.Arguments, args) || ids[c.ID] {
			t.Errorf("call %s %s %s, want %s", c.ID, c.Name, c.Arguments, want.calls[i])
		}
		ids[c.ID] = true
	}
	if got, want := o.reply.Finish, want.finishOf(o.reply); got != want {
		t.Errorf("finish %q, want %q", got, want)
	}
}

// finishOf is the finish reason in our form.
func (w *plain) finishOf(r *model.Reply) model.Finish {
	switch {
	case w.finish == "length":
		return model.FinishLength
	case w.finish == "content_filter", r.Refusal != "" && w.text == "" && len(w.calls) == 0:
		return model.FinishContentFilter
	case len(w.calls) > 0, w.finish == "tool_calls":
		return model.FinishToolCalls
	}
	return model.FinishStop
}

// readPlainly reads a body by encoding/json alone.
func readPlainly(body string) *plain {
	w := &plain{cut: true}
	var index []string
	if trimmed := strings.TrimSpace(body); strings.HasPrefix(trimmed, "{") {
		w.cut = false
		w.chunk(trimmed, &index)
	} else {
		for line := range strings.Lines(body) {
			data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:")
			if data = strings.TrimSpace(data); ok && data == "[DONE]" {
				w.cut = false
			} else if ok {
				w.chunk(data, &index)
			}
		}
	}
	for i, c := range w.calls {
		if name, args, _ := strings.Cut(c, " "); args == "" {
			w.calls[i] = name + " {}"
		}
	}
	return w
}

func (w *plain) chunk(data string, index *[]string) {
	var c map[string]any
	if json.Unmarshal([]byte(data), &c) != nil {
		return
	}
	if e, ok := c["error"]; ok && e != nil {
		w.failed = true
	}
	for _, v := range asList(c["choices"]) {
		choice := asMap(v)
		if n, ok := choice["index"].(float64); ok && n != 0 {
			continue
		}
		if f, ok := choice["finish_reason"].(string); ok && f != "" {
			w.finish, w.cut = f, false
		}
		m := asMap(choice["message"])
		if delta := asMap(choice["delta"]); m == nil || w.text != "" || asString(delta["content"]) != "" {
			m = delta
		}
		w.message(m, index)
	}
}

func (w *plain) message(m map[string]any, index *[]string) {
	switch content := m["content"].(type) {
	case string:
		w.text += content
	case []any:
		for _, part := range content {
			w.text += asString(asMap(part)["text"])
		}
	}
	if s := asString(m["reasoning_content"]); s != "" {
		w.thought += s
	} else {
		w.thought += asString(m["reasoning"])
	}
	for i, v := range asList(m["tool_calls"]) {
		call := asMap(v)
		if call["type"] == "custom" {
			custom := asMap(call["custom"])
			args, _ := json.Marshal(map[string]any{"input": custom["input"]})
			call["function"] = map[string]any{"name": custom["name"], "arguments": string(args)}
		}
		f := asMap(call["function"])
		at := string(rune('a' + i))
		if n, ok := call["index"].(float64); ok {
			at = string(rune('a' + int(n)))
		}
		name, args := asString(f["name"]), asString(f["arguments"])
		if n := len(*index); n > 0 && (*index)[n-1] == at && i < n {
			w.calls[n-1] += args
		} else {
			*index = append(*index, at)
			w.calls = append(w.calls, name+" "+args)
		}
	}
	if f := asMap(m["function_call"]); asString(f["name"]) != "" {
		w.calls = append(w.calls, asString(f["name"])+" "+asString(f["arguments"]))
	}
}

func asMap(v any) map[string]any { m, _ := v.(map[string]any); return m }
func asList(v any) []any         { l, _ := v.([]any); return l }
func asString(v any) string      { s, _ := v.(string); return s }
