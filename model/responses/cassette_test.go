package responses_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/responses"
	"github.com/rondo-engine/rondo/model/wire"
)

// plainItem and plainReply are the naive reading of a reply that is whole.
type plainItem struct {
	Type    string `json:"type"`
	Content []struct {
		Type, Text, Refusal string
	} `json:"content"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
	Input     string `json:"input"`
}

type plainReply struct {
	ID     string      `json:"id"`
	Status string      `json:"status"`
	Output []plainItem `json:"output"`
	Detail struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
		InD    struct {
			Cached  int64 `json:"cached_tokens"`
			Written int64 `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
		OutD struct {
			Reasoning int64 `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

// summary is what a reading of a reply comes to.
type summary struct {
	Text   string
	Calls  []message.ToolCall
	Finish model.Finish
	Usage  model.Usage
	ID     string
}

// readPlainly reads a body with encoding/json alone: the first event that holds
// a whole response (some recordings hold several replies one after the other), or the body itself. Items come from the events where the
// response has none. It returns nil if there is no sign that the reply is whole.
func readPlainly(x *exchange) *plainReply {
	if !x.Streaming {
		var r plainReply
		if json.Unmarshal([]byte(x.Response.Body), &r) != nil || r.Output == nil {
			return nil
		}
		return &r
	}
	var items []plainItem
	for line := range strings.Lines(x.Response.Body) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:")
		var e struct {
			Type     string
			Item     plainItem
			Response plainReply
		}
		if !ok || json.Unmarshal([]byte(data), &e) != nil {
			continue
		}
		switch e.Type {
		case "response.output_item.done":
			items = append(items, e.Item)
		case "response.completed", "response.incomplete":
			if len(e.Response.Output) == 0 {
				e.Response.Output = items
			}
			return &e.Response
		}
	}
	return nil
}

func (r *plainReply) summary() summary {
	s := summary{Finish: model.FinishStop, ID: r.ID, Usage: model.Usage{
		Input: r.Usage.Input, CacheRead: r.Usage.InD.Cached, CacheWrite: r.Usage.InD.Written,
		Output: r.Usage.Output, Reasoning: r.Usage.OutD.Reasoning,
	}}
	for _, it := range r.Output {
		switch it.Type {
		case "message":
			for _, c := range it.Content {
				s.Text += c.Text + c.Refusal
			}
		case "function_call":
			args, _ := it.Arguments.(string)
			if args == "" {
				args = "{}"
			}
			s.Calls = append(s.Calls, message.ToolCall{ID: it.CallID, Name: it.Name, Arguments: args})
		case "custom_tool_call":
			args := `{"input":"` + it.Input + `"}` // none of the recorded ones needs escaping
			s.Calls = append(s.Calls, message.ToolCall{ID: it.CallID, Name: it.Name, Arguments: args})
		}
	}
	if len(s.Calls) > 0 {
		s.Finish = model.FinishToolCalls
	}
	if r.Status == "incomplete" {
		s.Finish = model.FinishLength
		if r.Detail.Reason == "content_filter" {
			s.Finish = model.FinishContentFilter
		}
	}
	return s
}

func summarise(r *model.Reply) summary {
	s := summary{Text: r.Message.Text(), Finish: r.Finish, Usage: r.Usage, ID: r.ID}
	for _, c := range r.Message.Calls() {
		s.Calls = append(s.Calls, *c)
	}
	return s
}

// replay decodes a recorded reply and checks what every stream must hold to.
func replay(t *testing.T, x *exchange) (reply *model.Reply, shown string, failed error) {
	t.Helper()
	h := http.Header{}
	for k, v := range x.Response.Headers {
		if !strings.EqualFold(k, "Content-Encoding") { // the recording is unzipped
			h.Set(k, v)
		}
	}
	p := &model.Profile{Provider: x.Provider, Model: x.Model}
	r := wire.Response{Status: x.Response.Status, Header: h, Body: strings.NewReader(x.Response.Body)}
	for d, err := range wire.Decode(p, "test", time.Unix(1e9, 0), r, responses.NewDecoder(p)) {
		if reply != nil || failed != nil {
			t.Fatal("something follows the end of the stream")
		}
		if failed = err; err != nil {
			continue
		}
		if reply = d.Reply; d.Kind == model.DeltaText {
			shown += d.Text
		}
	}
	if reply == nil && failed == nil {
		t.Fatal("the stream has no end")
	}
	return reply, shown, failed
}

func TestRecordedRepliesReadLikePlainJSON(t *testing.T) {
	read := 0
	exchanges(t, func(t *testing.T, x *exchange) {
		reply, shown, err := replay(t, x)
		want := readPlainly(x)
		whole := want != nil && (want.Status != "queued" && want.Status != "in_progress")
		if x.Response.Status != 200 || !whole {
			if err == nil {
				t.Fatalf("the reply is not whole, but was taken for %+v", summarise(reply))
			}
			if model.ClassOf(err) == "" {
				t.Fatalf("error without a class: %v", err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, want := summarise(reply), want.summary(); !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		if shown != reply.Message.Text() && strings.HasPrefix(reply.Message.Text(), shown) {
			t.Errorf("shown %q, stored %q", shown, reply.Message.Text())
		}
		read++
	})
	t.Logf("%d replies agree", read)
}

// plainInput is the naive reading of an input item, as far as its meaning goes.
type plainInput struct {
	Kind, Text, ID string
}

// meaning lists what the items of an input say, in order: texts by role, calls
// and results by id, encrypted reasoning. Neighbours of a role count as one.
func meaning(t *testing.T, input json.RawMessage) []plainInput {
	t.Helper()
	var items []map[string]any
	if err := json.Unmarshal(input, &items); err != nil {
		t.Fatalf("input: %v", err)
	}
	var out []plainInput
	for _, it := range items {
		kind, _ := it["type"].(string)
		p := plainInput{Kind: kind}
		switch kind {
		case "", "message":
			role, _ := it["role"].(string)
			p.Kind, p.Text = strings.Replace(role, "developer", "system", 1), words(it["content"])
		case "reasoning":
			p.Text, _ = it["encrypted_content"].(string)
		case "function_call":
			p.ID, _ = it["call_id"].(string)
			p.Text, _ = it["arguments"].(string)
		case "function_call_output":
			p.ID, _ = it["call_id"].(string)
			p.Text = words(it["output"])
		}
		said := p.Kind == "user" || p.Kind == "system" || p.Kind == "assistant"
		if said && p.Text == "" {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Kind == p.Kind && said {
			out[n-1].Text += p.Text
			continue
		}
		out = append(out, p)
	}
	for i := range out {
		out[i].Text = strings.ReplaceAll(out[i].Text, "\n", "")
	}
	return out
}

func words(content any) string {
	switch c := content.(type) {
	case string:
		return c
	case []any:
		var b strings.Builder
		for _, e := range c {
			for _, k := range []string{"text", "refusal", "image_url", "file_data", "file_url", "file_id"} {
				s, _ := e.(map[string]any)[k].(string)
				b.WriteString(s)
			}
		}
		return b.String()
	}
	return ""
}

func TestRecordedRequestsKeepTheirMeaning(t *testing.T) {
	kept := 0
	exchanges(t, func(t *testing.T, x *exchange) {
		var body struct {
			Input json.RawMessage `json:"input"`
		}
		if json.Unmarshal(x.Request.Body, &body) != nil || len(body.Input) == 0 {
			t.Skip("the request is not known")
		}
		msgs, err := responses.ParseItems(body.Input)
		if err != nil {
			t.Fatal(err)
		}
		h, changes := message.Normalise(msgs)
		p := &model.Profile{Provider: x.Provider, Model: x.Model}
		pieces, err := responses.Encode(p, &model.Request{History: h})
		if err != nil {
			t.Fatal(err)
		}
		var sent struct {
			Input json.RawMessage `json:"input"`
		}
		if err := json.Unmarshal(slices.Concat(pieces...), &sent); err != nil {
			t.Fatalf("the request is no JSON: %v\n%s", err, slices.Concat(pieces...))
		}
		if body.Input[0] == '"' || x.Response.Status != 200 || repaired(changes) {
			return
		}
		got, want := meaning(t, sent.Input), meaning(t, body.Input)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v\nchanges %+v", got, want, changes)
		}
		kept++
	})
	t.Logf("%d requests keep their meaning", kept)
}

// repaired reports whether Normalise did more than join neighbours.
func repaired(changes []message.Change) bool {
	return slices.ContainsFunc(changes, func(c message.Change) bool { return c.Rule != message.RuleMerged })
}
