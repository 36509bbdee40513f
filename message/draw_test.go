package message

import (
	"time"

	"pgregory.net/rapid"
)

// The generators of the property tests. Texts are short so that equal ones,
// empty ones and hard ones meet often.

var (
	anyText   = rapid.OneOf(rapid.SampledFrom([]string{"", "a", "b", " ", "é\"\\\n\t\x00", "data:x", "\u2028<&>", "世界"}), rapid.StringN(0, 8, 20))
	anyOrigin = rapid.SampledFrom([]Origin{{}, {}, {Provider: "p", Model: "m"}, {Provider: "q", Account: "x"}, {Model: "m\""}})
	anyMedia  = rapid.SampledFrom([]Media{
		{MIME: "image/png", Data: "QUJD"},
		{MIME: "text/plain;charset=utf-8", Data: "QQ==", Name: "a b.txt"},
		{Data: "QQ=="},
		{},
		{URL: "https://example.com/a?b=1&c", MIME: "image/png"},
		{URL: "data:text/plain,hello", Name: "n"},
		{URL: "file-1"},
	})
	anyState = rapid.SampledFrom([]State{
		{Kind: "k", Data: `{"a":"b"}`},
		{Kind: "anthropic.thinking", Data: `{"signature":"s"}`, Origin: Origin{Provider: "p", Model: "m"}},
		{Kind: "chat.content_part", Data: `{"type":"input_audio","input_audio":{"data":"x"}}`},
		{Kind: "chat.content_part", Data: `{"type":"text","text":"known"}`},
		{Kind: "chat.content_part", Data: `{"type":"zzz","a": 1}`, Origin: Origin{Provider: "p"}},
		{Kind: "chat.content_part", Data: `not json`},
		{Kind: "chat.content_part"},
		{Kind: "t", Data: `"a string"`},
		{},
	})
)

// drawMessage draws a message as rondo itself makes them: each part holds what
// belongs to its kind.
func drawMessage(t *rapid.T) *Message {
	m := &Message{
		ID:     anyText.Draw(t, "id"),
		Role:   rapid.SampledFrom([]Role{System, User, Assistant, Tool}).Draw(t, "role"),
		Status: rapid.SampledFrom([]Status{"", StatusOK, StatusInterrupted}).Draw(t, "status"),
		Origin: anyOrigin.Draw(t, "origin"), Injected: rapid.SampledFrom([]string{"", "", "a \"note\"\n"}).Draw(t, "injected"),
	}
	if rapid.Bool().Draw(t, "has time") {
		m.Time = time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "s"), rapid.Int64Range(0, 999999999).Draw(t, "ns")).UTC()
	}
	if m.Role == Tool {
		m.ToolCallID, m.ToolName = anyText.Draw(t, "call"), anyText.Draw(t, "tool")
	}
	for range rapid.IntRange(0, 4).Draw(t, "parts") {
		m.Parts = append(m.Parts, drawPart(t))
	}
	return m
}

func drawPart(t *rapid.T) Part {
	p := Part{Kind: rapid.SampledFrom([]Kind{KindText, KindText, KindImage, KindFile, KindReasoning, KindToolCall, KindOpaque}).Draw(t, "kind")}
	switch p.Kind {
	case KindText, KindReasoning:
		p.Text = anyText.Draw(t, "text")
	case KindImage, KindFile:
		p.Media = new(anyMedia.Draw(t, "media"))
	case KindToolCall:
		p.Call = &ToolCall{ID: anyText.Draw(t, "id"), Name: anyText.Draw(t, "name"), Arguments: anyText.Draw(t, "arguments")}
	}
	if p.Kind == KindOpaque || rapid.IntRange(0, 3).Draw(t, "has state") == 0 {
		p.State = new(anyState.Draw(t, "state"))
	}
	return p
}

// natural reports whether m has no state and its parts stand in the order of
// reasoning, content, calls.
func natural(m *Message) bool {
	rank := map[Kind]int{KindReasoning: 1, KindText: 2, KindImage: 2, KindFile: 2, KindToolCall: 3}
	last := 0
	for _, p := range m.Parts {
		if p.State != nil || rank[p.Kind] < last {
			return false
		}
		last = rank[p.Kind]
	}
	return true
}
