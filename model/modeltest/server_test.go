package modeltest_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
)

// paths are where each mode is served.
var paths = map[model.Mode]string{
	model.ChatCompletions:   "/chat/completions",
	model.CodexResponses:    "/responses",
	model.AnthropicMessages: "/v1/messages",
	model.GeminiGenerate:    "/models/m:streamGenerateContent?alt=sse",
}

// hello is the shortest request of each mode.
var hello = map[model.Mode]string{
	model.ChatCompletions:   `{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]}`,
	model.CodexResponses:    `{"model":"m","stream":true,"input":[{"role":"user","content":"hello"}]}`,
	model.AnthropicMessages: `{"model":"m","max_tokens":100,"stream":true,"messages":[{"role":"user","content":"hello"}]}`,
}

// start runs a server with a script as text, for the length of a test.
func start(t *testing.T, script string, opts modeltest.Options) *modeltest.Server {
	t.Helper()
	if script != "" {
		scripts, err := modeltest.Parse("script", script)
		if err != nil {
			t.Fatal(err)
		}
		opts.Scripts = scripts
	}
	srv, err := modeltest.Start(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		srv.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return srv
}

// post sends body to a server and returns what comes back, with the error
// that cut it off.
func post(t *testing.T, srv *modeltest.Server, mode model.Mode, body string) (status int, reply string, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.BaseURL(mode)+paths[mode], bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

func TestRepliesInEachProtocol(t *testing.T) {
	const script = `
reply
  think Let me see.
  text Hel
  text lo.
  call read_file {"path": "add.go"}
  call list_files#call_mine {}
`
	want := map[model.Mode][]string{
		model.ChatCompletions: {
			`{"reasoning_content":"Let me see."}`, `{"content":"Hel"}`, `{"content":"lo."}`,
			`"name":"read_file"`, `"index":1,"id":"call_mine"`, `"finish_reason":"tool_calls"`, "data: [DONE]\n\n",
		},
		model.CodexResponses: {
			"event: response.created\n", `"delta":"Let me see."`, "event: response.output_text.delta\n",
			`"delta":"lo."`, `"call_id":"call_mine"`, "event: response.completed\n",
		},
		model.AnthropicMessages: {
			"event: message_start\n", `"thinking":"Let me see."`, `"type":"signature_delta"`,
			`{"type":"text_delta","text":"lo."}`, `"id":"call_mine"`, `"stop_reason":"tool_use"`, "event: message_stop\n",
		},
	}
	for mode, parts := range want {
		t.Run(string(mode), func(t *testing.T) {
			srv := start(t, script, modeltest.Options{})
			status, body, err := post(t, srv, mode, hello[mode])
			if status != 200 || err != nil {
				t.Fatalf("status %d, %v: %s", status, err, body)
			}
			rest := body
			for _, part := range parts {
				_, after, ok := strings.Cut(rest, part)
				if !ok {
					t.Fatalf("no %q, in this order, in\n%s", part, body)
				}
				rest = after
			}
			if f := srv.Faults(); f != nil {
				t.Error(f)
			}
		})
	}
}
