package anthropic

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

func thought(text, signature string, origin message.Origin) message.Part {
	p := message.Reasoning(text)
	data, _ := json.Marshal(map[string]string{"signature": signature})
	p.State = &message.State{Origin: origin, Kind: stateThinking, Data: string(data)}
	return p
}

func result(id, text string) *message.Message {
	return message.NewResult(&message.ToolCall{ID: id, Name: "ls"}, message.StatusOK, text)
}

func ownOrigin() message.Origin {
	return message.Origin{Provider: "anthropic", Model: "claude-x", Account: "acc"}
}

func toolSet(names ...string) *model.ToolSet {
	s := new(model.ToolSet)
	for _, n := range names {
		s.Specs = append(s.Specs, model.ToolSpec{Name: n, Description: "does " + n, Schema: []byte(`{"type":"object","properties":{}}`)})
	}
	return s
}

func TestEncodeBasics(t *testing.T) {
	req := &model.Request{
		System: "Be brief.", Tools: toolSet("ls", "ls", "cat"),
		History: history(
			t,
			message.NewUser("hi"),
			message.NewAssistant(message.Text(" \n"), message.Text("Looking."), message.Call("c1", "ls", `{"p": 1}`), message.Call("c2", "ls", `{"p`)),
			result("c1", "a.txt"),
			message.NewResult(&message.ToolCall{ID: "c2"}, message.StatusDenied, " "),
		),
	}
	got := string(mustEncode(t, testProfile(), req))
	want := `{"model":"claude-x",` +
		`"tools":[{"name":"ls","description":"does ls","input_schema":{"type":"object","properties":{}}},{"name":"cat","description":"does cat","input_schema":{"type":"object","properties":{}}}],` +
		`"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],` +
		`"messages":[` +
		`{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]},` +
		`{"role":"assistant","content":[{"type":"text","text":"Looking."},{"type":"tool_use","id":"c1","name":"ls","input":{"p": 1}},{"type":"tool_use","id":"c2","name":"ls","input":{},"cache_control":{"type":"ephemeral"}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"a.txt"}]},{"type":"tool_result","tool_use_id":"c2","is_error":true,"content":[{"type":"text","text":"(no output)"}],"cache_control":{"type":"ephemeral"}}]}` +
		`],"max_tokens":8192,"stream":true}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestEncodeLimits(t *testing.T) {
	long := history(t, message.NewUser(strings.Repeat("word ", 8000))) // about 10,000 tokens
	short := history(t, message.NewUser("hi"))
	tests := []struct {
		name              string
		profile           model.Profile
		req               model.Request
		maxTokens, budget int
	}{
		{"nobody says", model.Profile{}, model.Request{History: short}, 8192, 0},
		{"the profile says", model.Profile{MaxOutput: 64000}, model.Request{History: short}, 64000, 0},
		{"the request says", model.Profile{MaxOutput: 64000}, model.Request{History: short, MaxOutputTokens: 500}, 500, 0},
		{"never above the profile's", model.Profile{MaxOutput: 4096}, model.Request{History: short, MaxOutputTokens: 9000}, 4096, 0},
		{"what the window leaves", model.Profile{MaxOutput: 64000, ContextWindow: 20000}, model.Request{History: long}, 9981, 0},
		{"a full window", model.Profile{ContextWindow: 10000}, model.Request{History: long}, 1024, 0},
		{"thinking", model.Profile{Quirks: model.Quirks{Thinking: true}}, model.Request{History: short}, 8192, 8000},
		{"effort low", model.Profile{}, model.Request{History: short, Effort: "low"}, 8192, 4000},
		{"effort minimal", model.Profile{}, model.Request{History: short, Effort: "minimal"}, 8192, 1024},
		{"effort high raises the limit", model.Profile{}, model.Request{History: short, Effort: "high"}, 24192, 16000},
		{"effort none", model.Profile{Quirks: model.Quirks{Thinking: true}}, model.Request{History: short, Effort: "none"}, 8192, 0},
		{"no effort here", model.Profile{Quirks: model.Quirks{NoEffort: true}}, model.Request{History: short, Effort: "low"}, 8192, 0},
		{"budget within the profile's limit", model.Profile{MaxOutput: 8192}, model.Request{History: short, Effort: "high"}, 8192, 4096},
		{"no room for thinking", model.Profile{MaxOutput: 1500}, model.Request{History: short, Effort: "low"}, 1500, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := encodeBody(t, &tt.profile, &tt.req)
			budget := 0
			if b.Thinking != nil {
				budget = b.Thinking.Budget
			}
			if b.MaxTokens != tt.maxTokens || budget != tt.budget {
				t.Errorf("max_tokens %d, budget %d; want %d, %d", b.MaxTokens, budget, tt.maxTokens, tt.budget)
			}
			if b.Thinking != nil && b.MaxTokens <= budget || b.Temperature != nil {
				t.Error("the API refuses this")
			}
		})
	}
}

func TestImagesDoNotCountAsText(t *testing.T) {
	p := &model.Profile{ContextWindow: 100000, MaxOutput: 50000}
	u := &message.Message{Role: message.User, Parts: []message.Part{message.Image("image/png", strings.Repeat("A", 1<<20))}}
	if got := encodeBody(t, p, &model.Request{History: history(t, u)}).MaxTokens; got != 50000 {
		t.Errorf("max_tokens %d, want 50000", got)
	}
}

func TestToolChoice(t *testing.T) {
	h := history(t, message.NewUser("hi"))
	tests := []struct {
		choice   model.ToolChoice
		tools    *model.ToolSet
		want     string
		thinking bool
	}{
		{"", toolSet("ls"), ``, true},
		{model.ToolNone, toolSet("ls"), `{"type":"none"}`, true},
		{model.ToolRequired, toolSet("ls"), `{"type":"any"}`, false},
		{"fs.read", toolSet("fs.read"), `{"type":"tool","name":"` + wire.Name("fs.read", false) + `"}`, false},
		{model.ToolRequired, nil, ``, true},
		{model.ToolNone, nil, ``, true},
	}
	for _, tt := range tests {
		b := encodeBody(t, testProfile(), &model.Request{History: h, Tools: tt.tools, ToolChoice: tt.choice, Effort: "low"})
		if string(b.ToolChoice) != tt.want || (b.Thinking != nil) != tt.thinking {
			t.Errorf("choice %q: got %s, thinking %v; want %s, %v", tt.choice, b.ToolChoice, b.Thinking != nil, tt.want, tt.thinking)
		}
	}
}

func TestThinkingGoesBackToItsOriginOnly(t *testing.T) {
	other := func(change func(*message.Origin)) message.Origin {
		o := ownOrigin()
		change(&o)
		return o
	}
	unsigned := message.Reasoning("hm")
	tests := []struct {
		name string
		part message.Part
		want string
	}{
		{"own", thought("hm", "s", ownOrigin()), "thinking tool_use"},
		{"account unknown", thought("hm", "s", other(func(o *message.Origin) { o.Account = "" })), "thinking tool_use"},
		{"other model", thought("hm", "s", other(func(o *message.Origin) { o.Model = "k3" })), "tool_use"},
		{"other provider", thought("hm", "s", other(func(o *message.Origin) { o.Provider = "zai" })), "tool_use"},
		{"other account", thought("hm", "s", other(func(o *message.Origin) { o.Account = "b" })), "tool_use"},
		{"no signature", thought("hm", "", ownOrigin()), "tool_use"},
		{"no state", unsigned, "tool_use"},
		{"redacted", opaque(stateRedacted, `{"type":"redacted_thinking","data":"x"}`, ownOrigin()), "redacted_thinking tool_use"},
		{"redacted elsewhere", opaque(stateRedacted, `{"type":"redacted_thinking","data":"x"}`, message.Origin{Model: "k3"}), "tool_use"},
		{"other adapter's", opaque("responses.reasoning", `{}`, ownOrigin()), "tool_use"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := history(t, message.NewUser("hi"), message.NewAssistant(tt.part, message.Call("c", "ls", "{}")), result("c", "ok"))
			b := encodeBody(t, testProfile(), &model.Request{History: h, Effort: "low"})
			want := "user: text*\nassistant: " + tt.want + "*\nuser: tool_result*"
			if got := b.outline(); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if on := strings.Contains(tt.want, "thinking"); (b.Thinking != nil) != on {
				t.Errorf("thinking on: %v, want %v", b.Thinking != nil, on)
			}
		})
	}
}

func opaque(kind, data string, origin message.Origin) message.Part {
	return message.Part{Kind: message.KindOpaque, State: &message.State{Kind: kind, Data: data, Origin: origin}}
}

func TestThinkingIsOnAgainInTheNextTurn(t *testing.T) {
	h := history(
		t, message.NewUser("hi"), message.NewAssistant(message.Call("c", "ls", "{}")), result("c", "ok"),
		message.NewAssistant(message.Text("done")), message.NewUser("more"),
	)
	if b := encodeBody(t, testProfile(), &model.Request{History: h, Effort: "low"}); b.Thinking == nil {
		t.Error("thinking is off")
	}
}

func TestThinkingAtTheStartOfATurnHoldsForItsLaterRounds(t *testing.T) {
	h := history(
		t, message.NewUser("hi"),
		message.NewAssistant(thought("hm", "s", ownOrigin()), message.Call("c", "ls", "{}")), result("c", "ok"),
		message.NewAssistant(message.Call("d", "ls", "{}")), result("d", "ok"),
	)
	if b := encodeBody(t, testProfile(), &model.Request{History: h, Effort: "low"}); b.Thinking == nil {
		t.Error("thinking is off")
	}
}

func TestATurnThatAnotherModelCarriedOnThinksOnlyFromItsEnd(t *testing.T) {
	p := testProfile()
	ours, theirs := p.Origin(), message.Origin{Provider: "other", Model: "m"}
	thought := message.Reasoning("Hm.")
	thought.State = &message.State{Origin: ours, Kind: stateThinking, Data: `{"signature":"s"}`}
	for origin, want := range map[message.Origin]bool{ours: true, theirs: false} {
		first := message.NewAssistant(thought, message.Call("c", "ls", "{}"))
		second := message.NewAssistant(message.Text("so"), message.Call("d", "ls", "{}"))
		first.Origin, second.Origin = ours, origin
		h := history(t, message.NewUser("hi"), first, result("c", "ok"), second, result("d", "ok"))
		got := string(mustEncode(t, p, &model.Request{History: h, Effort: "low"}))
		if strings.Contains(got, `"thinking":{"type":"enabled"`) != want || !strings.Contains(got, `"signature":"s"`) {
			t.Errorf("a second reply by %v: thinks otherwise than %v: %s", origin, want, got)
		}
	}
}

func TestAdaptiveThinking(t *testing.T) {
	p := testProfile()
	p.AdaptiveThinking = true
	h := history(t, message.NewUser("hi"), message.NewAssistant(message.Call("c", "ls", "{}")), result("c", "ok"))
	got := string(mustEncode(t, p, &model.Request{History: h, Effort: "minimal"}))
	if !strings.HasSuffix(got, `"max_tokens":8192,"stream":true,"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"low"}}`) {
		t.Error(got)
	}
}

func TestNamesMapOneToOne(t *testing.T) {
	pattern := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	names := []string{
		"", "a", "functions.list_dir:0", "functions_list_dir_0", "调用:1", "\xff", strings.Repeat("x", 64), strings.Repeat("x", 65),
		strings.Repeat("x", 66), wire.Name("functions.list_dir:0", false), wire.Name(wire.Name("functions.list_dir:0", false), false),
	}
	seen := make(map[string]string)
	for _, n := range names {
		w := wire.Name(n, false)
		if !pattern.MatchString(w) {
			t.Errorf("%q is sent as %q", n, w)
		}
		if other, ok := seen[w]; ok {
			t.Errorf("%q and %q are both sent as %q", n, other, w)
		}
		seen[w] = n
	}
	for _, n := range []string{"a", "functions_list_dir_0", strings.Repeat("x", 64)} {
		if wire.Name(n, false) != n {
			t.Errorf("%q is not kept", n)
		}
	}
}

func TestExtraMembers(t *testing.T) {
	p := testProfile()
	h := history(t, message.NewUser("hi"))
	p.Extra = map[string]string{
		"metadata": `{"user_id":"u"}`, "max_tokens": "77", "thinking": `{"type":"adaptive"}`,
		"tools": `[ {"type":"web_search_20250305","name":"web_search","cache_control":{"type":"ephemeral"}} ]`,
	}
	got := string(mustEncode(t, p, &model.Request{History: h, Tools: toolSet("ls")}))
	for _, want := range []string{
		`,"metadata":{"user_id":"u"}`, `"max_tokens":77`, `"thinking":{"type":"adaptive"}`,
		`"input_schema":{"type":"object","properties":{}},"cache_control":{"type":"ephemeral"}},{"type":"web_search_20250305"`,
	} {
		if strings.Count(got, want) != 1 {
			t.Errorf("want %s once in\n%s", want, got)
		}
	}
	p.Extra = map[string]string{"thinking": "", "stop_sequences": "", "max_tokens": ""}
	got = string(mustEncode(t, p, &model.Request{History: h, Effort: "low"}))
	if !strings.HasSuffix(got, `],"stream":true}`) {
		t.Errorf("empty extra members are to leave members out: %s", got)
	}
	for _, extra := range []map[string]string{{"messages": "[]"}, {"x": "{"}, {"tools": `{"a":1}`}} {
		p.Extra = extra
		if _, err := Encode(p, &model.Request{History: h}); err == nil {
			t.Errorf("extra %v: no error", extra)
		}
	}
}

func TestSchemasGetAnObjectAtTheirRoot(t *testing.T) {
	tests := []struct{ schema, want string }{
		{``, `{"type":"object","properties":{}}`},
		{`{}`, `{"type":"object"}`},
		{`{ "type" : "object" }`, `{"type":"object"}`},
		{`{"anyOf":[{"type":"object"}],"$defs":{"a":{}}}`, `{"$defs":{"a":{}},"type":"object"}`},
	}
	for _, tt := range tests {
		got, err := inputSchema([]byte(tt.schema))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: got %s, %v; want %s", tt.schema, got, err, tt.want)
		}
	}
	for _, bad := range []string{`[]`, `{`, `"x"`} {
		if _, err := inputSchema([]byte(bad)); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

func TestOpenCallsAreNotSent(t *testing.T) {
	h := history(t, message.NewUser("hi"), message.NewAssistant(message.Call("c", "ls", "{}")))
	if _, err := Encode(testProfile(), &model.Request{History: h}); err == nil {
		t.Error("no error")
	}
}
