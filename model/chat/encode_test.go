package chat

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// conversation is a history of one round with two calls, and what follows.
func conversation(t testing.TB, more ...*message.Message) message.History {
	said := message.NewAssistant(message.Reasoning("hm"), message.Text("Let me look."),
		message.Call("call_1", "read", `{"path":"a"}`), message.Call("call:2", "list", ``))
	said.Origin = message.Origin{Provider: "p", Model: "m", Account: "a"}
	calls := said.Calls()
	return history(t, append([]*message.Message{
		message.NewUser("Go \"on\"\n<&>"), said,
		message.NewResult(calls[0], message.StatusOK, "one"), message.NewResult(calls[1], message.StatusOK, ""),
	}, more...)...)
}

var readTool = &model.ToolSet{Specs: []model.ToolSpec{
	{Name: "read", Description: "Reads.", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "list"},
}}

func TestRequest(t *testing.T) {
	p := testProfile()
	p.MaxOutput = 100
	got := body(t, p, &model.Request{System: "Be.", History: conversation(t), Tools: readTool})
	want := `{"model":"m",` +
		`"tools":[{"type":"function","function":{"name":"read","description":"Reads.","parameters":{"type":"object"}}},` +
		`{"type":"function","function":{"name":"list","parameters":{"type":"object","properties":{}}}}],` +
		`"messages":[{"role":"system","content":"Be."},` +
		`{"role":"user","content":"Go \"on\"\n<&>"},` +
		`{"role":"assistant","content":"Let me look.","tool_calls":[` +
		`{"id":"call_1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}},` +
		`{"id":"call:2","type":"function","function":{"name":"list","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"call_1","content":"one"},` +
		`{"role":"tool","tool_call_id":"call:2","content":"[no output]"}],` +
		`"stream":true,"stream_options":{"include_usage":true},"max_tokens":100}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRequestMembers(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *model.Profile, r *model.Request)
		want   string // the end of the body, or a part of it after "..."
	}{
		{"plain", func(*model.Profile, *model.Request) {}, `],"stream":true,"stream_options":{"include_usage":true}}`},
		{"no stream", func(_ *model.Profile, r *model.Request) { r.NoStream = true }, `]}`},
		{"no stream by profile", func(p *model.Profile, _ *model.Request) { p.NoStream = true }, `]}`},
		{"no stream options", func(p *model.Profile, _ *model.Request) { p.NoStreamOptions = true }, `],"stream":true}`},
		{"limit", func(p *model.Profile, r *model.Request) {
			p.MaxTokensField, r.MaxOutputTokens, p.NoStream = "max_completion_tokens", 7, true
		}, `],"max_completion_tokens":7}`},
		{"effort", func(_ *model.Profile, r *model.Request) { r.NoStream, r.Effort = true, "low" }, `],"reasoning_effort":"low"}`},
		{"no effort", func(p *model.Profile, r *model.Request) { r.NoStream, r.Effort, p.NoEffort = true, "low", true }, `]}`},
		{"choice", func(_ *model.Profile, r *model.Request) {
			r.NoStream, r.Tools, r.ToolChoice = true, readTool, model.ToolRequired
		}, `],"tool_choice":"required"}`},
		{"tool of choice", func(_ *model.Profile, r *model.Request) { r.NoStream, r.Tools, r.ToolChoice = true, readTool, "read" }, `],"tool_choice":{"type":"function","function":{"name":"read"}}}`},
		{"choice without tools", func(_ *model.Profile, r *model.Request) { r.NoStream, r.ToolChoice = true, "read" }, `]}`},
		{"extra members", func(p *model.Profile, r *model.Request) {
			r.NoStream, r.Effort, p.Extra = true, "low", map[string]string{"top_p": "0.5", "reasoning_effort": `"max"`}
		}, `],"reasoning_effort":"max","top_p":0.5}`},
		{"developer", func(p *model.Profile, _ *model.Request) { p.DeveloperRole = true }, `..."messages":[{"role":"developer","content":"Be."},`},
		{"no system prompt", func(_ *model.Profile, r *model.Request) { r.System = "" }, `..."messages":[{"role":"user","content":"a"}]`},
		{"note", func(_ *model.Profile, r *model.Request) { r.Ephemeral = "n" }, `...{"role":"user","content":"a\n\nn"}],`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, r := testProfile(), &model.Request{System: "Be.", History: history(t, message.NewUser("a"))}
			c.change(p, r)
			got := body(t, p, r)
			if part, ok := strings.CutPrefix(c.want, "..."); ok && !strings.Contains(got, part) || !ok && !strings.HasSuffix(got, c.want) {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
	p := testProfile()
	p.Extra = map[string]string{"x": "{"}
	if _, err := Encode(p, &model.Request{History: history(t, message.NewUser("a"))}); err == nil {
		t.Error("an extra member that is not JSON is sent")
	}
}

// messages returns the messages of a request for h, without their brackets.
func messages(t *testing.T, p *model.Profile, h message.History) string {
	t.Helper()
	got := body(t, p, &model.Request{History: h, NoStream: true})
	got = strings.TrimPrefix(got, `{"model":"m","messages":[`)
	return strings.TrimSuffix(got, `]}`)
}

func TestReasoningGoesBackToItsOriginOnly(t *testing.T) {
	said := message.NewAssistant(
		message.Part{
			Kind: message.KindReasoning, Text: "hm",
			State: &message.State{Origin: message.Origin{Provider: "p", Model: "m"}, Kind: stateDetails, Data: `[{"type":"reasoning.text"}]`},
		},
		message.Part{
			Kind: message.KindToolCall, Call: &message.ToolCall{ID: "c", Name: "f", Arguments: "{}"},
			State: &message.State{Origin: message.Origin{Provider: "p", Model: "m"}, Kind: stateExtra, Data: `{"google":{"thought_signature":"s"}}`},
		},
	)
	said.Origin = message.Origin{Provider: "p", Model: "m"}
	h := history(t, message.NewUser("a"), said, message.NewResult(said.Calls()[0], message.StatusOK, "r"))
	p := testProfile()
	p.ReasoningField = "reasoning_content"
	own := `{"role":"user","content":"a"},{"role":"assistant","reasoning_content":"hm","reasoning_details":[{"type":"reasoning.text"}],"content":null,` +
		`"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}]},` +
		`{"role":"tool","tool_call_id":"c","content":"r"}`
	if got := messages(t, p, h); got != own {
		t.Errorf("to its origin: got %s\nwant %s", got, own)
	}
	p.Provider = "q"
	foreign := `{"role":"user","content":"a"},{"role":"assistant","content":null,` +
		`"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}`
	if got := messages(t, p, h); got != foreign {
		t.Errorf("to another: got %s\nwant %s", got, foreign)
	}
}

func TestNothingToSendStillTakesItsTurn(t *testing.T) {
	h := history(t, message.NewUser("a"), message.NewAssistant(message.Reasoning("hm")), message.NewUser("b"))
	want := `{"role":"user","content":"a"},{"role":"assistant","content":"[no answer]"},{"role":"user","content":"b"}`
	if got := messages(t, testProfile(), h); got != want {
		t.Errorf("got %s", got)
	}
}

func TestMedia(t *testing.T) {
	call := &message.ToolCall{ID: "c", Name: "f", Arguments: "{}"}
	shown := &message.Message{Role: message.User, Parts: []message.Part{
		message.Text("see"), message.Image("image/png", "AAAA"),
		{Kind: message.KindImage, Media: &message.Media{URL: "https://x/y.png"}},
		{Kind: message.KindFile, Media: &message.Media{MIME: "application/pdf", Data: "BBBB", Name: "b.pdf"}},
		{Kind: message.KindFile, Media: &message.Media{URL: "https://x/c.pdf"}},
	}}
	result := &message.Message{Role: message.Tool, ToolCallID: "c", Parts: []message.Part{
		message.Text("r"), {Kind: message.KindImage, Media: &message.Media{MIME: "image/png", Data: "CCCC", Name: "i.png"}},
	}}
	h := history(t, shown, message.NewAssistant(message.Part{Kind: message.KindToolCall, Call: call}), result)
	image := `{"type":"image_url","image_url":{"url":"data:image/png;base64,CCCC"}}`
	for _, c := range []struct {
		name   string
		change func(p *model.Profile)
		want   string
	}{
		{"user", func(*model.Profile) {}, `{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},` +
			`{"type":"image_url","image_url":{"url":"https://x/y.png"}},{"type":"file","file":{"filename":"b.pdf","file_data":"data:application/pdf;base64,BBBB"}},` +
			`{"type":"text","text":"[file: https://x/c.pdf]"}]},`},
		{"no images", func(p *model.Profile) { p.NoImages = true }, `{"role":"tool","tool_call_id":"c","content":"r\n\n[image i.png left out: this model takes no images]"}`},
		{"in results", func(*model.Profile) {}, `{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"r"},` + image + `]}`},
		{"after results", func(p *model.Profile) { p.NoToolImages = true }, `{"role":"tool","tool_call_id":"c","content":"r\n\n[image i.png: see below]"},` +
			`{"role":"user","content":[{"type":"text","text":"What the tool results above refer to:"},` + image + `]}`},
		{"nowhere", func(p *model.Profile) { p.NoToolImages, p.ToolIDAlphabet = true, "mistral" }, `"content":"r\n\n[image i.png left out: this model takes only text from tools]"}`},
	} {
		p := testProfile()
		c.change(p)
		if got := messages(t, p, h); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestNoteStandsAtTheEnd(t *testing.T) {
	p := testProfile()
	p.NoToolImages = true
	for name, c := range map[string]struct {
		h    message.History
		want string
	}{
		"after results":   {conversation(t), `{"role":"tool","tool_call_id":"call:2","content":"[no output]\n\nn"}]}`},
		"after a reply":   {conversation(t, message.NewAssistant(message.Text("x"))), `{"role":"assistant","content":"x"},{"role":"user","content":"n"}]}`},
		"without history": {message.History{}, `"messages":[{"role":"system","content":"Be."},{"role":"user","content":"n"}]}`},
	} {
		r := &model.Request{System: "Be.", History: c.h, Ephemeral: "n", NoStream: true}
		if got := body(t, p, r); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

func TestCacheMarks(t *testing.T) {
	p := testProfile()
	p.CacheMarks = true
	calls := message.NewAssistant(message.Call("call_3", "read", "{}"))
	h := conversation(t, calls, message.NewResult(calls.Calls()[0], message.StatusOK, "three"))
	got := body(t, p, &model.Request{System: "Be.", History: h, NoStream: true})
	for _, want := range []string{
		`{"role":"system","content":[{"type":"text","text":"Be.","cache_control":{"type":"ephemeral"}}]}`,
		`{"role":"tool","tool_call_id":"call_1","content":[{"type":"text","text":"one","cache_control":{"type":"ephemeral"}}]}`,
		`{"role":"tool","tool_call_id":"call:2","content":[{"type":"text","text":"[no output]","cache_control":{"type":"ephemeral"}}]}`,
		`{"role":"tool","tool_call_id":"call_3","content":[{"type":"text","text":"three","cache_control":{"type":"ephemeral"}}]}`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	if n := strings.Count(got, "cache_control"); n != 4 {
		t.Errorf("%d marks", n)
	}
}

func TestPrefixIsKeptAndEncodedOnce(t *testing.T) {
	cache := &model.Cache{}
	r := &model.Request{System: "Be.", Tools: readTool, History: conversation(t), Cache: cache, Ephemeral: "a note"}
	p := testProfile()
	first, err := Encode(p, r)
	if err != nil {
		t.Fatal(err)
	}
	before := string(slices.Concat(first...))
	r.Ephemeral = ""
	if r.History, err = r.History.Append(message.NewAssistant(message.Text("x"))); err != nil {
		t.Fatal(err)
	}
	second, err := Encode(p, r)
	if err != nil {
		t.Fatal(err)
	}
	shared, _, _ := strings.Cut(before, `\n\na note`)
	if after := string(slices.Concat(second...)); !strings.HasPrefix(after, shared) {
		t.Errorf("first\n%s\nsecond\n%s", before, after)
	}
	if &first[0][0] != &second[0][0] {
		t.Error("the head was encoded twice")
	}
	if string(slices.Concat(first...)) != before {
		t.Error("the first request was changed by the second")
	}
}

func TestOpenCallsAreRefused(t *testing.T) {
	h := history(t, message.NewUser("a"), message.NewAssistant(message.Call("c", "f", "{}")))
	if _, err := Encode(testProfile(), &model.Request{History: h}); err == nil || !strings.Contains(err.Error(), `"c"`) {
		t.Errorf("got %v", err)
	}
}

func TestIDsFitTheirAlphabet(t *testing.T) {
	long := strings.Repeat("x", 70)
	seen := map[string]string{}
	for _, id := range []string{"", "abcdefghi", "call_1", "call:1", "größe", long, long + "y", "0"} {
		for _, alphabet := range []string{"", alphabetMistral, alphabetAnthropic} {
			got := wireID(alphabet, id)
			if other, ok := seen[alphabet+got]; ok {
				t.Errorf("%s: %q and %q are both %q", alphabet, id, other, got)
			}
			seen[alphabet+got] = id
			switch {
			case got != wireID(alphabet, id), wireID(alphabet, got) != got && got != "":
				t.Errorf("%s: %q is not kept", alphabet, got)
			case alphabet == alphabetMistral && (len(got) != 9 || !only(got, "")),
				alphabet == alphabetAnthropic && (got == "" || !only(got, "_-")), len(got) > maxIDLength:
				t.Errorf("%s: %q becomes %q", alphabet, id, got)
			}
		}
	}
}

func TestNamesThatNoToolCanHave(t *testing.T) {
	for name, want := range map[string]string{"": "unnamed", "a.b c": "a_b_c", "read_file-2": "read_file-2", strings.Repeat("x", 70): strings.Repeat("x", 64)} {
		if got := wireName(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}
