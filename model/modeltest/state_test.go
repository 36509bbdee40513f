package modeltest_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
)

// number finds the member name in a reply and returns its value.
func number(t *testing.T, reply, name string) int {
	t.Helper()
	found := regexp.MustCompile(`"` + name + `":(\d+)`).FindStringSubmatch(reply)
	if found == nil {
		t.Fatalf("no %s in %s", name, reply)
	}
	n, _ := strconv.Atoi(found[1])
	return n
}

func TestUsageKnowsACommonPrefix(t *testing.T) {
	srv := start(t, "reply times forever\ntext Yes.", modeltest.Options{})
	long := strings.Repeat("word ", 2000)
	first := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%q}`, long)
	_, reply, _ := post(t, srv, model.ChatCompletions, first+"]}")
	if n := number(t, reply, "cached_tokens"); n != 0 {
		t.Errorf("first request: %d tokens cached, want 0", n)
	}
	_, reply, _ = post(t, srv, model.ChatCompletions, first+`,{"role":"assistant","content":"a"},{"role":"user","content":"b"}]}`)
	in, cached := number(t, reply, "prompt_tokens"), number(t, reply, "cached_tokens")
	if want := len(first) / 4 / 128 * 128; cached != want || in <= cached {
		t.Errorf("%d of %d tokens cached, want %d", cached, in, want)
	}
	_, reply, _ = post(t, srv, model.ChatCompletions, strings.Replace(first, "word", "WORD", 1)+"]}")
	if n := number(t, reply, "cached_tokens"); n != 0 {
		t.Errorf("another conversation: %d tokens cached, want 0", n)
	}
}

func TestUsageKnowsMarks(t *testing.T) {
	srv := start(t, "reply times forever\ntext Yes.", modeltest.Options{})
	const mark = `,"cache_control":{"type":"ephemeral"}`
	body := func(marked bool, more string) string {
		m := ""
		if marked {
			m = mark
		}
		return fmt.Sprintf(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":%q%s}]}%s]}`,
			strings.Repeat("word ", 2000), m, more)
	}
	ask := func(b string) (read, write int) {
		_, reply, err := post(t, srv, model.AnthropicMessages, b)
		if err != nil {
			t.Fatal(err)
		}
		return number(t, reply, "cache_read_input_tokens"), number(t, reply, "cache_creation_input_tokens")
	}
	const more = `,{"role":"assistant","content":"a"},{"role":"user","content":"b"}`
	if read, write := ask(body(false, "")); read != 0 || write != 0 {
		t.Errorf("without marks: read %d, written %d", read, write)
	}
	_, written := ask(body(true, ""))
	if written < 2500 {
		t.Errorf("written %d, want the prompt", written)
	}
	if read, write := ask(body(true, more)); read != written || write != 0 {
		t.Errorf("read %d, written %d, want %d and 0", read, write, written)
	}
}

func TestConversationsThatTheServerKeeps(t *testing.T) {
	srv := start(t, "position history\nreply\nthink Hm.\ncall f#call_1 {}\nreply\ntext Done.", modeltest.Options{})
	_, reply, _ := post(t, srv, model.CodexResponses, `{"model":"m","input":"go"}`)
	id := regexp.MustCompile(`resp_\w+`).FindString(reply)
	next := `{"model":"m","previous_response_id":"` + id + `","input":[{"type":"function_call_output","call_id":"call_1","output":"x"}]}`
	if _, reply, _ = post(t, srv, model.CodexResponses, next); !strings.Contains(reply, "Done.") {
		t.Errorf("the second reply is %s", reply)
	}
	r := srv.Requests()[1]
	if len(r.Messages) != 3 || r.Sent != 1 || r.Messages[2].ToolName != "f" || srv.Faults() != nil {
		t.Errorf("%d messages, %d sent, faults %v", len(r.Messages), r.Sent, srv.Faults())
	}
	post(t, srv, model.CodexResponses, `{"model":"m","store":false,"input":"again"}`)
	_, reply, _ = post(t, srv, model.CodexResponses, `{"model":"m","store":false,"input":"once more"}`)
	unkept := regexp.MustCompile(`resp_\w+`).FindString(reply)
	if status, _, _ := post(t, srv, model.CodexResponses, strings.Replace(next, id, unkept, 1)); unkept == "" || status != 400 {
		t.Errorf("status %d for a response that is not kept, want 400", status)
	}
}

func TestItemWantsItsReasoning(t *testing.T) {
	srv := start(t, "reply\nthink Hm.\ntext Yes.\nreply\ntext Done.", modeltest.Options{})
	_, reply, _ := post(t, srv, model.CodexResponses, `{"model":"m","store":false,"include":["reasoning.encrypted_content"],"input":"go"}`)
	id := regexp.MustCompile(`msg_\w+`).FindString(reply)
	status, reply, _ := post(t, srv, model.CodexResponses, `{"model":"m","store":false,"input":[{"role":"user","content":"go"},{"type":"message","id":"`+id+`","role":"assistant","content":[{"type":"output_text","text":"Yes."}]},{"role":"user","content":"on"}]}`)
	if status != 400 || !strings.Contains(reply, "was provided without its required 'reasoning' item: 'rs_") {
		t.Errorf("status %d: %s", status, reply)
	}
}

func TestListsModels(t *testing.T) {
	srv := start(t, "model b\nreply\nmodel a\nreply", modeltest.Options{})
	for _, path := range []string{"/models", "/v1/models"} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL()+path, nil)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if _, after, ok := strings.Cut(string(data), `"id":"a"`); !ok || !strings.Contains(after, `"id":"b"`) {
			t.Errorf("%s: want a and then b: %s", path, data)
		}
	}
}
