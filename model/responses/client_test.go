package responses_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/responses"
	"github.com/rondo-engine/rondo/model/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service answers requests with prepared bodies, the next one each time, and
// keeps what it was sent.
type service struct {
	answers []answer
	sent    []string
	last    *http.Request
}

type answer struct {
	status int
	body   string
}

func (s *service) RoundTrip(req *http.Request) (*http.Response, error) {
	data, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	s.sent, s.last = append(s.sent, string(data)), req
	a := answer{400, `{"error":{"message":"the service has nothing more to say","type":"invalid_request_error"}}`}
	if n := len(s.sent) - 1; n < len(s.answers) {
		a = s.answers[n]
	}
	return &http.Response{StatusCode: a.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(a.body)), Request: req}, nil
}

func (s *service) client(p *model.Profile) *responses.Client {
	return responses.New(p, wire.Options{HTTP: &http.Client{Transport: s}, Keys: model.StaticKey("sk-secret")})
}

// ask sends req and returns the reply or the error.
func ask(t *testing.T, c *responses.Client, req *model.Request) (*model.Reply, error) {
	t.Helper()
	ends := 0
	var reply *model.Reply
	var failed error
	for d, err := range c.Stream(context.Background(), req) {
		if failed = err; err != nil || d.Kind == model.DeltaDone {
			ends++
			reply = d.Reply
		}
	}
	if ends != 1 {
		t.Fatalf("the stream has %d ends", ends)
	}
	return reply, failed
}

func says(id, text string) answer {
	return answer{200, `{"id":"` + id + `","status":"completed","output":[{"type":"message","id":"msg_` + id + `","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]}]}`}
}

func refuses(code, text string) answer {
	return answer{400, `{"error":{"message":"` + text + `","type":"invalid_request_error","param":null,"code":"` + code + `"}}`}
}

var (
	lost       = refuses("previous_response_not_found", "Previous response with id 'resp_1' not found.")
	unreadable = refuses("invalid_encrypted_content", "The encrypted content gAAA...up could not be verified.")
)

func then(t *testing.T, h message.History, msgs ...*message.Message) message.History {
	t.Helper()
	for _, m := range msgs {
		var err error
		if h, err = h.Append(m); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func TestClientSendsToTheEndpoint(t *testing.T) {
	for base, want := range map[string]string{
		"":                       "https://api.openai.com/v1/responses",
		"https://x.example/v1/":  "https://x.example/v1/responses",
		"https://x.example/v1?a": "https://x.example/v1/responses?a",
	} {
		s := &service{answers: []answer{says("resp_1", "hello")}}
		p := &model.Profile{Model: "m", BaseURL: base, Quirks: model.Quirks{Headers: map[string]string{"X-A": "b"}}}
		reply, err := ask(t, s.client(p), &model.Request{History: history(t, `"hi"`)})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.last.URL.String(); got != want {
			t.Errorf("sent to %s, want %s", got, want)
		}
		if s.last.Header.Get("Authorization") != "Bearer sk-secret" || s.last.Header.Get("X-A") != "b" {
			t.Errorf("header: %v", s.last.Header)
		}
		if reply.Message.Text() != "hello" || reply.ID != "resp_1" {
			t.Errorf("reply %+v", reply)
		}
	}
}

// stateful is a conversation with a service that stores it.
func stateful(t *testing.T, s *service) (*responses.Client, *model.Request) {
	t.Helper()
	c := s.client(&model.Profile{Model: "m", Quirks: model.Quirks{ServerState: true}})
	req := &model.Request{System: "s", History: history(t, `"one"`), Cache: new(model.Cache)}
	reply, err := ask(t, c, req)
	if err != nil {
		t.Fatal(err)
	}
	stored := *reply.Message
	stored.ID = "given by the session"
	req.History = then(t, req.History, &stored, message.NewUser("two"))
	return c, req
}

func TestStoredConversationSendsOnlyWhatIsNew(t *testing.T) {
	s := &service{answers: []answer{says("resp_1", "1"), says("resp_2", "2"), says("resp_3", "3")}}
	c, req := stateful(t, s)
	reply, err := ask(t, c, req)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"m","instructions":"s","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"two"}]}],` +
		`"stream":true,"store":true,"include":["reasoning.encrypted_content"],"previous_response_id":"resp_1"}`
	if s.sent[1] != want {
		t.Errorf("sent %s\nwant %s", s.sent[1], want)
	}
	req.History = then(t, req.History, reply.Message, message.NewUser("three"))
	if _, err := ask(t, c, req); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s.sent[2], `"previous_response_id":"resp_2"`) || strings.Contains(s.sent[2], `"two"`) {
		t.Errorf("third request: %s", s.sent[2])
	}
}

func TestStoredConversationSendsResultsOfItsCalls(t *testing.T) {
	s := &service{answers: []answer{
		{200, `{"id":"resp_1","status":"completed","output":[{"type":"custom_tool_call","call_id":"c1","name":"sql","input":"S"},{"type":"function_call","call_id":"c2","name":"ls","arguments":"{}"}]}`},
		says("resp_2", "2"),
	}}
	c := s.client(&model.Profile{Model: "m", Quirks: model.Quirks{ServerState: true}})
	req := &model.Request{History: history(t, `"one"`), Cache: new(model.Cache)}
	reply, err := ask(t, c, req)
	if err != nil {
		t.Fatal(err)
	}
	calls := reply.Message.Calls()
	req.History = then(t, req.History, reply.Message, message.NewResult(calls[0], "", "a"), message.NewResult(calls[1], "", "b"))
	if _, err := ask(t, c, req); err != nil {
		t.Fatal(err)
	}
	want := `"input":[{"type":"custom_tool_call_output","call_id":"c1","output":"a"},{"type":"function_call_output","call_id":"c2","output":"b"}],`
	if !strings.Contains(s.sent[1], want) {
		t.Errorf("sent %s", s.sent[1])
	}
}

func TestStoredConversationIsReplayedWhole(t *testing.T) {
	tests := []struct {
		name    string
		answers []answer
		change  func(req *model.Request)
	}{
		{"when the service lost it", []answer{says("resp_1", "1"), lost, says("resp_2", "2")}, func(*model.Request) {}},
		{"when the service says so by a code alone", []answer{says("resp_1", "1"), refuses("previous_response_not_found", "Hier ist nichts."), says("resp_2", "2")}, func(*model.Request) {}},
		{"when the history changed", []answer{says("resp_1", "1"), says("resp_2", "2")}, func(req *model.Request) {
			msgs := append([]*message.Message{message.NewUser("summary")}, req.History.Messages()[1:]...)
			req.History, _ = message.Normalise(msgs)
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := &service{answers: test.answers}
			c, req := stateful(t, s)
			test.change(req)
			if _, err := ask(t, c, req); err != nil {
				t.Fatal(err)
			}
			last := s.sent[len(s.sent)-1]
			if len(s.sent) != len(test.answers) || strings.Contains(last, "previous_response_id") || !strings.Contains(last, `"text":"1"`) {
				t.Errorf("%d requests, the last: %s", len(s.sent), last)
			}
		})
	}
}

func TestNoteIsNotStored(t *testing.T) {
	s := &service{answers: []answer{says("resp_1", "1"), says("resp_2", "2"), says("resp_3", "3")}}
	c, req := stateful(t, s)
	req.Ephemeral = "hurry"
	reply, err := ask(t, c, req)
	if err != nil {
		t.Fatal(err)
	}
	req.Ephemeral = ""
	req.History = then(t, req.History, reply.Message, message.NewUser("three"))
	if _, err := ask(t, c, req); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s.sent[1], "hurry") || strings.Contains(s.sent[2], "previous_response_id") || strings.Contains(s.sent[2], "hurry") {
		t.Errorf("sent %q", s.sent[1:])
	}
}

const encrypted = `[{"role":"user","content":"hi"},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA"},
	{"type":"message","id":"msg_1","role":"assistant","content":"so"},{"role":"user","content":"go on"}]`

func TestReasoningThatTheServiceDoesNotTakeIsLeftOut(t *testing.T) {
	for _, words := range []string{
		"Item 'rs_1' of type 'reasoning' was provided without its required following item.",
		"Item 'msg_1' of type 'message' was provided without its required 'reasoning' item: 'rs_1'.",
		"Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
		"Could not decrypt the provided encrypted_content.",
	} {
		s := &service{answers: []answer{refuses("x", words), says("resp_1", "1")}}
		if _, err := ask(t, s.client(&model.Profile{Model: "m"}), &model.Request{History: history(t, encrypted)}); err != nil {
			t.Errorf("%s: %v", words, err)
			continue
		}
		if strings.Contains(s.sent[1], "rs_1") || strings.Contains(s.sent[1], "msg_1") || !strings.Contains(s.sent[1], `"so"`) {
			t.Errorf("%s: sent %s", words, s.sent[1])
		}
	}
}

func TestUnreadableReasoningIsLeftOutOnceAndForGood(t *testing.T) {
	s := &service{answers: []answer{unreadable, says("resp_1", "1"), says("resp_2", "2")}}
	c := s.client(&model.Profile{Model: "m"})
	req := &model.Request{History: history(t, encrypted), Cache: new(model.Cache)}
	reply, err := ask(t, c, req)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.sent) != 2 || !strings.Contains(s.sent[0], "gAAA") || strings.Contains(s.sent[1], "gAAA") || strings.Contains(s.sent[1], "msg_1") {
		t.Fatalf("sent %q", s.sent)
	}
	req.History = then(t, req.History, reply.Message, message.NewUser("more"))
	if _, err := ask(t, c, req); err != nil {
		t.Fatal(err)
	}
	if len(s.sent) != 3 || strings.Contains(s.sent[2], "gAAA") {
		t.Errorf("sent %q", s.sent[2:])
	}
	head := []byte(s.sent[1])[:strings.Index(s.sent[1], `],"stream"`)]
	if !bytes.HasPrefix([]byte(s.sent[2]), head) {
		t.Error("the prefix changed again after the reasoning was left out")
	}
}

func TestRefusalsEnd(t *testing.T) {
	s := &service{answers: []answer{unreadable, unreadable, unreadable}}
	_, err := ask(t, s.client(&model.Profile{Model: "m"}), &model.Request{History: history(t, encrypted)})
	if err == nil || len(s.sent) != 2 {
		t.Errorf("%d requests, error %v; want 2 and the error of the second", len(s.sent), err)
	}
}

func TestMembersThatTheModelDoesNotSupportAreLeftOut(t *testing.T) {
	s := &service{answers: []answer{
		refuses("unsupported_value", "Encrypted content is not supported with this model."),
		refuses("unsupported_value", "Your organization must be verified to generate reasoning summaries."),
		says("resp_1", "1"), says("resp_2", "2"),
	}}
	c := s.client(&model.Profile{Model: "m"})
	req := &model.Request{History: history(t, `"hi"`), Effort: "low", Cache: new(model.Cache)}
	for range 2 {
		if _, err := ask(t, c, req); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.sent) != 4 {
		t.Fatalf("%d requests, want 4", len(s.sent))
	}
	for _, sent := range s.sent[2:] {
		if strings.Contains(sent, "include") || strings.Contains(sent, "summary") || !strings.Contains(sent, `"effort":"low"`) {
			t.Errorf("sent %s", sent)
		}
	}
}

func TestBrokenRequestIsAClassifiedError(t *testing.T) {
	h := then(t, history(t, `"hi"`), message.NewAssistant(message.Call("c1", "ls", "{}")))
	s := &service{}
	_, err := ask(t, s.client(profile), &model.Request{History: h})
	if model.ClassOf(err) != model.InvalidRequest || len(s.sent) != 0 {
		t.Errorf("error %v, %d requests", err, len(s.sent))
	}
}
