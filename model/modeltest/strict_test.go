package modeltest_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
)

func TestRefusesWhatTheServicesRefuse(t *testing.T) {
	files := map[model.Mode]string{
		model.ChatCompletions: "chat", model.CodexResponses: "responses", model.AnthropicMessages: "anthropic",
		model.GeminiGenerate: "gemini",
	}
	for mode, file := range files {
		data, err := os.ReadFile("testdata/strict/" + file + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		_, cases, _ := strings.Cut(string(data), "\n== ")
		for text := range strings.SplitSeq(cases, "\n== ") {
			name, rest, _ := strings.Cut(text, "\n")
			body, want, ok := strings.Cut(rest, "\n=> ")
			if !ok {
				t.Fatalf("%s: case %q has no line with =>", file, name)
			}
			body = strings.ReplaceAll(body, `\xff`, "\xff")
			t.Run(file+"/"+name, func(t *testing.T) { testStrict(t, mode, body, strings.TrimSpace(want)) })
		}
	}
}

func testStrict(t *testing.T, mode model.Mode, body, want string) {
	srv := start(t, "reply\ntext Yes.", modeltest.Options{})
	status, reply, err := post(t, srv, mode, body)
	if err != nil {
		t.Fatal(err)
	}
	faults := srv.Faults()
	if want == "ok" {
		if status != 200 || faults != nil {
			t.Errorf("status %d, faults %v, want it to be accepted", status, faults)
		}
		return
	}
	refused := `"invalid_request_error"`
	if mode == model.GeminiGenerate {
		refused = `"status":"INVALID_ARGUMENT"`
	}
	if status != 400 || !strings.Contains(reply, refused) {
		t.Errorf("status %d: %s", status, reply)
	}
	if !strings.Contains(fmt.Sprint(faults), want) {
		t.Errorf("faults %v, want one that says %q", faults, want)
	}
	if n := len(srv.Requests()[0].Faults); n != len(faults) {
		t.Errorf("the request is recorded with %d faults, the server has %d", n, len(faults))
	}
}

func TestWantsItsKey(t *testing.T) {
	for mode, body := range hello {
		srv := start(t, "reply\ntext Yes.", modeltest.Options{Key: "right"})
		status, reply, err := post(t, srv, mode, body)
		if err != nil || status != 401 {
			t.Errorf("%s: status %d, %v: %s", mode, status, err, reply)
		}
		if len(srv.Faults()) != 1 {
			t.Errorf("%s: faults %v, want one", mode, srv.Faults())
		}
	}
}

func TestAcceptsWhatIsAskedFor(t *testing.T) {
	srv := start(t, "reply times forever\ntext Yes.", modeltest.Options{ChatCacheMarks: true, ChatToolImages: true, Extra: []string{"provider"}})
	for _, body := range []string{
		`{"model":"m","provider":{"order":[]},"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}]}`,
		`{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":[{"type":"image_url","image_url":{"url":"https://example.org/a.png"}}]}]}`,
	} {
		if status, reply, err := post(t, srv, model.ChatCompletions, body); status != 200 || err != nil {
			t.Errorf("status %d, %v: %s", status, err, reply)
		}
	}
	mistral := start(t, "reply times forever\ncall f {}", modeltest.Options{MistralIDs: true})
	const withID = `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"ID","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"ID","content":"x"}]}`
	for id, want := range map[string]int{"call_1": 400, "abcDEF123": 200} {
		if status, reply, _ := post(t, mistral, model.ChatCompletions, strings.ReplaceAll(withID, "ID", id)); status != want {
			t.Errorf("id %s: status %d, want %d: %s", id, status, want, reply)
		}
	}
}
