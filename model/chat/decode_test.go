package chat

import (
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

func TestStreams(t *testing.T) {
	d, done := deltaChunk, "[DONE]"
	call := func(s string) string { return d(`{"tool_calls":[`+s+`]}`, "") }
	for _, c := range []struct {
		name   string
		chunks []string
		want   string
	}{
		{"text", []string{d(`{"role":"assistant","content":""}`, ""), d(`{"content":"Hel"}`, ""), d(`{"content":"lo\n\u00e9"}`, ""), d(`{}`, "stop"), done}, `text "Hello\né"; stop`},
		{"no [DONE]", []string{d(`{"content":"a"}`, "stop")}, `text "a"; stop`},
		{"no finish reason", []string{d(`{"content":"a"}`, ""), done}, `text "a"; stop`},
		{"no sign of an end", []string{d(`{"content":"a"}`, "")}, `error stream_truncated`},
		{"[DONE] alone", []string{done}, `error stream_truncated`},
		{"finish reason alone", []string{d(`{}`, "stop"), done}, `stop`},
		{"nothing", nil, `error stream_truncated`},
		{"empty finish reason", []string{d(`{"content":"a"}`, ""), `{"choices":[{"delta":{},"finish_reason":""}]}`, done}, `text "a"; stop`},
		{"odd finish reasons", []string{d(`{"content":"a"}`, "eos"), done}, `text "a"; stop`},
		{"length", []string{d(`{"content":"a"}`, "length"), d(`{}`, "stop"), done}, `text "a"; length`},
		{"filtered call", []string{call(`{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}`), d(`{}`, "content_filter")}, `call c f {}; content_filter`},
		{"cut call", []string{call(`{"index":0,"id":"c","function":{"name":"f","arguments":"{\"a"}}`), d(`{}`, "length")}, `call c f {"a; length`},
		{"cut call without a reason", []string{call(`{"index":0,"id":"c","function":{"name":"f","arguments":"{\"a"}}`), done}, `error stream_truncated`},
		{"chunk cut by the end", []string{d(`{"content":"a"}`, ""), `{"choices":[{"del`}, `error stream_truncated`},
		{"chunk cut after the finish", []string{d(`{"content":"a"}`, "stop"), `{"choices":[],"usa`}, `text "a"; stop`},
		{"chunk that is no JSON", []string{d(`{"content":"a"}`, ""), `{"a": <html>`, d(`{}`, "stop")}, `error server_error`},
		{"words between chunks", []string{"ping", d(`{"content":"a"}`, ""), `"ping"`, d(`{}`, "stop"), done}, `text "a"; stop`},
		{"words for an error", []string{d(`{"content":"a"}`, ""), "the model is overloaded", done}, `error overloaded`},
		{"no blank lines", []string{d(`{"content":"a"}`, "") + "\ndata: " + d(`{"content":"b"}`, "") + "\ndata: " + done}, `text "ab"; stop`},
		{"chunk on several lines", []string{"{\"choices\":[{\"delta\":\ndata: {\"content\":\"a\"},\ndata: \"finish_reason\":\"stop\"}]}"}, `text "a"; stop`},
		{"split surrogate pair", []string{d(`{"content":"\ud83d"}`, ""), d(`{"content":"\ude42!"}`, "stop")}, `text "🙂!"; stop`},
		{"reasoning_content", []string{d(`{"reasoning_content":"h","content":null}`, ""), d(`{"reasoning_content":"m","content":null}`, ""), d(`{"content":"a"}`, "stop")}, `reasoning "hm"; text "a"; stop`},
		{"reasoning under both names", []string{d(`{"reasoning_content":"hm","reasoning":"hm"}`, ""), d(`{"content":"a"}`, "stop")}, `reasoning "hm"; text "a"; stop`},
		{"content parts", []string{d(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`, ""), d(`{"content":[{"type":"text","text":"a"},{"type":"reference","reference_ids":[1]}]}`, "stop")}, `reasoning "hm"; text "a"; stop`},
		{"refusal", []string{d(`{"refusal":"I "}`, ""), d(`{"refusal":"can't"}`, "stop")}, `refusal "I can't"; content_filter`},
		{"second choice", []string{d(`{"content":"a"}`, ""), `{"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"stop"}]}`, d(`{}`, "stop")}, `text "a"; stop`},
		{"whole message at the end", []string{d(`{"content":"a"}`, ""), `{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}]}`}, `text "a"; stop`},
		{"whole message only", []string{`{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}]}`}, `text "a"; stop`},
		{"odd types", []string{`{"id":7,"created":"x","model":null,"choices":{"index":"0","delta":{"content":"a","reasoning":{"x":1}},"finish_reason":"stop"}}`}, `reasoning "{\"x\":1}"; text "a"; stop`},
		{"usage after the finish", []string{d(`{"content":"a"}`, "stop"), `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}`, done}, `text "a"; stop 10/4/0/5/2`},
		{"usage of Groq", []string{d(`{"content":"a"}`, ""), `{"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":10,"completion_tokens":5}}}`}, `text "a"; stop 10/0/0/5/0`},
		{"usage in each chunk", []string{`{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":10,"completion_tokens":1}}`, `{"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":2}}`, `{"choices":[],"usage":{"prompt_tokens":0}}`}, `text "ab"; stop 10/0/0/2/0`},
		{"usage with what was cached twice", []string{`{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":9,"cache_write_tokens":9}}}`}, `stop 10/9/9/2/0`},
		{"usage without what was cached, in OpenAI's words", []string{`{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":1,"total_tokens":8,"prompt_tokens_details":{"cached_tokens":163}}}`}, `stop 170/163/0/1/0`},
		{"an empty delta beside the whole message", []string{`{"choices":[{"delta":{"role":"assistant","content":""},"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`}, `text "hi"; stop`},
		{"deltas, and the whole message at the end", []string{d(`{"content":"h"}`, ""), `{"choices":[{"delta":{"content":"i"},"message":{"content":"hi"},"finish_reason":"stop"}]}`}, `text "hi"; stop`},
		{"usage of Moonshot", []string{`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop","usage":{"prompt_tokens":10,"completion_tokens":2,"cached_tokens":4}}]}`}, `text "a"; stop 10/4/0/2/0`},
		{"thoughts under other names", []string{`{"choices":[{"delta":{"reasoning_text":"a"}}]}`, `{"choices":[{"delta":{"thinking":"b"}}]}`, d(`{"content":"c"}`, "stop")}, `reasoning "ab"; text "c"; stop`},
		{"content of one part without a list", []string{d(`{"content":{"type":"text","text":"a"}}`, "stop")}, `text "a"; stop`},
		{"usage of DeepSeek", []string{`{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_cache_hit_tokens":6,"prompt_cache_miss_tokens":4}}`}, `stop 10/6/0/2/0`},
		{"usage without what was cached", []string{`{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":2,"cache_read_input_tokens":60,"cache_creation_input_tokens":5}}`}, `stop 75/60/5/2/0`},
		{"usage without the reasoning", []string{`{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":112,"completion_tokens_details":{"reasoning_tokens":100}}}`}, `stop 10/0/0/102/100`},
		{"calls announced and lost", []string{d(`{"content":"a"}`, "tool_calls")}, `text "a"; tool_calls`},
		{"message's signature", []string{d(`{"content":"a","extra_content":{"google":{"thought_signature":"s"}}}`, "stop")}, `text "a" (chat.extra_content {"google":{"thought_signature":"s"}}); stop`},
	} {
		t.Run(c.name, func(t *testing.T) {
			sameInFull(t, testProfile(), string(sse(c.chunks...)))
			for _, n := range []int{0, 1} {
				o := decode(testProfile(), sse(c.chunks...), n)
				if got := o.String(); got != c.want {
					t.Errorf("in pieces of %d:\n got %s\nwant %s\n%v", n, got, c.want, o.err)
				}
			}
		})
	}
}

func TestCallsInStreams(t *testing.T) {
	for _, c := range []struct {
		name  string
		calls []string
		want  string
	}{
		{"pieces", []string{`{"index":0,"id":"c","function":{"name":"f","arguments":""}}`, `{"index":0,"function":{"arguments":"{\"a\""}}`, `{"index":0,"function":{"arguments":":1}"}}`}, `call c f {"a":1}`},
		{"index from 1", []string{`{"index":1,"id":"c","function":{"name":"f","arguments":"{"}}`, `{"index":1,"function":{"arguments":"}"}}`}, `call c f {}`},
		{"interleaved", []string{`{"index":0,"id":"c","function":{"name":"f","arguments":"{"}}`, `{"index":1,"id":"d","function":{"name":"g","arguments":"{"}}`, `{"index":0,"function":{"arguments":"}"}}`, `{"index":1,"function":{"arguments":"\"b\":2}"}}`}, `call c f {}; call d g {"b":2}`},
		{"id repeated without index", []string{`{"id":"c","function":{"name":"f","arguments":"{"}}`, `{"id":"d","function":{"name":"g","arguments":"{}"}}`, `{"id":"c","function":{"arguments":"}"}}`}, `call c f {}; call d g {}`},
		{"neither id nor index", []string{`{"id":"c","function":{"name":"f","arguments":"{"}}`, `{"function":{"arguments":"}"}}`}, `call c f {}`},
		{"id and name in each piece", []string{`{"index":0,"id":"c","function":{"name":"f","arguments":""}}`, `{"index":0,"id":"c","function":{"name":"f","arguments":"{"}}`, `{"index":0,"id":"c","function":{"name":"f","arguments":"}"}}`}, `call c f {}`},
		{"id late", []string{`{"index":0,"function":{"name":"f"}}`, `{"index":0,"id":"c","function":{"arguments":"{}"}}`}, `call c f {}`},
		{"name late", []string{`{"index":0,"id":"c"}`, `{"index":0,"function":{"arguments":"{"}}`, `{"index":0,"function":{"name":"f","arguments":"}"}}`}, `call c f {}`},
		{"id made up for each piece", []string{`{"index":0,"id":"c","function":{"name":"f","arguments":"{"}}`, `{"index":0,"id":"d","function":{"arguments":"}"}}`}, `call c f {}`},
		{"one index for all", []string{`{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}`, `{"index":0,"id":"d","function":{"name":"f","arguments":"{}"}}`, `{"index":0,"function":{"arguments":" "}}`}, `call c f {}; call d f {} `},
		{"one id for all", []string{`{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}`, `{"index":1,"id":"c","function":{"name":"g","arguments":"{}"}}`}, `call c f {}; call * g {}`},
		{"no ids, one index", []string{`{"index":0,"function":{"name":"f","arguments":"{\"a\":1}"}}`, `{"index":0,"function":{"name":"f","arguments":"{\"a\":2}"}}`, `{"index":0,"function":{"name":"g","arguments":"{}"}}`}, `call * f {"a":1}; call * f {"a":2}; call * g {}`},
		{"empty ids", []string{`{"id":"","function":{"name":"f","arguments":"{}"}}`, `{"id":"","function":{"name":"g","arguments":"{}"}}`}, `call * f {}; call * g {}`},
		{"number as id", []string{`{"index":0,"id":7,"function":{"name":"f","arguments":"{}"}}`}, `call 7 f {}`},
		{"object as arguments", []string{`{"id":"c","function":{"name":"f","arguments":{"a":1}}}`}, `call c f {"a":1}`},
		{"null as arguments", []string{`{"id":"c","function":{"name":"f","arguments":null}}`}, `call c f {}`},
		{"blank arguments", []string{`{"id":"c","function":{"name":"f","arguments":" "}}`}, `call c f {}`},
		{"placeholder", []string{`{"index":0,"id":"","function":{"name":"","arguments":""}}`, `{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}`}, `call c f {}`},
		{"not JSON", []string{`{"id":"c","function":{"name":"f","arguments":"{\"a\":\"\\x\"}"}}`}, `call c f {"a":"\x"}`},
		{"custom tool", []string{`{"id":"c","type":"custom","custom":{"name":"f","input":"a b"}}`}, `call c f {"input":"a b"}`},
		{"signature", []string{`{"id":"c","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}`}, `call c f {} (chat.extra_content {"google":{"thought_signature":"s"}})`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var chunks []string
			for _, call := range c.calls {
				chunks = append(chunks, deltaChunk(`{"content":null,"tool_calls":[`+call+`]}`, ""))
			}
			stream := sse(append(chunks, deltaChunk(`{}`, "tool_calls"), "[DONE]")...)
			sameInFull(t, testProfile(), string(stream))
			o := decode(testProfile(), stream, 0)
			if o.err != nil {
				t.Fatal(o.err)
			}
			ids := map[string]bool{}
			for _, call := range o.reply.Message.Calls() {
				if call.ID == "" || ids[call.ID] {
					t.Errorf("id %q", call.ID)
				}
				ids[call.ID] = true
				if strings.HasPrefix(call.ID, "call_") {
					call.ID = "*"
				}
			}
			if got, want := o.String(), c.want+"; tool_calls"; got != want || !o.reply.Announced {
				t.Errorf("got %s\nwant %s", got, want)
			}
		})
	}
}

func TestLegacyFunctionCall(t *testing.T) {
	o := decode(testProfile(), sse(deltaChunk(`{"function_call":{"name":"f","arguments":"{\"a\""}}`, ""),
		deltaChunk(`{"function_call":{"arguments":":1}"}}`, ""), deltaChunk(`{}`, "function_call")), 0)
	if o.err != nil {
		t.Fatal(o.err)
	}
	if calls := o.reply.Message.Calls(); len(calls) != 1 || calls[0].Name != "f" || calls[0].Arguments != `{"a":1}` || o.reply.Finish != model.FinishToolCalls {
		t.Errorf("got %s", o.String())
	}
}

func TestErrorsWithinReplies(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       model.Class
	}{
		{"object in a chunk", string(sse(deltaChunk(`{"content":"a"}`, ""), `{"choices":[],"error":{"code":502,"message":"Provider disconnected"}}`, "[DONE]")), model.ServerError},
		{"object in a choice", string(sse(`{"choices":[{"index":0,"delta":{"content":""},"error":{"code":429,"message":"slow down"},"finish_reason":"error"}]}`)), model.RateLimit},
		{"named event", "event: error\ndata: {\"message\":\"rate limit exceeded\",\"status_code\":429}\n\n", model.RateLimit},
		{"finish reason alone", string(sse(deltaChunk(`{"content":"a"}`, "error"))), model.ServerError},
		{"no resources", string(sse(deltaChunk(`{"content":"a"}`, "insufficient_system_resource"))), model.Overloaded},
		{"whole", `{"error":{"message":"prompt is too long: 20 tokens > 10 maximum","code":400}}`, model.ContextOverflow},
		{"whole in an array", `[{"error":{"code":429,"message":"Resource exhausted","status":"RESOURCE_EXHAUSTED"}}]`, model.RateLimit},
		{"error string", `{"error":"overloaded, try again later","choices":[]}`, model.Overloaded},
		{"object error", `{"object":"error","message":"This model's maximum context length is 10 tokens.","code":400}`, model.ContextOverflow},
		{"cut", `{"choices":[{"message":{"content":"a`, model.StreamTruncated},
		{"nothing", ``, model.StreamTruncated},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := decode(testProfile(), []byte(c.body), 0)
			if got := model.ClassOf(o.err); got != c.want {
				t.Errorf("got %q, want %q: %v", got, c.want, o.err)
			}
		})
	}
}

func TestEmptyErrorObjectsAreNone(t *testing.T) {
	for _, empty := range []string{`null`, `{}`, `""`, `[]`, `false`} {
		o := decode(testProfile(), sse(`{"error":`+empty+`,"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`), 0)
		if o.err != nil || o.reply.Message.Text() != "a" {
			t.Errorf("%s: %v", empty, o.err)
		}
	}
}

func TestReasoningDetailsAreKeptForTheirOrigin(t *testing.T) {
	for _, c := range []struct {
		name   string
		chunks []string
		want   string
	}{
		{
			"text in pieces with its signature",
			[]string{
				deltaChunk(`{"reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a","format":null,"index":0}]}`, ""),
				deltaChunk(`{"reasoning":"b","reasoning_details":[{"type":"reasoning.text","text":"b","format":"f","index":0}]}`, ""),
				deltaChunk(`{"reasoning_details":[{"type":"reasoning.text","signature":"s","index":0,"more":1}]}`, "stop"),
			},
			`reasoning "ab" (chat.reasoning_details [{"type":"reasoning.text","text":"ab","signature":"s","format":"f","index":0}]); stop`,
		},
		{
			"encrypted",
			[]string{deltaChunk(`{"content":"x","reasoning_details":[{"type":"reasoning.encrypted","data":"d","id":"i","index":0,"more":1},{"type":"reasoning.encrypted","data":"e","index":0}]}`, "stop")},
			`opaque "" (chat.reasoning_details [{"type":"reasoning.encrypted","data":"d","id":"i","index":0,"more":1},{"type":"reasoning.encrypted","data":"e","index":0}]); text "x"; stop`,
		},
		{
			"readable only there",
			[]string{deltaChunk(`{"reasoning_details":[{"type":"reasoning.summary","summary":"a"}]}`, "stop")},
			`reasoning "a" (chat.reasoning_details [{"type":"reasoning.summary","summary":"a"}]); stop`,
		},
	} {
		o := decode(testProfile(), sse(c.chunks...), 0)
		if got := o.String(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestThinkTags(t *testing.T) {
	p := testProfile()
	p.ThinkTags = true
	o := decode(p, sse(deltaChunk(`{"content":"<thi"}`, ""), deltaChunk(`{"content":"nk>hm</think>\n\nHi <"}`, ""), deltaChunk(`{"content":"think"}`, "stop")), 0)
	if got, want := o.String(), `reasoning "hm"; text "Hi <think"; stop`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	o = decode(p, sse(deltaChunk(`{"content":"<thi"}`, "stop")), 0)
	if got, want := o.joined(model.DeltaText)+" | "+o.String(), `<thi | text "<thi"; stop`; got != want {
		t.Errorf("held back: got %s, want %s", got, want)
	}
	p.StartsInThink = true
	o = decode(p, sse(deltaChunk(`{"reasoning_content":"hm"}`, ""), deltaChunk(`{"content":"Hi"}`, "stop")), 0)
	if got, want := o.String(), `reasoning "hm"; text "Hi"; stop`; got != want {
		t.Errorf("with a field of its own: got %s, want %s", got, want)
	}
}

func TestPartialHoldsWhatArrived(t *testing.T) {
	o := decode(testProfile(), sse(deltaChunk(`{"content":"a"}`, ""), `{"error":{"message":"x"}}`), 0)
	e, ok := o.err.(*model.Error)
	if !ok || e.Partial == nil || e.Partial.Message.Text() != "a" || e.Partial.Finish != model.FinishError || e.Provider != "p" {
		t.Errorf("got %+v", o.err)
	}
}

func TestReplyTellsItsOrigin(t *testing.T) {
	o := decode(testProfile(), sse(deltaChunk(`{"content":"a"}`, "stop")), 0)
	if r := o.reply; r.ID != "r1" || r.Model != "m1" || r.Message.Origin != (message.Origin{Provider: "p", Model: "m", Account: "a"}) {
		t.Errorf("got %+v, %+v", r, r.Message)
	}
}
