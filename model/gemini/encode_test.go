package gemini

import (
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

const png = "iVBORw0KGgo="

func contents(t *testing.T, p *model.Profile, msgs ...*message.Message) string {
	t.Helper()
	_, rest, _ := strings.Cut(body(t, p, &model.Request{History: conversation(t, msgs...)}), `{"contents":[`)
	return strings.TrimSuffix(rest, "]}")
}

func TestContents(t *testing.T) {
	result := func(id string, status message.Status, parts ...message.Part) *message.Message {
		return &message.Message{Role: message.Tool, ToolCallID: id, Status: status, Parts: parts}
	}
	url := message.Part{Kind: message.KindImage, Media: &message.Media{URL: "https://h/a.webp?x"}}
	elsewhere := signed("c1", "f", `{"a": 1}`, `{"thoughtSignature":"c2ln","id":"abc"}`)
	elsewhere.State.Origin.Model = "gemini-y"
	tests := []struct {
		name string
		set  func(p *model.Profile)
		msgs []*message.Message
		want string
	}{
		{"signatures and ids of the endpoint", nil, []*message.Message{
			message.NewUser("go"),
			message.NewAssistant(message.Reasoning("hm"), signed("c1", "f", `{"a": 1}`, `{"thoughtSignature":"c2ln","id":"abc"}`), message.Call("c2", "g", "")),
			result("c1", "", message.Text("one")), result("c2", message.StatusError, message.Text("two"), message.Text("three")),
		}, `{"role":"user","parts":[{"text":"go"}]},` +
			`{"role":"model","parts":[{"functionCall":{"name":"f","id":"abc","args":{"a": 1}},"thoughtSignature":"c2ln"},{"functionCall":{"name":"g","args":{}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"f","id":"abc","response":{"output":"one"}}},{"functionResponse":{"name":"g","response":{"error":"two\n\nthree"}}}]}`},
		{"nothing of others", nil, []*message.Message{
			message.NewUser("go"), message.NewAssistant(elsewhere), result("c1", "", message.Text("one")),
		}, `{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a": 1}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"one"}}}]}`},
		{"calls from elsewhere where signatures are wanted", func(p *model.Profile) { p.SignedCalls = true }, []*message.Message{
			message.NewUser("go"), message.NewAssistant(elsewhere, message.Call("c2", "g", "{}")), result("c1", ""), result("c2", ""),
		}, `{"role":"user","parts":[{"text":"go"}]},` +
			`{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a": 1}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"name":"g","args":{}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"(no output)"}}},{"functionResponse":{"name":"g","response":{"output":"(no output)"}}}]}`},
		{"images of results", nil, []*message.Message{
			message.NewUser("go"), message.NewAssistant(message.Call("c1", "f", "{}")), result("c1", "", message.Text("see"), message.Image("image/png", png), url),
		}, `{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"see"},"parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]}},` +
			`{"fileData":{"mimeType":"image/webp","fileUri":"https://h/a.webp?x"}}]}`},
		{"images behind the results", func(p *model.Profile) { p.NoToolImages = true }, []*message.Message{
			message.NewUser("go"), message.NewAssistant(message.Call("c1", "f", "{}")), result("c1", "", message.Image("image/png", png)),
		}, `{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"(see the attached media)"}}},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]}`},
		{"media of the user", func(p *model.Profile) { p.NoImages = true }, []*message.Message{{Role: message.User, Parts: []message.Part{
			message.Image("image/png", png),
			{Kind: message.KindFile, Media: &message.Media{MIME: "application/json", Data: "e30="}},
			{Kind: message.KindFile, Media: &message.Media{URL: "data:application/pdf;base64,AA=="}},
			{Kind: message.KindFile, Media: &message.Media{MIME: "application/zip", Data: "AA==", Name: "a.zip"}},
		}}}, `{"role":"user","parts":[{"text":"(image/png is left out: the model cannot read it)"},{"inlineData":{"mimeType":"text/plain","data":"e30="}},` +
			`{"inlineData":{"mimeType":"application/pdf","data":"AA=="}},{"text":"(a.zip application/zip is left out: the model cannot read it)"}]}`},
		{"nothing to say", nil, []*message.Message{
			{Role: message.User, Parts: []message.Part{message.Text(" ")}}, message.NewAssistant(message.Reasoning("hm")),
		}, `{"role":"user","parts":[{"text":"(no content)"}]},{"role":"model","parts":[{"text":"(no content)"}]},{"role":"user","parts":[{"text":"Go on."}]}`},
	}
	for _, tt := range tests {
		p := testProfile()
		if tt.set != nil {
			tt.set(p)
		}
		if got := contents(t, p, tt.msgs...); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// What the decoder makes of each sample goes back as it came.
func TestPartsGoBackToTheirOrigin(t *testing.T) {
	for reply, want := range map[string]string{
		`[{"text":"a","thoughtSignature":"c2ln"}]`:                                      `[{"text":"a","thoughtSignature":"c2ln"}]`,
		`[{"text":"a","thought":true,"thoughtSignature":"c2ln"}]`:                       `[{"text":"a","thought":true,"thoughtSignature":"c2ln"}]`,
		`[{"text":"hm","thought":true},{"text":"","thoughtSignature":"c2ln"}]`:          `[{"text":"","thoughtSignature":"c2ln"}]`,
		`[{"executableCode":{"code":"1"}},{"text":"b"}]`:                                `[{"executableCode":{"code":"1"}},{"text":"b"}]`,
		`[{"inlineData":{"mimeType":"image/png","data":"AA=="},"thoughtSignature":""}]`: `[{"inlineData":{"mimeType":"image/png","data":"AA=="},"thoughtSignature":""}]`,
	} {
		d := newDecoder(testProfile(), nil)
		if err := d.Whole([]byte(`{"candidates":[{"content":{"parts":`+reply+`},"finishReason":"STOP"}]}`), func(model.Delta) bool { return true }); err != nil {
			t.Fatal(err)
		}
		r, err := d.End()
		if err != nil {
			t.Fatal(err)
		}
		got := contents(t, testProfile(), message.NewUser("go"), r.Message, message.NewUser("on"))
		if !strings.Contains(got, `{"role":"model","parts":`+want+`}`) {
			t.Errorf("%s goes back as %s", reply, got)
		}
		other := testProfile()
		other.Account = "another"
		if got := contents(t, other, message.NewUser("go"), r.Message, message.NewUser("on")); strings.Contains(got, "c2ln") || strings.Contains(got, "AA==") {
			t.Errorf("%s goes to another account: %s", reply, got)
		}
	}
}

func TestHeadAndTail(t *testing.T) {
	tools := &model.ToolSet{Specs: []model.ToolSpec{
		{Name: "read", Description: "Reads.", Schema: []byte(`{"$schema":"x","type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`)},
		{Name: "9.list", Schema: []byte(`{"type":"object","properties":{}}`)},
	}}
	declared := `"tools":[{"functionDeclarations":[{"name":"read","description":"Reads.","parameters":{"type":"object","properties":{"a":{"type":"string"}}}},{"name":"` + wire.Name("9.list", true) + `"}]}],`
	tests := []struct {
		name       string
		set        func(p *model.Profile)
		req        model.Request
		head, tail string
	}{
		{"plain", nil, model.Request{}, "", ""},
		{"system and tools", nil, model.Request{System: "Be kind.", Tools: tools}, `"systemInstruction":{"parts":[{"text":"Be kind."}]},` + declared, ""},
		{"no tool", nil, model.Request{Tools: tools, ToolChoice: model.ToolNone}, declared, `,"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}`},
		{"any tool", nil, model.Request{Tools: tools, ToolChoice: model.ToolRequired}, declared, `,"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}`},
		{"one tool", nil, model.Request{Tools: tools, ToolChoice: "read"}, declared, `,"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["read"]}}`},
		{"a choice without tools", nil, model.Request{ToolChoice: "read"}, "", ""},
		{"limit", func(p *model.Profile) { p.MaxOutput = 900 }, model.Request{}, "", `,"generationConfig":{"maxOutputTokens":900}`},
		{"effort", nil, model.Request{Effort: "medium", MaxOutputTokens: 500}, "", `,"generationConfig":{"maxOutputTokens":8692,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":8192}}`},
		{"effort beyond the limit", func(p *model.Profile) { p.MaxOutput = 4000 }, model.Request{Effort: "high"}, "", `,"generationConfig":{"maxOutputTokens":4000,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":2000}}`},
		{"no thinking", nil, model.Request{Effort: "none"}, "", `,"generationConfig":{"thinkingConfig":{"includeThoughts":false,"thinkingBudget":0}}`},
		{"no thinking of a model that must", func(p *model.Profile) { p.Model = "gemini-2.5-pro" }, model.Request{Effort: "none"}, "", `,"generationConfig":{"thinkingConfig":{"includeThoughts":false,"thinkingBudget":128}}`},
		{"a level", func(p *model.Profile) { p.ThinkingLevels, p.Model = true, "gemini-3-flash" }, model.Request{Effort: "medium"}, "", `,"generationConfig":{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"medium"}}`},
		{"no level between", func(p *model.Profile) { p.ThinkingLevels, p.Model = true, "gemini-3-pro-preview" }, model.Request{Effort: "medium"}, "", `,"generationConfig":{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"high"}}`},
		{"thinking as it likes", func(p *model.Profile) { p.Thinking = true }, model.Request{}, "", `,"generationConfig":{"thinkingConfig":{"includeThoughts":true}}`},
		{"a model that cannot", func(p *model.Profile) { p.NoEffort = true }, model.Request{Effort: "high"}, "", ""},
		{"members of the profile", func(p *model.Profile) {
			p.Extra = map[string]string{"safetySettings": `[]`, "tools": `[{"googleSearch":{}}]`, "generationConfig": `{"topK":1}`}
		}, model.Request{Effort: "low"}, `"tools":[{"googleSearch":{}}],`, `,"generationConfig":{"topK":1},"safetySettings":[]`},
		{"a note", nil, model.Request{Ephemeral: "2 rounds left"}, "", ""},
	}
	for _, tt := range tests {
		p := testProfile()
		if tt.set != nil {
			tt.set(p)
		}
		tt.req.History = conversation(t, message.NewUser("go"))
		said := `{"text":"go"}`
		if tt.req.Ephemeral != "" {
			said += `,{"text":"2 rounds left"}`
		}
		want := "{" + tt.head + `"contents":[{"role":"user","parts":[` + said + `]}]` + tt.tail + "}"
		if got := body(t, p, &tt.req); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, want)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	open := conversation(t, message.NewUser("go"), message.NewAssistant(message.Call("c", "f", "{}")))
	done := conversation(t, message.NewUser("go"))
	for name, tt := range map[string]struct {
		extra map[string]string
		req   model.Request
	}{
		"open calls":          {nil, model.Request{History: open}},
		"members of its own":  {map[string]string{"contents": "[]"}, model.Request{History: done}},
		"members of no JSON":  {map[string]string{"labels": "{"}, model.Request{History: done}},
		"tools of no array":   {map[string]string{"tools": `{"googleSearch":{}}`}, model.Request{History: done}},
		"a schema of nothing": {nil, model.Request{History: done, Tools: &model.ToolSet{Specs: []model.ToolSpec{{Name: "f", Schema: []byte(`[`)}}}}},
	} {
		p := testProfile()
		p.Extra = tt.extra
		if _, err := Encode(p, &tt.req); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestCallURL(t *testing.T) {
	for _, tt := range []struct {
		base, name, want string
		stream           bool
	}{
		{"", "gemini-x", "https://generativelanguage.googleapis.com/v1beta/models/gemini-x:streamGenerateContent?alt=sse", true},
		{"http://h/v1beta/", "models/gemini-x", "http://h/v1beta/models/gemini-x:generateContent", false},
		{"http://h/v1beta", "a b/c", "http://h/v1beta/models/a%20b%2Fc:generateContent", false},
	} {
		p := &model.Profile{BaseURL: tt.base, Model: tt.name}
		if got := callURL(p, tt.stream); got != tt.want {
			t.Errorf("%q, %q: %s, want %s", tt.base, tt.name, got, tt.want)
		}
	}
}
