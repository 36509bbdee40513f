package conformance

import (
	"slices"
	"strings"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
)

// histories tests how histories are sent.
func (s *suite) histories() {
	s.test("a round of calls with results", "reply\ntext Done.", func(e *env) {
		e.round(&message.ToolCall{ID: "call_1", Name: "read_file", Arguments: `{"path":"a"}`},
			&message.ToolCall{ID: "call_2", Name: "list_files", Arguments: `{}`})
		m := e.last().Messages
		if len(m) != 5 || m[3].Text() != "result of call_1" || m[4].Text() != "result of call_2" {
			e.Errorf("the server understood %s", shape(m))
		}
	})
	s.test("arguments that are no JSON", "reply\ntext Done.", func(e *env) {
		e.round(&message.ToolCall{ID: "call_1", Name: "read_file", Arguments: `{"path": "half`})
		if got := e.last().Messages[2].Calls()[0].Arguments; got != "{}" {
			e.Errorf("sent %q, want {}", got)
		}
	})
	s.test("results that are errors", "reply\ntext Done.", func(e *env) {
		call := &message.ToolCall{ID: "call_1", Name: "read_file", Arguments: `{"path":"a"}`}
		h := e.history(message.NewUser("go"), message.NewAssistant(message.Part{Kind: message.KindToolCall, Call: call}),
			message.NewResult(call, message.StatusError, "no such file"))
		e.reply(&model.Request{History: h, Tools: tools})
		m := e.last().Messages[2]
		if !strings.Contains(m.Text(), "no such file") {
			e.Errorf("the server understood the result %q", m.Text())
		}
		if e.mode == model.AnthropicMessages && m.Status != message.StatusError {
			e.Error("is_error is not set")
		}
	})
	s.untidy()
	s.images()
	s.ids()
}

// untidy tests histories that are valid, but odd.
func (s *suite) untidy() {
	s.test("a result without content", "reply\ntext Done.", func(e *env) {
		call := &message.ToolCall{ID: "call_1", Name: "list_files", Arguments: `{}`}
		e.reply(&model.Request{Tools: tools, History: e.history(message.NewUser("go"),
			message.NewAssistant(message.Part{Kind: message.KindToolCall, Call: call}),
			&message.Message{Role: message.Tool, ToolCallID: call.ID, ToolName: call.Name})})
	})
	s.test("empty parts are left out", "reply\ntext Done.", func(e *env) {
		call := &message.ToolCall{ID: "call_1", Name: "list_files", Arguments: ""}
		e.reply(&model.Request{Tools: tools, History: e.history(
			&message.Message{Role: message.User, Parts: []message.Part{message.Text(""), message.Text("go")}},
			message.NewAssistant(message.Text(""), message.Reasoning(""), message.Part{Kind: message.KindToolCall, Call: call}),
			&message.Message{Role: message.Tool, ToolCallID: "call_1", Parts: []message.Part{message.Text(""), message.Text("x")}},
			message.NewAssistant(message.Text("so"), message.Text("")), message.NewUser("on"))})
	})
	s.test("system messages at the start", "reply\ntext Done.", func(e *env) {
		e.reply(&model.Request{System: "Built.", History: e.history(
			&message.Message{Role: message.System, Parts: []message.Part{message.Text("From outside.")}}, message.NewUser("go"))})
		if sys := e.last().System; !strings.Contains(sys, "Built.") || !strings.Contains(sys, "From outside.") {
			e.Errorf("the server understood the system prompt %q", sys)
		}
	})
	s.test("invalid UTF-8 is replaced", "reply\ntext Done.", func(e *env) {
		call := &message.ToolCall{ID: "call_1", Name: "read_file", Arguments: "{\"path\":\"a\xffb\"}"}
		e.reply(&model.Request{System: "s\xff.", Tools: tools, History: e.history(message.NewUser("one\xfftwo"),
			message.NewAssistant(message.Text("so\xc3"), message.Part{Kind: message.KindToolCall, Call: call}),
			message.NewResult(call, message.StatusOK, "\xed\xa0\x80tail"))})
		if got := e.last().Messages[1].Text(); got != "one\uFFFDtwo" {
			e.Errorf("sent %q, want one\\uFFFDtwo", got)
		}
	})
}

// round sends a history that ends with the results of calls.
func (e *env) round(calls ...*message.ToolCall) {
	e.Helper()
	asked := &message.Message{Role: message.Assistant}
	for _, c := range calls {
		asked.Parts = append(asked.Parts, message.Part{Kind: message.KindToolCall, Call: c})
	}
	h := e.history(message.NewUser("go"), asked)
	for _, c := range calls {
		h = e.add(h, message.NewResult(c, message.StatusOK, "result of "+c.ID))
	}
	e.reply(&model.Request{System: "You help.", History: h, Tools: tools})
}

// shape tells the roles and kinds of messages.
func shape(msgs []*message.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		b.WriteString(string(m.Role) + "(")
		for i, p := range m.Parts {
			if i > 0 {
				b.WriteString(" ")
			}
			b.WriteString(string(p.Kind))
		}
		b.WriteString(") ")
	}
	return b.String()
}

func (s *suite) images() {
	s.test("images of the user", "reply\ntext Done.", func(e *env) {
		e.reply(&model.Request{History: e.history(&message.Message{Role: message.User, Parts: []message.Part{
			message.Text("what is it"), message.Image("image/png", png),
			{Kind: message.KindImage, Media: &message.Media{URL: "https://example.org/a.png"}},
		}})})
		e.pictures(png, "https://example.org/a.png")
	})
	s.test("images in results", "reply\ntext Done.", func(e *env) {
		a := &message.ToolCall{ID: "call_1", Name: "read_file", Arguments: `{"path":"a"}`}
		b := &message.ToolCall{ID: "call_2", Name: "read_file", Arguments: `{"path":"b"}`}
		e.reply(&model.Request{Tools: tools, History: e.history(message.NewUser("go"),
			message.NewAssistant(message.Part{Kind: message.KindToolCall, Call: a}, message.Part{Kind: message.KindToolCall, Call: b}),
			&message.Message{Role: message.Tool, ToolCallID: a.ID, Parts: []message.Part{message.Text("a:"), message.Image("image/png", png)}},
			&message.Message{Role: message.Tool, ToolCallID: b.ID, Parts: []message.Part{message.Image("image/png", png)}})})
		e.pictures(png, png)
	})
}

// pictures wants the last request to show these pictures, by data or URL.
func (e *env) pictures(want ...string) {
	e.Helper()
	var got []string
	for _, m := range e.last().Messages {
		for _, p := range m.Parts {
			if p.Kind == message.KindImage {
				got = append(got, p.Media.Data+p.Media.URL)
			}
		}
	}
	if !slices.Equal(got, want) {
		e.Errorf("the server saw %d pictures, want %d, in %s", len(got), len(want), shape(e.last().Messages))
	}
}

// ids tests call ids that came from another provider.
func (s *suite) ids() {
	odd := []string{
		"call:1", "call/1", "functions.read_file:0", "größe", strings.Repeat("long", 40), strings.Repeat("long", 40) + "er",
		"0", "toolu_01ABC", "chatcmpl-tool-1|x",
	}
	s.with("ids in odd alphabets", func(c *setup) {
		c.opts.Scripts = []modeltest.Script{{Func: func(*modeltest.Request) modeltest.Reply { return modeltest.Say(modeltest.Text("Done.")) }}}
		if s.mode == model.ChatCompletions {
			c.opts.MistralIDs = true
			c.profile.ToolIDAlphabet = "mistral"
		}
	}, func(e *env) {
		var sent [][]string
		for n := 2; n <= len(odd); n++ {
			var calls []*message.ToolCall
			for _, id := range odd[:n] {
				calls = append(calls, &message.ToolCall{ID: id, Name: "read_file", Arguments: `{"path":"a"}`})
			}
			e.round(calls...)
			var ids []string
			for _, m := range e.last().Messages {
				for _, call := range m.Calls() {
					ids = append(ids, call.ID)
				}
			}
			sent = append(sent, ids)
		}
		for i := 1; i < len(sent); i++ {
			if !slices.Equal(sent[i-1], sent[i][:len(sent[i-1])]) {
				e.Errorf("the same ids are sent as %q once and as %q then", sent[i-1], sent[i])
			}
		}
	})
	s.test("ids of another provider that fit by length only", "reply\ntext Done.", func(e *env) {
		e.round(&message.ToolCall{ID: strings.Repeat("x", 70), Name: "read_file", Arguments: `{"path":"a"}`})
	})
}
