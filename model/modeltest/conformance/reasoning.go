package conformance

import (
	"bytes"
	"strings"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// reasoning tests what goes back of what a model thought.
func (s *suite) reasoning() {
	const script = `
		position history
		reply
		  think First I look.
		  call list_files {}
		reply
		  think Now I
		  think " know."
		  text It is so.
		reply
		  text Bye.
		`
	for _, effort := range []string{"", "low"} {
		for _, whole := range []bool{false, true} {
			name := "thinking goes back to its origin"
			if effort != "" {
				name += " with effort"
			}
			if whole {
				name += " in one piece"
			}
			s.test(name, script, func(e *env) { e.thinks(effort, whole) })
		}
	}
	s.test("redacted thinking", "reply\nredacted\nthink Hm.\ncall list_files {}\nreply\ntext Done.", func(e *env) {
		if e.mode != model.AnthropicMessages {
			e.Skip("only Anthropic redacts")
		}
		req := e.hello()
		e.goOn(req, e.reply(req))
		e.reply(req)
		if got := shape(e.last().Messages); !strings.Contains(got, "assistant(opaque reasoning tool_call)") {
			e.Errorf("sent %s, want the redacted block in its place", got)
		}
	})
	s.foreign()
	if s.mode == model.CodexResponses {
		s.serverState(script)
	}
}

// goOn appends a reply to the request's history, with results for its calls,
// or else the user's next words.
func (e *env) goOn(req *model.Request, out outcome) {
	e.Helper()
	req.History = e.add(req.History, out.reply.Message)
	calls := out.reply.Message.Calls()
	for _, call := range calls {
		req.History = e.add(req.History, message.NewResult(call, message.StatusOK, "result of "+call.ID))
	}
	if len(calls) == 0 {
		req.History = e.add(req.History, message.NewUser("and now"))
	}
}

func (e *env) thinks(effort string, whole bool) {
	req := e.hello()
	req.Effort, req.NoStream = effort, whole
	first := e.reply(req)
	if got := first.reply.Message.Reasoning(); got != "First I look." {
		e.Errorf("reasoning %q, want the whole of it", got)
	}
	e.goOn(req, first)
	second := e.reply(req)
	e.says(second, "It is so.", model.FinishStop)
	if got := shape(e.last().Messages); !strings.Contains(got, "assistant(reasoning tool_call)") {
		e.Errorf("sent %s, want the reasoning in front of its call", got)
	}
	e.goOn(req, second)
	e.says(e.reply(req), "Bye.", model.FinishStop)
}

// foreign tests that reasoning does not go to others.
func (s *suite) foreign() {
	others := map[string]message.Origin{
		"another provider": {Provider: "other", Model: "model-1", Account: "account-1"},
		"another model":    {Provider: "scripted", Model: "model-2", Account: "account-1"},
	}
	kinds := map[string]string{
		"anthropic.thinking":  `{"type":"thinking","thinking":"secret thought","signature":"c2VjcmV0IHNlYWw="}`,
		"responses.reasoning": `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"secret thought"}],"encrypted_content":"c2VjcmV0IHNlYWw="}`,
		"":                    "",
	}
	for other, origin := range others {
		for kind, data := range kinds {
			s.test("reasoning of "+other+" "+kind, "reply\ntext Done.", func(e *env) {
				part := message.Reasoning("secret thought")
				if kind != "" {
					part.State = &message.State{Origin: origin, Kind: kind, Data: data}
				}
				call := &message.ToolCall{ID: "call_1", Name: "list_files", Arguments: "{}"}
				m := message.NewAssistant(part, message.Text("I look."), message.Part{Kind: message.KindToolCall, Call: call})
				m.Origin = origin
				e.reply(&model.Request{
					Tools: tools, Effort: "low",
					History: e.history(message.NewUser("go"), m, message.NewResult(call, message.StatusOK, "x")),
				})
				if body := e.last().Body; bytes.Contains(body, []byte("secret thought")) || bytes.Contains(body, []byte("c2VjcmV0")) {
					e.Errorf("it was sent: %s", body)
				}
			})
		}
	}
	s.test("opaque parts of others", "reply\ntext Done.", func(e *env) {
		opaque := message.Part{Kind: message.KindOpaque, State: &message.State{
			Origin: others["another provider"], Kind: "anthropic.redacted", Data: `{"type":"redacted_thinking","data":"c2VjcmV0"}`,
		}}
		e.reply(&model.Request{History: e.history(message.NewUser("go"), message.NewAssistant(opaque, message.Text("So.")), message.NewUser("on"))})
		if bytes.Contains(e.last().Body, []byte("c2VjcmV0")) {
			e.Error("it was sent")
		}
	})
}

// serverState tests that only what is new is sent when the server keeps the
// conversation.
func (s *suite) serverState(script string) {
	s.with("the server keeps the conversation", func(c *setup) {
		c.parse(s.t, script)
		c.profile.ServerState = true
	}, func(e *env) {
		req := e.hello()
		req.Cache = &model.Cache{}
		for range 2 {
			e.goOn(req, e.reply(req))
		}
		e.says(e.reply(req), "Bye.", model.FinishStop)
		for i, r := range e.srv.Requests() {
			if i > 0 && (r.PreviousResponse == "" || r.Sent != 1) {
				e.Errorf("request %d goes on from %q and sends %d messages, want 1", i+1, r.PreviousResponse, r.Sent)
			}
		}
	})
}
