package conformance

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// replies tests what is read out of a reply that is whole.
func (s *suite) replies() {
	s.test("plain text", "reply\ntext Hello there.", func(e *env) {
		out := e.reply(e.hello())
		e.says(out, "Hello there.", model.FinishStop)
		if out.reply.ID == "" || out.reply.Model != "model-1" {
			e.Errorf("reply by %q with id %q, want model-1 and some id", out.reply.Model, out.reply.ID)
		}
		if r := e.last(); r.System != "You help." || r.LastUser() != "hello" || len(r.Tools) != 2 {
			e.Errorf("the server understood %q, %q, %d tools", r.System, r.LastUser(), len(r.Tools))
		}
	})
	s.test("deltas arrive as they are sent", `
		reply
		  text One
		  delay 1s
		  text " two"
		  delay 2s
		  text " thr\u00e9e \U0001F600."
		`, func(e *env) {
		out := e.reply(e.hello())
		e.says(out, "One two thrée 😀.", model.FinishStop)
		at := map[string]time.Duration{}
		for i, d := range out.deltas {
			at[d.Text] = out.times[i]
		}
		for text, want := range map[string]time.Duration{"One": 0, " two": time.Second, " thrée 😀.": 3 * time.Second} {
			if got, ok := at[text]; !ok || got != want {
				e.Errorf("delta %q arrived at %v (%v), want %v", text, got, ok, want)
			}
		}
	})
	s.test("a reply in one piece", `
		reply
		  think Hm.
		  text Well.
		  call read_file {"path":"a"}
		`, func(e *env) {
		req := e.hello()
		req.NoStream = true
		out := e.reply(req)
		e.says(out, "Well.", model.FinishToolCalls)
		e.calls(out, `read_file {"path":"a"}`)
		if got := out.reply.Message.Reasoning(); got != "Hm." {
			e.Errorf("reasoning %q, want Hm.", got)
		}
		if e.last().Stream {
			e.Error("the request asks for a stream")
		}
	})
	s.with("several requests at once", endless, atOnce)
	s.calling()
	s.counting()
}

// atOnce sends requests of several conversations at the same time.
func atOnce(e *env) {
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			h, _ := message.History{}.Append(message.NewUser(fmt.Sprint("conversation ", i)))
			for d, err := range e.model.Stream(e.Context(), &model.Request{History: h, Tools: tools}) {
				if err != nil || d.Kind == model.DeltaDone && d.Reply.Message.Text() != "Step 0." {
					e.Errorf("conversation %d: %+v, %v", i, d.Reply, err)
				}
			}
		})
	}
	all.Wait()
}

// says wants a reply to have a text and a finish reason.
func (e *env) says(out outcome, text string, finish model.Finish) {
	e.Helper()
	if got := out.reply.Message.Text(); got != text {
		e.Errorf("text %q, want %q", got, text)
	}
	if out.reply.Finish != finish {
		e.Errorf("finish %q, want %q", out.reply.Finish, finish)
	}
}

// calls wants a reply to make these calls, each NAME ARGUMENTS, under ids that
// are all different.
func (e *env) calls(out outcome, want ...string) {
	e.Helper()
	var got []string
	ids := map[string]bool{"": true}
	for _, call := range out.reply.Message.Calls() {
		got = append(got, call.Name+" "+call.Arguments)
		if ids[call.ID] {
			e.Errorf("call id %q is empty or stands twice", call.ID)
		}
		ids[call.ID] = true
	}
	if !slices.Equal(got, want) {
		e.Errorf("calls\n%q, want\n%q", got, want)
	}
}

func (s *suite) calling() {
	s.test("parallel calls in order", `
		reply
		  call read_file#call_a {"path":"first/file"}
		  call read_file#call_b {"path":"größe/ファイル"}
		  call list_files#call_c {"deep":{"list":[1,2,{"x":null}]}}
		`, func(e *env) {
		out := e.reply(e.hello())
		e.says(out, "", model.FinishToolCalls)
		e.calls(out, `read_file {"path":"first/file"}`, `read_file {"path":"größe/ファイル"}`,
			`list_files {"deep":{"list":[1,2,{"x":null}]}}`)
		if id := out.reply.Message.Calls()[1].ID; id != "call_b" {
			e.Errorf("id %q, want call_b", id)
		}
		if !out.reply.Announced && e.mode != model.CodexResponses { // which has no such reason
			e.Error("the finish reason said tool calls: Announced must be set")
		}
		e.announces(out, "read_file", "read_file", "list_files")
	})
	s.test("empty arguments", "reply\ncall list_files {}\nrawcall list_files", func(e *env) {
		e.calls(e.reply(e.hello()), "list_files {}", "list_files {}")
	})
	s.test("text and then calls", "reply\ntext Let me look.\ncall list_files {}", func(e *env) {
		out := e.reply(e.hello())
		e.says(out, "Let me look.", model.FinishToolCalls)
		e.calls(out, "list_files {}")
		kinds := []message.Kind{}
		for _, p := range out.reply.Message.Parts {
			kinds = append(kinds, p.Kind)
		}
		if !slices.Equal(kinds, []message.Kind{message.KindText, message.KindToolCall}) {
			e.Errorf("parts %v, want text and tool_call", kinds)
		}
	})
	for _, choice := range []model.ToolChoice{model.ToolNone, model.ToolRequired, "list_files"} {
		s.test(fmt.Sprintf("tool choice %s", choice), "reply\ntext Yes.", func(e *env) {
			req := e.hello()
			req.ToolChoice = choice
			e.reply(req)
			if got := e.last().ToolChoice; got != choice && (choice != model.ToolNone || len(e.last().Tools) > 0) {
				e.Errorf("the server understood the choice %q, want %q", got, choice)
			}
		})
	}
	s.test("no tools", "reply\ntext Yes.", func(e *env) {
		req := e.hello()
		req.Tools = nil
		e.reply(req)
	})
}

// announces wants calls to be told of by name as they begin.
func (e *env) announces(out outcome, names ...string) {
	e.Helper()
	var got []string
	for _, d := range out.deltas {
		if d.Kind == model.DeltaCall {
			if d.Index != len(got) {
				e.Errorf("call %q is announced as number %d, want %d", d.Name, d.Index, len(got))
			}
			got = append(got, d.Name)
		}
	}
	if !slices.Equal(got, names) {
		e.Errorf("announced %q, want %q", got, names)
	}
}

func (s *suite) counting() {
	s.test("usage", "reply\ntext Hi.\nusage input=1000 cache_read=400 cache_write=100 output=50 reasoning=20", func(e *env) {
		want := model.Usage{Input: 1000, CacheRead: 400, Output: 50, Reasoning: 20}
		if e.mode == model.AnthropicMessages { // it tells writes and no reasoning
			want.CacheWrite, want.Reasoning = 100, 0
		}
		if got := e.reply(e.hello()).reply.Usage; got != want {
			e.Errorf("usage %+v, want %+v", got, want)
		}
	})
	s.test("usage of a reply in one piece", "reply\ntext Hi.\nusage input=1000 cache_read=400 output=50", func(e *env) {
		req := e.hello()
		req.NoStream = true
		want := model.Usage{Input: 1000, CacheRead: 400, Output: 50}
		if got := e.reply(req).reply.Usage; got != want {
			e.Errorf("usage %+v, want %+v", got, want)
		}
	})
	s.test("limits and effort are sent", "reply\ntext Hi.", func(e *env) {
		req := e.hello()
		req.MaxOutputTokens, req.Effort = 5000, "low"
		e.reply(req)
		if r := e.last(); r.MaxOutputTokens < 5000 {
			e.Errorf("the server understood a limit of %d, want 5000 or, for thinking, more", r.MaxOutputTokens)
		}
	})
}

// ends tests the reasons for which a reply ends.
func (s *suite) ends() {
	finishes := []model.Finish{model.FinishStop, model.FinishLength, model.FinishContentFilter}
	if s.mode == model.AnthropicMessages {
		finishes = append(finishes, model.FinishPause)
	}
	for _, finish := range finishes {
		for _, whole := range []bool{false, true} {
			s.test(fmt.Sprintf("%s whole=%v", finish, whole), "reply\ntext Half of\nfinish "+string(finish), func(e *env) {
				req := e.hello()
				req.NoStream = whole
				e.says(e.reply(req), "Half of", finish)
			})
		}
	}
	s.test("length inside of a call", `
		reply
		  text I write.
		  rawcall read_file {"path": "half of a na
		  finish length
		`, func(e *env) {
		out := e.reply(e.hello())
		e.says(out, "I write.", model.FinishLength)
		for _, call := range out.reply.Message.Calls() {
			if call.Arguments == "{}" {
				e.Error("arguments that were cut became an empty object, which could be run")
			}
		}
	})
	s.test("empty reply", "reply", func(e *env) {
		out := e.ask(e.hello())
		if out.err != nil {
			if c := model.ClassOf(out.err); c != model.EmptyResponse {
				e.Errorf("class %q, want %q or an empty reply", c, model.EmptyResponse)
			}
			return
		}
		e.says(out, "", model.FinishStop)
	})
}
