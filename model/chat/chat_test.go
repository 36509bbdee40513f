package chat

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// picky is a server that refuses bodies that hold a word.
func picky(t *testing.T, refuse map[string]string) (*Client, *[]string) {
	t.Helper()
	var bodies []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer k" || r.Header.Get("X-Title") != "t" {
			t.Errorf("%s %v: %v", r.URL, r.Header, err)
		}
		bodies = append(bodies, string(b))
		for word, msg := range refuse {
			if strings.Contains(string(b), word) {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, `{"error":{"message":"`+msg+`","type":"invalid_request_error"}}`)
				return
			}
		}
		if strings.Contains(string(b), `"stream":true`) {
			_, _ = w.Write(sse(deltaChunk(`{"content":"hi"}`, "stop"), "[DONE]"))
			return
		}
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`)
	}))
	client := wire.NewHTTPClient()
	t.Cleanup(func() {
		client.CloseIdleConnections()
		s.Close()
	})
	p := testProfile()
	p.BaseURL, p.MaxOutput = s.URL+"/v1/", 10
	p.Headers = map[string]string{"X-Title": "t"}
	p.Extra = map[string]string{"temperature": "0.2"}
	return New(p, wire.Options{HTTP: client, Keys: model.StaticKey("k")}), &bodies
}

func say(t *testing.T, c *Client) (text string, err error) {
	t.Helper()
	r := &model.Request{History: history(t, message.NewUser("a")), Effort: "low"}
	for d, e := range c.Stream(t.Context(), r) {
		text, err = text+d.Text, e
	}
	return text, err
}

func TestClientLearnsFromRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		refuse map[string]string
		tries  int
		last   string
	}{
		{"nothing", nil, 1, `"stream":true`},
		{"streams", map[string]string{`"stream":true`: "Streaming is not supported for this model."}, 2, `"max_tokens":10`},
		{"streams to the unverified", map[string]string{`"stream":true`: "Your organization must be verified to stream this model."}, 2, `"max_tokens":10`},
		{"max_tokens", map[string]string{`"max_tokens"`: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}, 2, `"max_completion_tokens":10`},
		{"stream options", map[string]string{`stream_options`: "Unrecognized request argument supplied: stream_options"}, 2, `"stream":true,"max_tokens"`},
		{"effort", map[string]string{`reasoning_effort`: "Unknown parameter: 'reasoning_effort'."}, 2, `10,"temperature":0.2}`},
		{"temperature", map[string]string{`temperature`: "Unsupported value: 'temperature' does not support 0.2 with this model."}, 2, `"low"}`},
		{"several", map[string]string{`reasoning_effort`: "Unknown parameter: 'reasoning_effort'.", `"stream":true`: "This model does not support stream."}, 3, `"max_tokens":10`},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, bodies := picky(t, c.refuse)
			if text, err := say(t, client); text != "hi" || err != nil {
				t.Fatalf("got %q, %v", text, err)
			}
			if n := len(*bodies); n != c.tries || !strings.Contains((*bodies)[n-1], c.last) {
				t.Errorf("%d tries: %q", n, *bodies)
			}
			if text, err := say(t, client); text != "hi" || err != nil || len(*bodies) != c.tries+1 {
				t.Errorf("the second time: %q, %v after %d requests", text, err, len(*bodies))
			}
		})
	}
}

func TestOtherRefusalsAreFinal(t *testing.T) {
	for _, msg := range []string{"max_tokens is too large: 10. This model supports at most 5.", "messages: unknown role", "The stream of consciousness is invalid."} {
		client, bodies := picky(t, map[string]string{"messages": msg})
		if _, err := say(t, client); err == nil || len(*bodies) != 1 {
			t.Errorf("%s: %v after %d requests", msg, err, len(*bodies))
		}
	}
}

func TestRefusalThatStaysIsToldOnce(t *testing.T) {
	client, bodies := picky(t, map[string]string{"messages": "Streaming is not supported."})
	if _, err := say(t, client); model.ClassOf(err) != model.InvalidRequest || len(*bodies) != 2 {
		t.Errorf("%v after %d requests", err, len(*bodies))
	}
}

func TestBodyThatCannotBeMadeIsAnInvalidRequest(t *testing.T) {
	p := testProfile()
	p.Extra = map[string]string{"x": "{"}
	var errs []error
	for _, err := range New(p, wire.Options{}).Stream(t.Context(), &model.Request{History: history(t, message.NewUser("a"))}) {
		errs = append(errs, err)
	}
	if len(errs) != 1 || model.ClassOf(errs[0]) != model.InvalidRequest || !strings.Contains(errs[0].Error(), `"x"`) {
		t.Errorf("got %v", errs)
	}
}
