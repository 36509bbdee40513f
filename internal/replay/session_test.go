package replay

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/anthropic"
	"github.com/rondo-engine/rondo/model/provider"
	"github.com/rondo-engine/rondo/model/responses"
	"github.com/rondo-engine/rondo/model/wire"
	"github.com/rondo-engine/rondo/tool"
)

// step is a recorded exchange of a session, with its request in neutral form.
type step struct {
	*recording
	mode   model.Mode
	plain  []said
	system string
	msgs   []*message.Message
	// linked tells that the server keeps what was said before.
	linked bool
}

// newStep reads the request of r.
func newStep(t *testing.T, r *recording) *step {
	t.Helper()
	s := &step{recording: r, mode: modes[r.API]}
	var err error
	if s.plain, err = readPlainly(s.mode, r.Request.Body); err != nil {
		t.Fatal(err)
	}
	var body struct {
		Instructions    string
		Input, Messages json.RawMessage
		Conversation    any
		Previous        string `json:"previous_response_id"`
	}
	if err := json.Unmarshal(r.Request.Body, &body); err != nil {
		t.Fatal(err)
	}
	s.linked = body.Conversation != nil || body.Previous != ""
	switch s.mode {
	case model.AnthropicMessages:
		s.system, s.msgs, err = anthropic.ParseMessages(r.Request.Body)
	case model.CodexResponses:
		s.system = body.Instructions
		s.msgs, err = responses.ParseItems(body.Input)
	default:
		s.msgs, err = message.ParseHistory(body.Messages)
	}
	if err != nil {
		t.Fatal(err)
	}
	for len(s.msgs) > 0 && s.msgs[0].Role == message.System {
		s.system = strings.TrimSpace(s.system + "\n\n" + s.msgs[0].Text())
		s.msgs = s.msgs[1:]
	}
	return s
}

// goesOn reports whether s is the next request of the conversation of prev.
func (s *step) goesOn(prev *step) bool {
	if s.linked {
		return prev.Turn+1 == s.Turn
	}
	before, now := conversation(prev.plain), conversation(s.plain)
	return len(now) > len(before) && slices.Equal(now[:len(before)], before)
}

// conversation is what of things was said by turns.
func conversation(things []said) []said {
	return slices.DeleteFunc(slices.Clone(things), func(s said) bool { return s.kind == "system" || s.kind == "tool" })
}

// results returns the tool messages behind the last assistant message.
func (s *step) results() []*message.Message {
	var out []*message.Message
	for _, m := range s.msgs {
		switch m.Role {
		case message.Assistant:
			out = nil
		case message.Tool:
			out = append(out, m)
		}
	}
	return out
}

// question returns what the user says at the end of the request; nil if the
// request ends otherwise.
func (s *step) question() []message.Part {
	var parts []message.Part
	for i := len(s.msgs) - 1; i >= 0 && s.msgs[i].Role == message.User; i-- {
		parts = slices.Concat(s.msgs[i].Parts, parts)
	}
	return parts
}

// before returns the messages in front of the question.
func (s *step) before() []*message.Message {
	n := len(s.msgs)
	for n > 0 && s.msgs[n-1].Role == message.User {
		n--
	}
	return slices.Clone(s.msgs[:n])
}

// answered reports whether the request ends with the model's own words: the
// client asks again where a loop has come to its end.
func (s *step) answered() bool {
	return len(s.msgs) == 0 || s.msgs[len(s.msgs)-1].Role == message.Assistant || s.msgs[len(s.msgs)-1].Role == message.System
}

// profile describes the model of the recording as provider.Resolve would.
func (s *step) profile(t *testing.T) *model.Profile {
	t.Helper()
	r, err := provider.Resolve(t.Context(), provider.Settings{
		Provider: s.Provider, Model: cmp.Or(s.Model, "unknown"), BaseURL: s.endpoint(), APIMode: s.mode, APIKey: "key",
	})
	if err != nil {
		t.Fatal(err)
	}
	p := r.Profile
	p.NoStream = !s.Stream
	var body struct{ Thinking *struct{ Type string } }
	p.Thinking = json.Unmarshal(s.Request.Body, &body) == nil && body.Thinking != nil && body.Thinking.Type != "disabled"
	return p
}

// player runs a recorded session through an agent. It is the transport of the
// model and the tools.
type player struct {
	t       *testing.T
	steps   []*step
	session *rondo.Session

	mu     sync.Mutex
	sent   [][]byte // requests, one for each step so far; nil where none was made
	asked  bool     // a request was made in this run
	taken  []*message.Message
	strays map[int]bool // the replies on which the client did not go on, but the loop did
	ends   []rondo.Result
}

var errStray = errors.New("this request was not recorded")

// RoundTrip answers with the next recorded reply. A request that the recorded
// client did not make stops the run.
func (p *player) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.sent)
	if p.asked && !p.loops(n-1) {
		p.strays[n-1] = true
		p.session.Cancel()
		return nil, errStray
	}
	p.asked, p.taken = true, nil
	p.sent = append(p.sent, body)
	s := p.steps[n]
	h := http.Header{}
	for k, v := range s.Response.Headers {
		if !strings.EqualFold(k, "Content-Encoding") && !strings.EqualFold(k, "Content-Length") && !strings.EqualFold(k, "Transfer-Encoding") {
			h.Set(k, v)
		}
	}
	return &http.Response{
		StatusCode: cmp.Or(s.Response.Status, 200), Header: h, Request: req, ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(strings.NewReader(s.Response.Body)), ContentLength: -1,
	}, nil
}

// loops reports whether the client answered the calls of reply n.
func (p *player) loops(n int) bool {
	return n+1 < len(p.steps) && p.steps[n+1].goesOn(p.steps[n]) && len(p.steps[n+1].results()) > 0
}

// answer gives the recorded result of a call. The user's words that came with
// the results are said with the last of them.
func (p *player) answer(_ context.Context, c tool.Call) (tool.Result, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.sent)
	if !p.loops(n - 1) {
		p.session.Cancel()
		return tool.Result{Text: "not recorded"}, nil
	}
	next := p.steps[n]
	results := next.results()
	m := p.match(results, next, c)
	if m == nil {
		return tool.Result{}, errors.New("no result was recorded")
	}
	p.taken = append(p.taken, m)
	if q := next.question(); q != nil && len(p.taken) == len(results) {
		p.session.Steer((&message.Message{Parts: q}).Text())
	}
	r := tool.Result{Text: m.Text(), Status: m.Status}
	for _, part := range m.Parts {
		if part.Kind != message.KindText {
			r.Media = append(r.Media, part)
		}
	}
	return r, nil
}

// match finds the result of c by its id, or else by the name and arguments of
// the call that it answers.
func (p *player) match(results []*message.Message, next *step, c tool.Call) *message.Message {
	for _, m := range results {
		if m.ToolCallID == c.ID && c.ID != "" && !slices.Contains(p.taken, m) {
			return m
		}
	}
	for _, m := range results {
		if slices.Contains(p.taken, m) {
			continue
		}
		for _, a := range next.msgs {
			for _, call := range a.Calls() {
				if call.ID == m.ToolCallID && call.Name == c.Name && canonical(call.Arguments) == canonical(string(c.Args)) {
					return m
				}
			}
		}
	}
	return nil
}

// tools are those that the request of s offers.
func (p *player) tools(s *step) []*tool.Tool {
	type spec struct {
		Type, Name, Description   string
		Parameters, Schema, Input json.RawMessage
		InputSchema               json.RawMessage `json:"input_schema"`
	}
	var body struct {
		Tools []struct {
			spec
			Function *spec
		}
	}
	if err := json.Unmarshal(s.Request.Body, &body); err != nil {
		p.t.Fatal(err)
	}
	var tools []*tool.Tool
	for _, e := range body.Tools {
		f := e.spec
		if e.Function != nil {
			f = *e.Function
		}
		schema := f.Parameters
		if s.mode == model.AnthropicMessages {
			schema = f.InputSchema
		}
		if f.Name == "" {
			continue // a tool of the provider's own
		}
		if len(schema) == 0 || bytes.Equal(schema, []byte("null")) {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		tools = append(tools, &tool.Tool{Name: f.Name, Description: f.Description, Schema: schema, Run: p.answer})
	}
	return tools
}

// play runs the whole session.
func (p *player) play() {
	var carried []*message.Message
	for len(p.sent) < len(p.steps) {
		if p.steps[len(p.sent)].answered() {
			p.sent, p.ends, carried = append(p.sent, nil), append(p.ends, rondo.Result{}), nil
			continue
		}
		carried = p.converse(carried)
	}
}

// converse runs one conversation from the request of the next step on. If it
// is one that goes on at another model, carried is what was said before; so is
// what converse returns.
func (p *player) converse(carried []*message.Message) []*message.Message {
	first := p.steps[len(p.sent)]
	profile := first.profile(p.t)
	m, err := provider.Open(profile, wire.Options{HTTP: &http.Client{Transport: p}, Keys: model.StaticKey("key")})
	if err != nil {
		p.t.Fatal(err)
	}
	agent, err := rondo.New(rondo.Options{Model: m, Tools: p.tools(first), System: first.system, Workers: 1, Effort: effort(first)})
	if err != nil {
		p.t.Fatal(err)
	}
	p.session = agent.Session("")
	defer p.session.Close()
	req := rondo.Request{System: first.system, Attachments: first.question(), History: carried}
	if carried == nil {
		req.History = first.before()
		for _, m := range req.History {
			claim(m, message.Origin{Provider: profile.Provider, Model: profile.Model, Account: profile.Account})
		}
	}
	for {
		said := p.run(req)
		n := len(p.sent)
		switch {
		case n == len(p.steps) || !p.steps[n].goesOn(p.steps[n-1]) || p.steps[n].answered() || len(p.steps[n].results()) > 0:
			return nil
		case p.steps[n].mode != first.mode || p.steps[n].Model != first.Model:
			return said
		}
		req = rondo.Request{System: p.steps[n].system, Attachments: p.steps[n].question()}
	}
}

// run runs one turn and returns the whole conversation after it.
func (p *player) run(req rondo.Request) []*message.Message {
	p.asked = false
	before := len(p.sent)
	end, err := p.session.Run(p.t.Context(), req)
	if _, ok := errors.AsType[*rondo.RunError](err); err != nil && !ok || len(p.sent) == before {
		p.t.Fatalf("request %d: the run did not begin: %v", before, err)
	}
	for len(p.ends) < len(p.sent)-1 {
		p.ends = append(p.ends, rondo.Result{})
	}
	p.ends = append(p.ends, end)
	return end.Messages
}

// claim says that m was made at origin, as the recorded requests are the
// client's own.
func claim(m *message.Message, origin message.Origin) {
	if m.Role != message.Assistant {
		return
	}
	m.Origin = origin
	for i := range m.Parts {
		if s := m.Parts[i].State; s != nil {
			c := *s
			c.Origin = origin
			m.Parts[i].State = &c
		}
	}
}

func effort(s *step) string {
	var body struct {
		Effort    string `json:"reasoning_effort"`
		Reasoning struct{ Effort string }
	}
	if json.Unmarshal(s.Request.Body, &body) != nil {
		return ""
	}
	return cmp.Or(body.Effort, body.Reasoning.Effort)
}
