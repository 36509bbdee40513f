package anthropic

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server answers each request with the next reply, and the last one again and
// again, and keeps what was sent.
type server struct {
	*httptest.Server
	replies []string // what begins with { and holds "error" is a 400
	headers []http.Header
	paths   []string
	bodies  []string
}

func newServer(t *testing.T, replies ...string) *server {
	s := &server{replies: replies}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	reply := s.replies[min(len(s.bodies), len(s.replies)-1)]
	s.bodies = append(s.bodies, string(data))
	s.headers = append(s.headers, r.Header)
	s.paths = append(s.paths, r.URL.Path)
	if strings.Contains(reply, `"error"`) {
		w.WriteHeader(http.StatusBadRequest)
	}
	_, _ = io.WriteString(w, reply)
}

func (s *server) stream(t *testing.T, set func(*model.Profile), req *model.Request) (*model.Reply, error) {
	t.Helper()
	p := testProfile()
	p.BaseURL = s.URL
	if set != nil {
		set(p)
	}
	client := s.Client()
	defer client.CloseIdleConnections()
	var reply *model.Reply
	for d, err := range New(p, wire.Options{HTTP: client, Keys: model.StaticKey("k")}).Stream(t.Context(), req) {
		if err != nil {
			return nil, err
		}
		reply = d.Reply
	}
	return reply, nil
}

const (
	fine     = `{"type":"message","id":"m","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"}`
	unsigned = `{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid ` + "`signature` in `thinking`" + ` block"}}`
	wrong    = `{"type":"error","error":{"type":"invalid_request_error","message":"messages: text content blocks must be non-empty"}}`
)

func thinkingHistory(t *testing.T) message.History {
	return history(t, message.NewUser("hi"), message.NewAssistant(thought("hm", "s", ownOrigin()), message.Call("c", "ls", "{}")), result("c", "ok"))
}

func TestClientSendsWhatTheAPIWants(t *testing.T) {
	s := newServer(t, fine)
	reply, err := s.stream(t, func(p *model.Profile) {
		p.BaseURL += "/anthropic/v1/"
		p.Headers = map[string]string{"anthropic-beta": "x"}
	}, &model.Request{History: history(t, message.NewUser("hi"))})
	if err != nil || reply.Message.Text() != "Hi" {
		t.Fatal(reply, err)
	}
	if s.paths[0] != "/anthropic/v1/messages" {
		t.Errorf("path %s", s.paths[0])
	}
	for name, want := range map[string]string{
		"X-Api-Key": "k", "Authorization": "Bearer k", "Anthropic-Version": "2023-06-01", "Anthropic-Beta": "x",
	} {
		if got := s.headers[0].Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestAnthropicItselfGetsTheKeyOnce(t *testing.T) {
	for base, url := range map[string]string{
		"":                              "https://api.anthropic.com/v1/messages",
		"https://api.anthropic.com":     "https://api.anthropic.com/v1/messages",
		"https://api.anthropic.com/v1/": "https://api.anthropic.com/v1/messages",
	} {
		c, h := New(&model.Profile{BaseURL: base}, wire.Options{}), http.Header{}
		c.auth(h, "k")
		if c.url != url || h.Get("X-Api-Key") != "k" || h.Get("Authorization") != "" {
			t.Errorf("base %q: url %s, header %v", base, c.url, h)
		}
	}
}

func TestRefusedThinkingIsSentAgainWithoutIt(t *testing.T) {
	s := newServer(t, unsigned, fine)
	h := thinkingHistory(t)
	reply, err := s.stream(t, nil, &model.Request{History: h, Effort: "low", Cache: new(model.Cache)})
	if err != nil || reply.Message.Text() != "Hi" {
		t.Fatal(reply, err)
	}
	if len(s.bodies) != 2 {
		t.Fatalf("%d requests", len(s.bodies))
	}
	first, second := parseBody(t, []byte(s.bodies[0])), parseBody(t, []byte(s.bodies[1]))
	if first.Thinking == nil || !strings.Contains(first.outline(), "thinking") {
		t.Errorf("the first request has no thinking: %s", s.bodies[0])
	}
	if second.Thinking != nil || second.outline() != "user: text*\nassistant: tool_use*\nuser: tool_result*" {
		t.Errorf("the second request is %s", s.bodies[1])
	}
	if h.Messages()[1].Parts[0].State == nil {
		t.Error("the history lost its state")
	}
}

func TestRefusalsThatAreFinal(t *testing.T) {
	plain := history(t, message.NewUser("hi"))
	tests := []struct {
		name     string
		replies  []string
		req      *model.Request
		requests int
	}{
		{"twice", []string{unsigned}, &model.Request{History: thinkingHistory(t)}, 2},
		{"nothing to leave out", []string{unsigned}, &model.Request{History: plain}, 1},
		{"about something else", []string{wrong}, &model.Request{History: thinkingHistory(t)}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t, tt.replies...)
			_, err := s.stream(t, nil, tt.req)
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Status != 400 || len(s.bodies) != tt.requests {
				t.Errorf("error %v after %d requests, want 400 after %d", err, len(s.bodies), tt.requests)
			}
		})
	}
}

func TestUnsendableRequestsAreErrorsOfTheModel(t *testing.T) {
	s := newServer(t, fine)
	_, err := s.stream(t, func(p *model.Profile) { p.Extra = map[string]string{"x": "{"} }, &model.Request{History: history(t, message.NewUser("hi"))})
	if model.ClassOf(err) != model.InvalidRequest || len(s.bodies) != 0 {
		t.Errorf("error %v after %d requests", err, len(s.bodies))
	}
}
