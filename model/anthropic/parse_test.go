package anthropic

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

const recorded = `{
 "model": "claude-x", "max_tokens": 10,
 "system": [{"type":"text","text":"A","cache_control":{"type":"ephemeral"}},{"type":"text","text":"B","cache_control":{"type":"ephemeral"}}],
 "tools": [{"name":"ls","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}],
 "messages": [
  {"role":"user","content":[
   {"type":"text","text":"doc","cache_control":{"type":"ephemeral"}},
   {"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}},
   {"type":"document","source":{"type":"text","media_type":"text/plain","data":"é"},"title":"e.txt","citations":{"enabled":true}},
   {"type":"document","source":{"type":"file","file_id":"file_1"}}]},
  {"role":"assistant","content":[
   {"type":"thinking","thinking":"t","signature":"s"},
   {"type":"redacted_thinking","data":"x"},
   {"type":"text","text":"cited","citations":[{"cited_text":"c"}]},
   {"type":"tool_use","id":"toolu_1","name":"ls","input":{"a": 1}}]},
  {"role":"user","content":[
   {"type":"tool_result","tool_use_id":"toolu_1","is_error":true,"content":[{"type":"text","text":"bad"},{"type":"tool_reference","tool_name":"x"}]},
   {"type":"text","text":"and?"}]},
  {"role":"assistant","content":"fine"},
  {"role":"user","content":"thanks"}]}`

func TestParseMessages(t *testing.T) {
	system, msgs, err := ParseMessages([]byte(recorded))
	if err != nil {
		t.Fatal(err)
	}
	if system != "A\n\nB" {
		t.Errorf("system %q", system)
	}
	var b strings.Builder
	for _, m := range msgs {
		fmt.Fprintf(&b, "%s %s %s %s\n%s", m.Role, m.ToolCallID, m.ToolName, m.Status, renderParts(m))
	}
	want := `user   
  text "doc"
  image ""
  file "" anthropic.members {"citations":{"enabled":true}}
  opaque anthropic.block {"type":"document","source":{"type":"file","file_id":"file_1"}}
assistant   
  reasoning "t" anthropic.thinking {"signature":"s"}
  opaque anthropic.redacted_thinking {"type":"redacted_thinking","data":"x"}
  text "cited" anthropic.members {"citations":[{"cited_text":"c"}]}
  tool_call toolu_1 ls "{\"a\": 1}"
tool toolu_1 ls error
  text "bad"
  opaque anthropic.block {"type":"tool_reference","tool_name":"x"}
user   
  text "and?"
assistant   
  text "fine"
user   
  text "thanks"
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestParsedRequestIsEncodedWithItsMeaning(t *testing.T) {
	system, msgs, err := ParseMessages([]byte(recorded))
	if err != nil {
		t.Fatal(err)
	}
	msgs = append(msgs[:3], msgs[4:]...) // a history has no user message behind results
	b := encodeBody(t, testProfile(), &model.Request{System: system, History: history(t, msgs...)})
	want := "user: text image document document\n" +
		"assistant: thinking redacted_thinking text tool_use*\n" +
		"user: tool_result*\nassistant: text*\nuser: text*"
	want = strings.Replace(want, "tool_use*", "tool_use", 1)
	if got := b.outline(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	doc := b.Messages[0].Content[2]
	if doc["source"].(map[string]any)["data"] != "é" || doc["title"] != "e.txt" || doc["citations"] == nil {
		t.Errorf("document %v", doc)
	}
}

func TestParseMessagesRefusesWhatIsNoRequest(t *testing.T) {
	for _, bad := range []string{``, `[]`, `{}`, `{"messages":[{"role":"user","content":[1]}]}`, `{"messages":[{"role":"user","content":{}}]}`} {
		if _, _, err := ParseMessages([]byte(bad)); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

func TestParseMessagesKeepsRoles(t *testing.T) {
	_, msgs, err := ParseMessages([]byte(`{"messages":[{"role":"user","content":[]},{"role":"system","content":"late"}]}`))
	if err != nil || len(msgs) != 2 || msgs[0].Role != message.User || msgs[1].Role != message.System {
		t.Errorf("%v, %v", msgs, err)
	}
}
