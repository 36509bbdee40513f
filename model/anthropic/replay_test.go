package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

func TestRecordedRequestsSurviveParsingAndEncoding(t *testing.T) {
	tried := 0
	eachCassette(t, func(t *testing.T, _ string, c *cassette) {
		var body struct {
			Model    string            `json:"model"`
			Messages []json.RawMessage `json:"messages"`
		}
		if json.Unmarshal(c.Request.Body, &body) != nil || len(body.Messages) == 0 || body.Messages[0][0] != '{' {
			t.Skip("no request is known")
		}
		system, msgs, err := ParseMessages(c.Request.Body)
		if strings.Contains(string(c.Request.Body), "Invalid content") {
			if err == nil {
				t.Error("a request that the API refused is read")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		h, _ := message.Normalise(msgs)
		p := testProfile()
		p.Model = body.Model
		sent := mustEncode(t, p, &model.Request{System: system, History: h})
		if diff := cmp.Diff(meaning(t, c.Request.Body), meaning(t, sent)); diff != "" {
			t.Errorf("-recorded +encoded\n%s", diff)
		}
		checkOrder(t, parseBody(t, sent))
		tried++
	})
	t.Logf("%d requests", tried)
}

// checkOrder checks what the API asks of the order of messages.
func checkOrder(t *testing.T, b *body) {
	t.Helper()
	var open []string
	for i, m := range b.Messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want {
			t.Errorf("message %d is of role %s", i, m.Role)
		}
		for _, c := range m.Content {
			if c.str("type") == "tool_result" {
				if len(open) == 0 || open[0] != c.str("tool_use_id") {
					t.Fatalf("result %s out of order, open are %v", c.str("tool_use_id"), open)
				}
				open = open[1:]
				continue
			}
			if m.Role == "user" && len(open) > 0 {
				t.Errorf("message %d: calls %v are not answered", i, open)
			}
			if c.str("type") == "tool_use" {
				open = append(open, c.str("id"))
			}
		}
	}
}

// meaning lists what a request's messages say, without what does not count:
// cache marks, blank text, how text is split into messages.
func meaning(t *testing.T, data []byte) (said []string) {
	t.Helper()
	var b struct {
		Messages []struct {
			Role    string
			Content any
		}
	}
	if err := json.Unmarshal(data, &b); err != nil {
		t.Fatal(err)
	}
	for _, m := range b.Messages {
		role := strings.Replace(m.Role, "system", "user", 1)
		said = append(said, contentMeaning(role, m.Content)...)
	}
	return said
}

func contentMeaning(who string, content any) (said []string) {
	if s, ok := content.(string); ok {
		content = []any{map[string]any{"type": "text", "text": s}}
	}
	list, _ := content.([]any)
	for _, item := range list {
		b := asObject(item)
		switch b["type"] {
		case "text":
			text := strings.TrimSpace(b["text"].(string))
			if text != "" && text != message.InterruptedText && text != noOutput {
				said = append(said, fmt.Sprint(who, " says ", text))
			}
		case "tool_use":
			said = append(said, fmt.Sprint("call ", b["id"], b["name"], b["input"]))
		case "tool_result":
			said = append(said, fmt.Sprint("result ", b["tool_use_id"], b["is_error"] == true))
			said = append(said, contentMeaning("tool", b["content"])...)
		case "tool_addition": // not a block of the protocol yet
		default:
			delete(b, "cache_control")
			out, _ := json.Marshal(b)
			said = append(said, string(out))
		}
	}
	return said
}

func FuzzDecodeInAnyChunks(f *testing.F) {
	f.Add([]byte(events(`{"type":"message_start","message":{"id":"m","content":[{"type":"text","text":"a"}]}}
		{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\ud83d"}}
		{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}
		{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}
		{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}
		{"type":"message_stop"}`)))
	f.Add([]byte(events(`{"type":"content_block_start","index":0,"content_block":{"type":"x","a":null}}
		{"type":"content_block_delta","index":0,"delta":{"type":"x_delta","a":"b","c":1}}
		{"type":"error","error":{"type":"overloaded_error","message":"m"}}`)))
	f.Add([]byte(`{"type":"message","content":[{"type":"thinking","thinking":"t","signature":"s"}],"stop_reason":"end_turn"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		whole := decode(testProfile(), string(data))
		for _, size := range []int{1, 7} {
			if got := decodeInChunks(string(data), size); got.String() != whole.String() {
				t.Errorf("in chunks of %d:\n%s\nwhole:\n%s", size, got, whole)
			}
		}
		if whole.reply == nil {
			return
		}
		h, _ := message.Normalise([]*message.Message{message.NewUser("q"), whole.reply.Message, message.NewUser("r")})
		mustEncodeJSON(t, h)
	})
}

func FuzzParseMessages(f *testing.F) {
	f.Add([]byte(recorded))
	f.Add([]byte(`{"messages":[{"role":"assistant","content":[{"type":"tool_use","input":[]}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, msgs, err := ParseMessages(data)
		if err != nil {
			return
		}
		h, _ := message.Normalise(msgs)
		mustEncodeJSON(t, h)
	})
}

func mustEncodeJSON(t *testing.T, h message.History) {
	t.Helper()
	data := mustEncode(t, testProfile(), &model.Request{History: h})
	if !isObject(string(data)) {
		t.Errorf("the body is not JSON: %s", data)
	}
}
