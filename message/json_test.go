package message

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAppendJSONWritesOpenAIForm(t *testing.T) {
	state := &State{Origin: Origin{Provider: "anthropic", Model: "m"}, Kind: "anthropic.thinking", Data: `{"signature":"s"}`}
	for _, test := range []struct {
		name string
		m    *Message
		want string
	}{
		{"user text", NewUser("a \"b\"\n<é>"), `{"role":"user","content":"a \"b\"\n<é>"}`},
		{"empty user", &Message{Role: User}, `{"role":"user","content":""}`},
		{"invalid UTF-8", NewUser("a\xffb\xed\xa0\x80"), `{"role":"user","content":"a�b���"}`},
		{
			"image and file",
			&Message{Role: User, Parts: []Part{
				Text("look"), Image("image/png", "QUJD"),
				{Kind: KindImage, Media: &Media{URL: "https://example.com/a.png", MIME: "image/png"}},
				{Kind: KindFile, Media: &Media{MIME: "application/pdf", Data: "QQ==", Name: "a.pdf"}},
			}},
			`{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}},` +
				`{"type":"image_url","image_url":{"url":"https://example.com/a.png","mime":"image/png"}},` +
				`{"type":"file","file":{"file_data":"data:application/pdf;base64,QQ==","filename":"a.pdf"}}]}`,
		},
		{
			"natural order needs no parts",
			NewAssistant(Reasoning("hm"), Text("ok"), Call("c1", "ls", `{"p":"a"}`)),
			`{"role":"assistant","content":"ok","reasoning":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"p\":\"a\"}"}}]}`,
		},
		{
			"calls alone", NewAssistant(Call("c1", "ls", "{}")),
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}]}`,
		},
		{
			"other order", NewAssistant(Call("c1", "ls", "{}"), Text("ok")),
			`{"role":"assistant","content":"ok","tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}}],"rondo":{"parts":["tool_call","text"]}}`,
		},
		{
			"reasoning with state", NewAssistant(Part{Kind: KindReasoning, Text: "hm", State: state}, Text("ok")),
			`{"role":"assistant","content":"ok","reasoning":{"text":"hm","state":{"kind":"anthropic.thinking","data":"{\"signature\":\"s\"}","origin":{"provider":"anthropic","model":"m"}}}}`,
		},
		{
			"result",
			&Message{ID: "m7", Role: Tool, ToolCallID: "c1", ToolName: "ls", Status: StatusError, Parts: []Part{Text("no")}, Time: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)},
			`{"role":"tool","content":"no","tool_call_id":"c1","name":"ls","rondo":{"id":"m7","status":"error","time":"2026-01-02T03:04:05.006Z"}}`,
		},
		{
			"opaque and state of text",
			&Message{Role: Assistant, Origin: Origin{Model: "m"}, Parts: []Part{{Kind: KindOpaque, State: &State{Kind: "k", Data: "1"}}, {Kind: KindText, Text: "ok", State: &State{Kind: "t", Data: `"x"`}}}},
			`{"role":"assistant","content":"ok","rondo":{"origin":{"model":"m"},"parts":["opaque","text"],"states":[{"part":0,"kind":"k","data":"1"},{"part":1,"kind":"t","data":"\"x\""}]}}`,
		},
	} {
		if got := string(AppendJSON(nil, test.m)); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, got, test.want)
		}
	}
}

func TestParseJSONIsLenient(t *testing.T) {
	call := func(id, args string) *Message { return NewAssistant(Call(id, "ls", args)) }
	for _, test := range []struct {
		name, in string
		want     *Message
	}{
		{"content null", `{"role":"assistant","content":null}`, &Message{Role: Assistant}},
		{"content missing", `{"role":"assistant","tool_calls":[]}`, &Message{Role: Assistant}},
		{"developer", `{"role":"developer","content":"x"}`, &Message{Role: System, Parts: []Part{Text("x")}}},
		{"function", `{"role":"function","name":"ls","content":"x"}`, &Message{Role: Tool, ToolName: "ls", Parts: []Part{Text("x")}}},
		{"arguments object", `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"ls","arguments":{"p": 1}}}]}`, call("a", `{"p":1}`)},
		{"arguments null", `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"ls","arguments":null}}]}`, call("a", "")},
		{"integer id", `{"role":"assistant","tool_calls":[{"id":7,"function":{"name":"ls","arguments":"{}"}}]}`, call("7", "{}")},
		{"integer result id", `{"role":"tool","tool_call_id":7,"content":"x"}`, &Message{Role: Tool, ToolCallID: "7", Parts: []Part{Text("x")}}},
		{"flat call", `{"role":"assistant","tool_calls":[{"id":"a","name":"ls","arguments":"{}"}]}`, call("a", "{}")},
		{"custom call", `{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"ls","input":"free"}}]}`, call("a", "free")},
		{"legacy call", `{"role":"assistant","content":null,"function_call":{"name":"ls","arguments":"{}"}}`, call("", "{}")},
		{"reasoning_content", `{"role":"assistant","content":"x","reasoning_content":"hm"}`, NewAssistant(Reasoning("hm"), Text("x"))},
		{"unknown members", `{"role":"user","content":"x","name":"alice","audio":{"id":1},"x":[1]}`, NewUser("x")},
		{"doubled member, lone surrogate", `{"role":"user","content":"a","content":"b\ud800c"}`, NewUser("b\uFFFDc")},
		{"result object", `{"role":"tool","tool_call_id":"a","content":{"n": 1}}`, &Message{Role: Tool, ToolCallID: "a", Parts: []Part{Text(`{"n":1}`)}}},
		{
			"content parts of other forms",
			`{"role":"user","content":["a",{"type":"input_text","text":"b"},{"type":"input_image","image_url":"https://e.com/x"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QQ=="}}]}`,
			&Message{Role: User, Parts: []Part{Text("a"), Text("b"), {Kind: KindImage, Media: &Media{URL: "https://e.com/x"}}, Image("image/png", "QQ==")}},
		},
		{
			"unknown content part", `{"role":"user","content":[{"type":"input_audio", "input_audio":{"data":"QQ==","format":"wav"}}]}`,
			&Message{Role: User, Parts: []Part{{Kind: KindOpaque, State: &State{Kind: "chat.content_part", Data: `{"type":"input_audio","input_audio":{"data":"QQ==","format":"wav"}}`}}}},
		},
		{
			"reasoning with signature",
			`{"role":"assistant","content":"x","reasoning":{"text":"hmm","signature":"sig","origin":{"provider":"other","model":"k3"}}}`,
			NewAssistant(Part{Kind: KindReasoning, Text: "hmm", State: &State{Origin: Origin{Provider: "other", Model: "k3"}, Kind: "anthropic.thinking", Data: `{"signature":"sig"}`}}, Text("x")),
		},
		{
			"thinking among the content", `{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"x"}]}`,
			NewAssistant(Reasoning("hm"), Text("x")),
		},
		{
			"extra_content and _origin",
			`{"role":"assistant","_origin":{"provider":"g","model":"m"},"tool_calls":[{"id":"a","extra_content":{"google":{"thought_signature":"s"}},"function":{"name":"ls","arguments":"{}"}}]}`,
			&Message{Role: Assistant, Origin: Origin{Provider: "g", Model: "m"}, Parts: []Part{{
				Kind: KindToolCall, Call: &ToolCall{ID: "a", Name: "ls", Arguments: "{}"},
				State: &State{Origin: Origin{Provider: "g", Model: "m"}, Kind: "chat.extra_content", Data: `{"google":{"thought_signature":"s"}}`},
			}}},
		},
		{
			"reasoning_details", `{"role":"assistant","content":"x","reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm"}]}`,
			NewAssistant(Part{Kind: KindReasoning, Text: "hm", State: &State{Kind: "chat.reasoning_details", Data: `[{"type":"reasoning.text","text":"hm"}]`}}, Text("x")),
		},
	} {
		got, err := ParseJSON([]byte(test.in))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, d)
		}
	}
}

func TestParseHistorySaysWhatIsWrong(t *testing.T) {
	for in, want := range map[string]string{
		`{"role":"user"}`:                                   "want a JSON array",
		`[{"role":"user"},{"content":"x"}]`:                 "message 1: parse message: no role",
		`[{"role":"user","content":[{"a":1}]}]`:             "part 0: an object without a type",
		`[{"role":"user","content":[3]}]`:                   "part 0: want a string or an object",
		`[{"role":"assistant","tool_calls":"x"}]`:           "tool_calls",
		`[{"role":"assistant","reasoning":3}]`:              "reasoning: want a string",
		`[{"role":"user","rondo":{"states":[{"part":4}]}}]`: "state of part 4",
		`[{"role":"user"`:                                   "parse history",
	} {
		_, err := ParseHistory([]byte(in))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", in, err, want)
		}
	}
}

func TestJSONGivesBackTheSameMessage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMessage(t)
		data := AppendJSON(nil, m)
		if !json.Valid(data) || strings.ContainsAny(string(data), "\n\r") {
			t.Fatalf("not one line of JSON: %s", data)
		}
		got, err := ParseJSON(data)
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if d := cmp.Diff(m, got); d != "" {
			t.Fatalf("%s\n(-want +got):\n%s", data, d)
		}
		if natural(m) && strings.Contains(string(data), `"parts":[`) {
			t.Fatalf("natural order with rondo.parts: %s", data)
		}
	})
}

func TestMarshalJSONWorksThroughTheStandardLibrary(t *testing.T) {
	in := []*Message{NewUser("a"), NewAssistant(Text("b"))}
	h, changes := Normalise(in)
	data, err := json.Marshal(map[string]any{"history": h, "changes": changes})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"changes":null,"history":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`; string(data) != want {
		t.Errorf("got %s, want %s", data, want)
	}
	var back struct{ History []*Message }
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(in, back.History); d != "" {
		t.Error(d)
	}
	if data, err := json.Marshal(History{}); err != nil || string(data) != "[]" {
		t.Errorf("empty history: %s, %v", data, err)
	}
}

func TestParseHistoryReadsAllSharedCases(t *testing.T) {
	for name, data := range sharedCases(t) {
		var c struct {
			Given struct{ History json.RawMessage }
		}
		if err := json.Unmarshal(data, &c); err != nil {
			continue // the history of some cases is none in our sense
		}
		if c.Given.History == nil || c.Given.History[0] != '[' {
			continue
		}
		if _, err := ParseHistory(c.Given.History); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	m := NewResult(&ToolCall{ID: "call_1", Name: "read"}, StatusOK, strings.Repeat("a line of \"text\"\n", 250))
	buf := make([]byte, 0, 1<<14)
	b.ReportAllocs()
	for b.Loop() {
		buf = AppendJSON(buf[:0], m)
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkParseJSON(b *testing.B) {
	data := AppendJSON(nil, NewResult(&ToolCall{ID: "call_1", Name: "read"}, StatusOK, strings.Repeat("a line of \"text\"\n", 250)))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseJSON(data); err != nil {
			b.Fatal(err)
		}
	}
}

// sharedCases returns the files of the shared cases by name; it skips the test
// where there are none.
func sharedCases(t *testing.T) map[string][]byte {
	t.Helper()
	dir := findShared(t, "cases/dev")
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string][]byte{}
	for _, f := range files {
		if cases[f.Name()], err = os.ReadFile(dir + "/" + f.Name()); err != nil {
			t.Fatal(err)
		}
	}
	return cases
}

// findShared finds a directory of the shared material beside the repository.
func findShared(t *testing.T, name string) string {
	t.Helper()
	up := os.Getenv("RONDO_SHARED")
	if up != "" {
		return up + "/" + name
	}
	for up = ".."; len(up) < 30; up += "/.." {
		if dir := up + "/shared/" + name; isDir(dir) {
			return dir
		}
	}
	t.Skipf("no shared/%s beside the repository; RONDO_SHARED names another place", name)
	return ""
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
