package responses_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model/responses"
)

func TestParseItems(t *testing.T) {
	origin := message.Origin{Provider: "openai", Model: "m1"}
	state := func(kind, data string, o message.Origin) *message.State {
		return &message.State{Origin: o, Kind: kind, Data: data}
	}
	got, err := responses.ParseItems([]byte(`[
		{"role":"developer","content":"be kind"},
		{"role":"user","content":[{"type":"input_text","text":"hi"},{"type":"input_audio","input_audio":{"data":"AA=="}}]},
		{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":null,"_origin":{"provider":"openai","model":"m1"}},
		{"role":"assistant","content":"so"},
		{"type":"function_call","id":"fc_1","call_id":"c1","name":"ls","arguments":"{}"},
		{"type":"function_call_output","call_id":"c1","output":{"n":1}}]`))
	if err != nil {
		t.Fatal(err)
	}
	call := message.Call("c1", "ls", "{}")
	call.State = state("responses.function_call", `{"id":"fc_1"}`, message.Origin{})
	want := []*message.Message{
		{Role: message.System, Parts: []message.Part{message.Text("be kind")}},
		{Role: message.User, Parts: []message.Part{
			message.Text("hi"),
			{Kind: message.KindOpaque, State: state("responses.content", `{"type":"input_audio","input_audio":{"data":"AA=="}}`, message.Origin{})},
		}},
		{Role: message.Assistant, Origin: origin, Parts: []message.Part{
			{
				Kind: message.KindReasoning, Text: "hm",
				State: state("responses.reasoning", `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}]}`, origin),
			},
			message.Text("so"),
			call,
		}},
		{Role: message.Tool, ToolCallID: "c1", ToolName: "ls", Parts: []message.Part{message.Text(`{"n":1}`)}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestParseItemsSaysWhatIsWrong(t *testing.T) {
	for items, want := range map[string]string{
		`{"role":"user"}`:                       "parse input items",
		`[{"role":"user","content":"a"},{}]`:    "item 1: it has neither a type nor a role",
		`[{"type":"reasoning","_origin":"me"}]`: "member _origin",
		`[3]`:                                   "item 0",
	} {
		if _, err := responses.ParseItems([]byte(items)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", items, err, want)
		}
	}
}
