package conformance

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
)

const rounds = 20

// prefix tests that what was sent once is sent again in the same bytes, which
// is what prompt caches need.
func (s *suite) prefix() {
	s.with("rounds share their prefix", endless, func(e *env) {
		e.rounds(e.reply)
		e.samePrefix()
		if n := e.srv.Conns(); n != 1 {
			e.Errorf("%d connections for %d rounds, want 1", n, rounds)
		}
	})
	s.with("a cache changes no byte", endless, func(e *env) {
		cache := &model.Cache{}
		e.rounds(func(req *model.Request) outcome {
			plain := *req
			plain.Cache = nil
			req.Cache = cache
			e.reply(&plain)
			before := e.last().Body
			out := e.reply(req)
			if got := e.last().Body; !bytes.Equal(got, before) {
				e.Fatalf("with the cache\n%s\nwithout it\n%s", got, before)
			}
			return out
		})
	})
	s.with("the provider's cache is hit", endless, s.cacheHits)
	s.with("a cache follows a history that changes", endless, s.rewritten)
	s.with("notes stand in one request only", endless, s.notes)
	s.with("what was injected stays where it was", endless, s.injected)
	s.t.Run("one connection on loopback", s.loopback)
}

// endless answers each round with thinking, text and a call, for ever.
func endless(c *setup) {
	c.opts.Scripts = []modeltest.Script{{Func: func(r *modeltest.Request) modeltest.Reply {
		n := r.Assistants()
		return modeltest.Say(modeltest.Think(fmt.Sprintf("Thought %d.", n)), modeltest.Text(fmt.Sprintf("Step %d.", n)),
			modeltest.Call("read_file", fmt.Sprintf(`{"path":"file-%d"}`, n)), modeltest.Call("list_files", `{}`))
	}}}
}

// end marks where a message of a round ends.
func end(round int) string { return fmt.Sprintf("<end of round %d>", round) }

// rounds runs a conversation of calls and results. What each returns goes into
// the history of the next round.
func (e *env) rounds(each func(req *model.Request) outcome) {
	e.Helper()
	req := &model.Request{System: "You help.", Tools: tools, Effort: "low", History: e.history(message.NewUser("go " + end(0)))}
	for n := 1; n <= rounds; n++ {
		out := each(req)
		req.History = e.add(req.History, out.reply.Message)
		for _, call := range out.reply.Message.Calls() {
			req.History = e.add(req.History, message.NewResult(call, message.StatusOK, call.Name+" "+end(n)))
		}
	}
}

// samePrefix compares each request with the next, up to the end of the history
// of the earlier one.
func (e *env) samePrefix() {
	e.Helper()
	all := e.srv.Requests()
	for i := 1; i < len(all); i++ {
		before, now := unmarked(all[i-1].Body), unmarked(all[i].Body)
		cut := bytes.LastIndex(before, []byte("<end of round "))
		if cut < 0 {
			e.Fatalf("request %d does not hold its history", i)
		}
		if !bytes.HasPrefix(now, before[:cut]) {
			n := 0
			for n < cut && n < len(now) && before[n] == now[n] {
				n++
			}
			e.Fatalf("request %d differs from request %d at byte %d of %d:\n%s\n%s",
				i+1, i, n, cut, around(before, n), around(now, n))
		}
	}
}

func around(b []byte, n int) []byte { return b[max(n-80, 0):min(n+80, len(b))] }

// unmarked takes out cache marks, which move.
func unmarked(b []byte) []byte {
	return bytes.ReplaceAll(b, []byte(`,"cache_control":{"type":"ephemeral"}`), nil)
}

// cacheHits wants the server to find what it was sent before, in a conversation
// that is long enough to be cached.
func (s *suite) cacheHits(e *env) {
	req := &model.Request{
		System: strings.Repeat("You help with care. ", 1000), Tools: tools,
		History: e.history(message.NewUser("go")), Cache: &model.Cache{},
	}
	var before model.Usage
	for n := range 4 {
		out := e.reply(req)
		u := out.reply.Usage
		if n > 0 && u.CacheRead < before.Input-256 {
			e.Errorf("request %d: %d tokens come out of the cache, want about %d, which request %d had", n+1, u.CacheRead, before.Input, n)
		}
		if marks := e.last().CacheMarks; (marks > 0) != (e.mode == model.AnthropicMessages) {
			e.Errorf("request %d has %d cache marks", n+1, marks)
		}
		before = u
		e.goOn(req, out)
	}
}

// rewritten compresses the history in the middle of a conversation.
func (s *suite) rewritten(e *env) {
	cache := &model.Cache{}
	req := &model.Request{System: "You help.", Tools: tools, Cache: cache, History: e.history(message.NewUser("go"))}
	for n := range 6 {
		e.goOn(req, e.reply(req))
		if n == 3 {
			req.History = e.history(message.NewUser("a summary"))
		}
		plain := *req
		plain.Cache = nil
		e.reply(req)
		with := e.last().Body
		e.reply(&plain)
		if !bytes.Equal(with, e.last().Body) {
			e.Fatalf("round %d: with the cache\n%s\nwithout it\n%s", n, with, e.last().Body)
		}
	}
}

// notes tests ephemeral notes behind a user message and behind results.
func (s *suite) notes(e *env) {
	const note = "Only 2 rounds are left."
	n := 0
	cache := &model.Cache{}
	e.rounds(func(req *model.Request) outcome {
		n++
		noted := *req
		noted.Cache, noted.Ephemeral = cache, note
		e.reply(&noted)
		if got := bytes.Count(e.last().Body, []byte(note)); got != 1 {
			e.Errorf("round %d: the note stands in the request %d times, want once", n, got)
		}
		req.Cache = cache
		out := e.reply(req)
		if bytes.Contains(e.last().Body, []byte(note)) {
			e.Errorf("round %d: the note stands in the request after its own", n)
		}
		return out
	})
	e.samePrefix()
}

// injected tests what hooks add behind a user message and behind results.
func (s *suite) injected(e *env) {
	n := 0
	cache := &model.Cache{}
	e.rounds(func(req *model.Request) outcome {
		n++
		added := fmt.Sprintf("<added in round %d>", n)
		history, err := req.History.Replace(req.History.Len()-1, req.History.Last().Inject(added+end(n)))
		if err != nil {
			e.Fatal(err)
		}
		req.History, req.Cache = history, cache
		out := e.reply(req)
		if got := bytes.Count(e.last().Body, []byte("added in round ")); got != n {
			e.Errorf("round %d: the request holds %d of the texts that were added", n, got)
		}
		return out
	})
	e.samePrefix()
}

// loopback runs rounds over a real connection.
func (s *suite) loopback(t *testing.T) {
	c := s.setup()
	endless(c)
	srv, err := modeltest.Start(c.opts)
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	e := s.env(t, c, srv, &http.Client{Transport: transport})
	e.rounds(e.reply)
	if n := srv.Conns(); n != 1 {
		t.Errorf("%d connections for %d rounds, want 1", n, rounds)
	}
	for _, f := range srv.Faults() {
		t.Error(f)
	}
}
