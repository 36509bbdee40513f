package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

func TestMedia(t *testing.T) {
	file := func(mime, data, url, name string) message.Part {
		return message.Part{Kind: message.KindFile, Media: &message.Media{MIME: mime, Data: data, URL: url, Name: name}}
	}
	text := base64.StdEncoding.EncodeToString([]byte("a,b\n"))
	tests := []struct {
		name string
		part message.Part
		want string
	}{
		{"image", message.Image("image/png", "QUJD"), `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}`},
		{"image by URL", message.Part{Kind: message.KindImage, Media: &message.Media{URL: "https://x/y.png"}}, `{"type":"image","source":{"type":"url","url":"https://x/y.png"}}`},
		{"image by data URL", message.Part{Kind: message.KindImage, Media: &message.Media{URL: "data:image/gif;base64,QUJD"}}, `{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"QUJD"}}`},
		{"image of unknown type", message.Image("image/tiff", "QUJD"), `{"type":"text","text":"(image/tiff is left out: the model cannot read it)"}`},
		{"image as file", file("image/webp", "QUJD", "", ""), `{"type":"image","source":{"type":"base64","media_type":"image/webp","data":"QUJD"}}`},
		{"PDF", file("application/pdf", "QUJD", "", "a.pdf"), `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"QUJD"},"title":"a.pdf"}`},
		{"PDF by URL", file("", "", "https://x/y.pdf", ""), `{"type":"document","source":{"type":"url","url":"https://x/y.pdf"}}`},
		{"text file", file("text/csv", text, "", "t.csv"), `{"type":"document","source":{"type":"text","media_type":"text/plain","data":"a,b\n"},"title":"t.csv"}`},
		{"archive", file("application/zip", "QUJD", "", "z.zip"), `{"type":"text","text":"(z.zip application/zip is left out: the model cannot read it)"}`},
	}
	for _, tt := range tests {
		e := &encoder{profile: testProfile()}
		if got := string(e.appendPart(nil, &tt.part)); got != tt.want+"," {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestImagesWhereThereMustBeNone(t *testing.T) {
	r := result("c", "see")
	r.Parts = append(r.Parts, message.Image("image/png", "QUJD"))
	h := history(t, message.NewUser("hi"), message.NewAssistant(message.Call("c", "ls", "{}")), r)
	p := testProfile()
	p.NoCacheMarks = true
	for _, tt := range []struct {
		set  func(*model.Quirks)
		want string
	}{
		{func(*model.Quirks) {}, `[{"content":[{"text":"see","type":"text"},{"source":{"data":"QUJD","media_type":"image/png","type":"base64"},"type":"image"}],"tool_use_id":"c","type":"tool_result"}]`},
		{func(q *model.Quirks) { q.NoToolImages = true }, `[{"content":[{"text":"see","type":"text"}],"tool_use_id":"c","type":"tool_result"},{"source":{"data":"QUJD","media_type":"image/png","type":"base64"},"type":"image"}]`},
		{func(q *model.Quirks) { q.NoImages = true }, `[{"content":[{"text":"see","type":"text"},{"text":"(image/png is left out: the model cannot read it)","type":"text"}],"tool_use_id":"c","type":"tool_result"}]`},
	} {
		p := *p
		tt.set(&p.Quirks)
		b := encodeBody(t, &p, &model.Request{History: h})
		got, err := json.Marshal(b.Messages[2].Content)
		if err != nil || string(got) != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestMembersGoBackToTheirOrigin(t *testing.T) {
	cited := message.Text("x")
	cited.State = &message.State{Origin: ownOrigin(), Kind: stateMembers, Data: `{"citations":[1]}`}
	e := &encoder{profile: testProfile()}
	if got := string(e.appendPart(nil, &cited)); got != `{"type":"text","text":"x","citations":[1]},` {
		t.Error(got)
	}
	e.profile.Model = "claude-y"
	if got := string(e.appendPart(nil, &cited)); got != `{"type":"text","text":"x"},` {
		t.Error(got)
	}
}

func TestNoMessageIsEmpty(t *testing.T) {
	h := history(
		t, message.NewUser(" "), message.NewAssistant(message.Reasoning("hm")), message.NewUser("go"),
		message.NewAssistant(message.Call("c", "ls", "")), &message.Message{Role: message.Tool, ToolCallID: "c"},
	)
	b := encodeBody(t, testProfile(), &model.Request{History: h})
	want := "user: text\nassistant: text\nuser: text*\nassistant: tool_use*\nuser: tool_result*"
	if got := b.outline(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := b.Messages[4].Content[0]["content"].([]any); len(got) != 1 {
		t.Errorf("content of the result: %v", got)
	}
}

func TestSystemMessagesOfTheHistoryJoinTheSystemPrompt(t *testing.T) {
	h := history(t, &message.Message{Role: message.System, Parts: []message.Part{message.Text("B")}}, message.NewUser("hi"))
	b := encodeBody(t, testProfile(), &model.Request{System: "A", History: h})
	if len(b.System) != 2 || b.System[0].str("text") != "A" || b.System[1].str("text") != "B" || b.System[0]["cache_control"] != nil || b.System[1]["cache_control"] == nil {
		t.Errorf("system %v", b.System)
	}
	if got := b.outline(); got != "user: text*" {
		t.Error(got)
	}
}

func TestNoteStandsBehindTheMarks(t *testing.T) {
	u, a := message.NewUser("hi"), message.NewAssistant(message.Text("part "))
	paused := message.NewAssistant(opaque(stateBlock, `{"type":"server_tool_use","id":"s","name":"n","input":{}}`, ownOrigin()))
	tests := []struct {
		name string
		h    message.History
		want string
	}{
		{"user", history(t, u), "user: text* text"},
		{"results", history(t, u, message.NewAssistant(message.Call("c", "ls", "{}")), result("c", "ok")), "user: text*\nassistant: tool_use*\nuser: tool_result* text"},
		{"assistant", history(t, u, a), "user: text*\nassistant: text*\nuser: text"},
		{"paused", history(t, u, paused), "user: text*\nassistant: server_tool_use"},
		{"nothing", message.History{}, "user: text"},
	}
	for _, tt := range tests {
		b := encodeBody(t, testProfile(), &model.Request{History: tt.h, Ephemeral: "Hurry."})
		if got := b.outline(); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

func TestAnAssistantMessageAtTheEndFitsThere(t *testing.T) {
	h := history(t, message.NewUser("hi"), message.NewAssistant(thought("hm", "s", ownOrigin()), message.Text("so far \n")))
	b := encodeBody(t, testProfile(), &model.Request{History: h})
	if got := b.outline(); got != "user: text*\nassistant: text*" {
		t.Error(got)
	}
	if got := b.Messages[1].Content[0].str("text"); got != "so far" {
		t.Errorf("text %q", got)
	}
}

func TestServerToolsGoBackWithTheirResultOrWhileTheyRun(t *testing.T) {
	use := opaque(stateBlock, `{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`, ownOrigin())
	found := opaque(stateBlock, `{"type":"web_search_tool_result","tool_use_id":"s","content":[]}`, ownOrigin())
	u, more := message.NewUser("hi"), message.NewUser("more")
	cut, whole := message.NewAssistant(message.Text("x"), use), message.NewAssistant(use, found)
	tests := []struct {
		name string
		h    message.History
		want string
	}{
		{"running", history(t, u, cut), "user: text*\nassistant: text server_tool_use"},
		{"cut", history(t, u, cut, more), "user: text*\nassistant: text\nuser: text*"},
		{"beside a call", history(t, u, message.NewAssistant(use, message.Call("c", "ls", "{}")), result("c", "ok")), "user: text*\nassistant: server_tool_use tool_use*\nuser: tool_result*"},
		{"whole", history(t, u, whole, more), "user: text*\nassistant: server_tool_use web_search_tool_result\nuser: text*"},
	}
	cache := new(model.Cache)
	for _, tt := range tests {
		b := encodeBody(t, testProfile(), &model.Request{History: tt.h, Cache: cache})
		if got := b.outline(); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}
