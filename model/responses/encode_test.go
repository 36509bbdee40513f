package responses_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/responses"
)

// body encodes req and returns the request body.
func body(t testing.TB, p *model.Profile, req *model.Request) []byte {
	t.Helper()
	pieces, err := responses.Encode(p, req)
	if err != nil {
		t.Fatal(err)
	}
	b := slices.Concat(pieces...)
	if !json.Valid(b) {
		t.Fatalf("the body is no JSON:\n%s", b)
	}
	return b
}

// input returns the items of a request body, compact, one a line.
func input(t testing.TB, body []byte) string {
	t.Helper()
	var v struct {
		Input []json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	return string(bytes.Join(raw(v.Input), []byte("\n")))
}

func raw(in []json.RawMessage) [][]byte {
	out := make([][]byte, len(in))
	for i, r := range in {
		out[i] = r
	}
	return out
}

// history makes a history of items, or fails.
func history(t testing.TB, items string) message.History {
	t.Helper()
	msgs, err := responses.ParseItems([]byte(items))
	if err != nil {
		t.Fatal(err)
	}
	h, _ := message.Normalise(msgs)
	return h
}

const userHi = `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`

func TestEncodeInput(t *testing.T) {
	long := strings.Repeat("x", 65)
	tests := []struct {
		name    string
		profile model.Profile
		items   string
		want    []string
	}{
		{
			name: "reasoning goes back with what follows it, the summary even if empty",
			items: `[{"role":"user","content":"hi"},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"g","status":null},
				{"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"a"},{"type":"output_text","text":"b"}]},
				{"type":"function_call","id":"fc_1","namespace":"n","call_id":"call_1","name":"ls","arguments":"{}"},{"type":"function_call_output","call_id":"call_1","output":"x"}]`,
			want: []string{
				userHi, `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"g"}`,
				`{"type":"message","role":"assistant","id":"msg_1","phase":"commentary","status":"completed","content":[{"type":"output_text","text":"a","annotations":[]},{"type":"output_text","text":"b","annotations":[]}]}`,
				`{"type":"function_call","id":"fc_1","namespace":"n","call_id":"call_1","name":"ls","arguments":"{}"}`,
				`{"type":"function_call_output","call_id":"call_1","output":"x"}`,
			},
		},
		{
			name:    "another model gets neither reasoning nor ids, and calls side by side",
			profile: model.Profile{Provider: "openai", Model: "m2"},
			items: `[{"role":"user","content":"hi"},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"g","_origin":{"model":"m1"}},
				{"type":"function_call","id":"fc_1","call_id":"call_1","name":"ls","arguments":"{}","_origin":{"model":"m1"}},
				{"type":"web_search_call","id":"ws_1","_origin":{"model":"m1"}},
				{"type":"message","id":"msg_1","role":"assistant","content":"so","_origin":{"model":"m1"}},
				{"type":"function_call","id":"fc_2","call_id":"call_2","name":"ls","arguments":"{}","_origin":{"model":"m1"}},
				{"type":"function_call_output","call_id":"call_1","output":""},{"type":"function_call_output","call_id":"call_2","output":"y"}]`,
			want: []string{
				userHi, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"so"}]}`,
				`{"type":"function_call","call_id":"call_1","name":"ls","arguments":"{}"}`,
				`{"type":"function_call","call_id":"call_2","name":"ls","arguments":"{}"}`,
				`{"type":"function_call_output","call_id":"call_1","output":""}`,
				`{"type":"function_call_output","call_id":"call_2","output":"y"}`,
			},
		},
		{
			name: "an id used twice is sent once",
			items: `[{"role":"user","content":"hi"},{"type":"message","id":"msg_1","role":"assistant","content":"a"},
				{"role":"user","content":"hi"},{"type":"message","id":"msg_1","role":"assistant","content":"b"}]`,
			want: []string{
				userHi, `{"type":"message","role":"assistant","id":"msg_1","status":"completed","content":[{"type":"output_text","text":"a","annotations":[]}]}`,
				userHi, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"}]}`,
			},
		},
		{
			name: "custom tools, items of server tools and refusals keep their form",
			items: `[{"role":"user","content":"hi"},{"type":"web_search_call","id":"ws_1","status":"completed","action":{"query":"q"}},
				{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"refusal","refusal":"no"}]},
				{"type":"custom_tool_call","id":"ct_1","call_id":"c1","name":"sql","input":"SELECT"},{"type":"custom_tool_call_output","call_id":"c1","output":"1"}]`,
			want: []string{
				userHi, `{"type":"web_search_call","id":"ws_1","status":"completed","action":{"query":"q"}}`,
				`{"type":"message","role":"assistant","id":"msg_1","status":"completed","content":[{"type":"refusal","refusal":"no"}]}`,
				`{"type":"custom_tool_call","id":"ct_1","call_id":"c1","name":"sql","input":"SELECT"}`,
				`{"type":"custom_tool_call_output","call_id":"c1","output":"1"}`,
			},
		},
		{
			name: "reasoning of which there is but the id stays away, and the ids that belong to it",
			items: `[{"role":"user","content":"hi"},{"type":"reasoning","id":"rs_1","summary":[]},
				{"type":"message","id":"msg_1","role":"assistant","content":"a"}]`,
			want: []string{userHi, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}`},
		},
		{
			name:    "a service that keeps the conversation finds reasoning by its id",
			profile: model.Profile{Quirks: model.Quirks{ServerState: true}},
			items: `[{"role":"user","content":"hi"},{"type":"reasoning","id":"rs_1","summary":[]},
				{"type":"message","id":"msg_1","role":"assistant","content":"a"}]`,
			want: []string{
				userHi, `{"type":"reasoning","id":"rs_1","summary":[]}`,
				`{"type":"message","role":"assistant","id":"msg_1","status":"completed","content":[{"type":"output_text","text":"a","annotations":[]}]}`,
			},
		},
		{
			name:  "items of server tools keep their ids, however long",
			items: `[{"role":"user","content":"hi"},{"type":"web_search_call","id":"` + long + `"},{"type":"message","role":"assistant","content":"a"}]`,
			want:  []string{userHi, `{"type":"web_search_call","id":"` + long + `"}`, `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}`},
		},
		{
			name: "a custom tool's call goes elsewhere as a function call",
			items: `[{"role":"user","content":"hi"},{"type":"custom_tool_call","id":"ct_1","call_id":"c1","name":"sql","input":"S","_origin":{"provider":"other"}},
				{"type":"custom_tool_call_output","call_id":"c1","output":"1"}]`,
			profile: model.Profile{Provider: "openai"},
			want: []string{
				userHi, `{"type":"function_call","call_id":"c1","name":"sql","arguments":"{\"input\":\"S\"}"}`,
				`{"type":"function_call_output","call_id":"c1","output":"1"}`,
			},
		},
		{
			name: "long ids and arguments that are no object",
			items: `[{"role":"user","content":"hi"},{"type":"function_call","id":"` + long + `","call_id":"` + long + `","name":"ls","arguments":"{\"a"},
				{"type":"function_call_output","call_id":"` + long + `","output":"x"}]`,
			want: []string{
				userHi, `{"type":"function_call","call_id":"call_lTfF_fEgSC99WNJentWD9SwCtOME6oFNsWM61WWu1-k","name":"ls","arguments":"{}"}`,
				`{"type":"function_call_output","call_id":"call_lTfF_fEgSC99WNJentWD9SwCtOME6oFNsWM61WWu1-k","output":"x"}`,
			},
		},
		{
			name: "images and files",
			items: `[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AA=="},{"type":"input_image","image_url":"https://x/y.png"},
				{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,BB=="},{"type":"input_file","file_url":"https://x/z.pdf"},{"type":"input_image","file_id":"file_1"}]},
				{"type":"function_call","call_id":"c1","name":"see","arguments":"{}"},
				{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:image/png;base64,AA=="}]}]`,
			want: []string{
				`{"type":"message","role":"user","content":[{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,AA=="},{"type":"input_image","detail":"auto","image_url":"https://x/y.png"},` +
					`{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,BB=="},{"type":"input_file","file_url":"https://x/z.pdf"},{"type":"input_image","file_id":"file_1"}]}`,
				`{"type":"function_call","call_id":"c1","name":"see","arguments":"{}"}`,
				`{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"look"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,AA=="}]}`,
			},
		},
		{
			name:    "images of results move behind the results where the service wants that",
			profile: model.Profile{Quirks: model.Quirks{NoToolImages: true}},
			items: `[{"role":"user","content":"hi"},{"type":"function_call","call_id":"c1","name":"see","arguments":"{}"},{"type":"function_call","call_id":"c2","name":"ls","arguments":"{}"},
				{"type":"function_call_output","call_id":"c1","output":[{"type":"input_image","image_url":"data:image/png;base64,AA=="}]},{"type":"function_call_output","call_id":"c2","output":"x"}]`,
			want: []string{
				userHi, `{"type":"function_call","call_id":"c1","name":"see","arguments":"{}"}`, `{"type":"function_call","call_id":"c2","name":"ls","arguments":"{}"}`,
				`{"type":"function_call_output","call_id":"c1","output":"[see the image or file in the next message]"}`,
				`{"type":"function_call_output","call_id":"c2","output":"x"}`,
				`{"type":"message","role":"user","content":[{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,AA=="}]}`,
			},
		},
		{
			name:    "no images where the model takes none; system messages as developer",
			profile: model.Profile{Quirks: model.Quirks{NoImages: true, DeveloperRole: true}},
			items:   `[{"role":"system","content":"be kind"},{"role":"user","content":[{"type":"input_image","image_url":"https://x/y.png"}]}]`,
			want: []string{
				`{"type":"message","role":"developer","content":[{"type":"input_text","text":"be kind"}]}`,
				`{"type":"message","role":"user","content":[{"type":"input_text","text":"[an image was left out: this model takes none]"}]}`,
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := input(t, body(t, &test.profile, &model.Request{History: history(t, test.items)}))
			if want := strings.Join(test.want, "\n"); got != want {
				t.Errorf("(-want +got)\n%s", cmp.Diff(want, got))
			}
		})
	}
}

func TestEncodeMembers(t *testing.T) {
	tools := &model.ToolSet{Specs: []model.ToolSpec{
		{Name: "ls", Description: "lists", Schema: json.RawMessage(`{"type": "object"}`)}, {Name: "pwd"},
	}}
	const toolsJSON = `"tools":[{"type":"function","name":"ls","description":"lists","parameters":{"type":"object"},"strict":false},` +
		`{"type":"function","name":"pwd","description":"","parameters":{"type":"object","properties":{}},"strict":false}]`
	const include = `"include":["reasoning.encrypted_content"]`
	tests := []struct {
		name   string
		quirks model.Quirks
		req    model.Request
		want   string
	}{
		{
			name: "least",
			want: `{"model":"m","input":[` + userHi + `],"stream":true,"store":false,` + include + `}`,
		},
		{
			name: "all",
			req: model.Request{
				System: "be\nkind", Tools: tools, ToolChoice: model.ToolRequired, MaxOutputTokens: 5, Effort: "low",
				NoStream: true, Ephemeral: "hurry",
			},
			want: `{"model":"m","instructions":"be\nkind",` + toolsJSON + `,"input":[` + strings.TrimSuffix(userHi, "]}") +
				`,{"type":"input_text","text":"hurry"}]}],"stream":false,"store":false,` + include +
				`,"max_output_tokens":16,"reasoning":{"effort":"low","summary":"auto"},"tool_choice":"required","parallel_tool_calls":true}`,
		},
		{
			name:   "quirks",
			quirks: model.Quirks{DeveloperRole: true, ServerState: true, NoStream: true, NoEffort: true, Extra: map[string]string{"include": "", "x": "1", "store": "null"}},
			req:    model.Request{System: "s", Tools: tools, ToolChoice: "ls", Effort: "low"},
			want: `{"model":"m",` + toolsJSON + `,"input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"s"}]},` + userHi +
				`],"stream":false,"tool_choice":{"type":"function","name":"ls"},"parallel_tool_calls":true,"store":null,"x":1}`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := &model.Profile{Model: "m", Quirks: test.quirks}
			test.req.History = history(t, `"hi"`)
			if got := string(body(t, p, &test.req)); got != test.want {
				t.Errorf("(-want +got)\n%s", cmp.Diff(test.want, got))
			}
		})
	}
}

func TestEncodeRefusesOpenCallsAndBrokenExtras(t *testing.T) {
	h, err := history(t, `"hi"`).Append(message.NewAssistant(message.Call("c1", "ls", "{}")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := responses.Encode(profile, &model.Request{History: h}); err == nil || !strings.Contains(err.Error(), `"c1" has no result`) {
		t.Errorf("open call: %v", err)
	}
	for name, value := range map[string]string{"input": "[]", "x": "{"} {
		p := &model.Profile{Quirks: model.Quirks{Extra: map[string]string{name: value}}}
		if _, err := responses.Encode(p, &model.Request{History: history(t, `"hi"`)}); err == nil {
			t.Errorf("extra member %s: %s was taken", name, value)
		}
	}
}

func TestNoteFollowsResultsAsAUserMessage(t *testing.T) {
	h := history(t, `[{"role":"user","content":"hi"},{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"x"}]`)
	cache := new(model.Cache)
	before := string(body(t, profile, &model.Request{History: h, Cache: cache}))
	noted := string(body(t, profile, &model.Request{History: h, Cache: cache, Ephemeral: "hurry"}))
	const note = `,{"type":"message","role":"user","content":[{"type":"input_text","text":"hurry"}]}`
	at := strings.Index(before, `],"stream"`)
	if want := before[:at] + note + before[at:]; noted != want {
		t.Errorf("(-want +got)\n%s", cmp.Diff(want, noted))
	}
	if after := string(body(t, profile, &model.Request{History: h, Cache: cache})); after != before {
		t.Errorf("the note left traces (-before +after)\n%s", cmp.Diff(before, after))
	}
}

// turns makes a conversation of n rounds with reasoning, calls and results.
func turns(t testing.TB, n int) []*message.Message {
	msgs := []*message.Message{message.NewUser("go")}
	for i := range n {
		reply := fmt.Sprintf(`[{"type":"reasoning","id":"rs_%d","summary":[],"encrypted_content":"g%d"},
			{"type":"function_call","id":"fc_%d","call_id":"call_%d","name":"ls","arguments":"{}"}]`, i, i, i, i)
		more, err := responses.ParseItems([]byte(reply))
		if err != nil {
			t.Fatal(err)
		}
		msgs = append(append(msgs, more...), message.NewResult(more[0].Calls()[0], message.StatusOK, "x"))
	}
	return msgs
}

func TestRequestsOfAConversationShareTheirPrefix(t *testing.T) {
	msgs := turns(t, 20)
	cache := new(model.Cache)
	var last []byte
	for n := 1; n <= len(msgs); n += 2 {
		h, _ := message.Normalise(msgs[:n])
		req := &model.Request{System: "s", History: h, Cache: cache}
		if n%4 == 1 {
			req.Ephemeral, req.Effort = "note", "high"
		}
		got := body(t, profile, req)
		req.Cache = nil
		if anew := body(t, profile, req); !bytes.Equal(got, anew) {
			t.Fatalf("round %d: the cache changes the request\n%s", n, cmp.Diff(string(anew), string(got)))
		}
		end := bytes.Index(got, []byte(`],"stream"`))
		if req.Ephemeral != "" {
			end = bytes.LastIndex(got, []byte(`,{"type":"input_text","text":"note"}`))
			if end < 0 {
				end = bytes.LastIndex(got, []byte(`,{"type":"message","role":"user"`))
			}
		}
		if !bytes.HasPrefix(got, last) {
			t.Fatalf("round %d: the prefix changed\n%s", n, cmp.Diff(string(last), string(got)))
		}
		last = got[:end]
	}
}

func TestIdsAreGivenBackWhenAHistoryChanges(t *testing.T) {
	msgs := turns(t, 3)
	cache := new(model.Cache)
	h, _ := message.Normalise(msgs)
	body(t, profile, &model.Request{History: h, Cache: cache})
	short := append([]*message.Message{message.NewUser("summary")}, msgs[5:]...)
	h, _ = message.Normalise(short)
	got := body(t, profile, &model.Request{History: h, Cache: cache})
	if want := body(t, profile, &model.Request{History: h}); !bytes.Equal(got, want) {
		t.Errorf("(-anew +cached)\n%s", cmp.Diff(string(want), string(got)))
	}
}

func TestCallsHaveNamesThatTheServiceTakes(t *testing.T) {
	var h message.History
	for _, m := range []*message.Message{
		message.NewUser("go"),
		message.NewAssistant(message.Call("a", "", "{}"), message.Call("b", "fs/read", "{}"), message.Call("c", "look", "{}")),
		{Role: message.Tool, ToolCallID: "a", Parts: []message.Part{message.Text("no such tool")}},
		{Role: message.Tool, ToolCallID: "b", Parts: []message.Part{message.Text("no such tool")}},
		{Role: message.Tool, ToolCallID: "c", Parts: []message.Part{message.Text("seen")}},
	} {
		var err error
		if h, err = h.Append(m); err != nil {
			t.Fatal(err)
		}
	}
	var v struct{ Input []struct{ Type, Name string } }
	if err := json.Unmarshal(body(t, &model.Profile{Model: "m"}, &model.Request{History: h}), &v); err != nil {
		t.Fatal(err)
	}
	for _, it := range v.Input {
		if it.Type == "function_call" && !regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`).MatchString(it.Name) {
			t.Errorf("a call is sent as %q", it.Name)
		}
	}
}
