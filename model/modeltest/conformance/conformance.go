// Package conformance is the suite that every adapter of a model passes. It
// runs the adapter against the scripted server of package modeltest, whose
// checks are part of what is tested: a request that the real service would
// refuse fails the test that sent it.
//
// Nearly all of it happens in memory and in virtual time, so that timeouts of
// minutes take none.
package conformance

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
)

// Key is the key that open must have its models show.
const Key = "test-key"

// Run tests the adapter of one mode. Open makes a model for a profile that sends
// its requests through client and shows Key; its timeouts may be the defaults.
func Run(t *testing.T, mode model.Mode, open func(p *model.Profile, client *http.Client) model.Model) {
	s := &suite{t: t, mode: mode, open: open}
	t.Run("replies", func(t *testing.T) { s.on(t).replies() })
	t.Run("ends", func(t *testing.T) { s.on(t).ends() })
	t.Run("histories", func(t *testing.T) { s.on(t).histories() })
	t.Run("reasoning", func(t *testing.T) { s.on(t).reasoning() })
	t.Run("refusals", func(t *testing.T) { s.on(t).refusals() })
	t.Run("faults", func(t *testing.T) { s.on(t).faults() })
	t.Run("leaving", func(t *testing.T) { s.on(t).leaving() })
	t.Run("prefix", func(t *testing.T) { s.on(t).prefix() })
}

type suite struct {
	t    *testing.T
	mode model.Mode
	open func(p *model.Profile, client *http.Client) model.Model
}

func (s *suite) on(t *testing.T) *suite { return &suite{t: t, mode: s.mode, open: s.open} }

// setup is what a test can change before its server starts.
type setup struct {
	opts    modeltest.Options
	profile model.Profile
}

// env is what a test runs in.
type env struct {
	*testing.T
	mode  model.Mode
	srv   *modeltest.Server
	model model.Model
	// faulty is set by a test whose request is to be refused.
	faulty bool
}

// test runs fn in a bubble of virtual time against a server that says script.
// The server must have found no fault in the end.
func (s *suite) test(name, script string, fn func(e *env)) {
	s.with(name, func(c *setup) {
		scripts, err := modeltest.Parse(name, script)
		if err != nil {
			s.t.Fatal(err)
		}
		c.opts.Scripts = scripts
	}, fn)
}

// with is test with a setup of the test's choice.
func (s *suite) with(name string, change func(c *setup), fn func(e *env)) {
	s.t.Helper()
	s.t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := s.setup()
			change(c)
			srv, client := modeltest.NewPipe(c.opts)
			defer srv.Close()
			e := s.env(t, c, srv, client)
			fn(e)
			for _, f := range srv.Faults() {
				if !e.faulty {
					t.Errorf("the server refuses %v", f)
				}
			}
		})
	})
}

func (s *suite) setup() *setup {
	c := &setup{opts: modeltest.Options{Key: Key}}
	c.profile = model.Profile{
		Provider: "scripted", Model: "model-1", Account: "account-1", Mode: s.mode,
		ContextWindow: 200_000, MaxOutput: 8192,
	}
	if s.mode == model.ChatCompletions {
		c.profile.ReasoningField = "reasoning_content"
		c.profile.NoToolImages = true
	}
	return c
}

func (s *suite) env(t *testing.T, c *setup, srv *modeltest.Server, client *http.Client) *env {
	c.profile.BaseURL = srv.BaseURL(s.mode)
	return &env{T: t, mode: s.mode, srv: srv, model: s.open(&c.profile, client)}
}

// outcome is all that came of one request.
type outcome struct {
	deltas []model.Delta
	times  []time.Duration // of the deltas, since the request
	reply  *model.Reply
	err    error
	took   time.Duration
}

// ask sends a request and reads its stream to the end, which must keep the
// promises of model.Model.
func (e *env) ask(req *model.Request) outcome {
	e.Helper()
	var out outcome
	start := time.Now()
	for d, err := range e.model.Stream(e.Context(), req) {
		if out.reply != nil || out.err != nil {
			e.Fatalf("something follows the end of the stream: %+v, %v", d, err)
		}
		if err != nil {
			out.err = err
			continue
		}
		if d.Kind == model.DeltaDone {
			out.reply = d.Reply
			continue
		}
		out.deltas = append(out.deltas, d)
		out.times = append(out.times, time.Since(start))
	}
	out.took = time.Since(start)
	e.consistent(&out)
	return out
}

// consistent wants deltas to join to what the reply holds.
func (e *env) consistent(out *outcome) {
	e.Helper()
	if (out.reply == nil) == (out.err == nil) {
		e.Fatalf("a stream ends with a reply or an error, have %v and %v", out.reply, out.err)
	}
	var asModel *model.Error
	if out.err != nil && !errors.As(out.err, &asModel) {
		e.Errorf("the error is a %T, want a *model.Error: %v", out.err, out.err)
	}
	if out.reply == nil {
		return
	}
	if out.reply.Message == nil {
		e.Fatal("the reply has no message")
	}
	m := out.reply.Message
	if got, want := joined(out.deltas, model.DeltaText), m.Text(); got != want {
		e.Errorf("text deltas join to %q, the reply says %q", got, want)
	}
	if got, want := joined(out.deltas, model.DeltaReasoning), m.Reasoning(); got != want {
		e.Errorf("reasoning deltas join to %q, the reply says %q", got, want)
	}
	for i, call := range m.Calls() {
		var args strings.Builder
		for _, d := range out.deltas {
			if d.Kind == model.DeltaCallArgs && d.Index == i {
				args.WriteString(d.Text)
			}
		}
		if args.String() != call.Arguments && args.Len() > 0 {
			e.Errorf("argument deltas of call %d join to %q, the reply says %q", i, args.String(), call.Arguments)
		}
	}
}

func joined(deltas []model.Delta, kind model.DeltaKind) string {
	var b strings.Builder
	for _, d := range deltas {
		if d.Kind == kind {
			b.WriteString(d.Text)
		}
	}
	return b.String()
}

// reply is ask for a request that must succeed.
func (e *env) reply(req *model.Request) outcome {
	e.Helper()
	out := e.ask(req)
	if out.err != nil {
		e.Fatalf("the request failed: %v", out.err)
	}
	return out
}

// failure is ask for a request that must fail.
func (e *env) failure(req *model.Request) (*model.Error, outcome) {
	e.Helper()
	out := e.ask(req)
	failed, ok := errors.AsType[*model.Error](out.err)
	if !ok {
		e.Fatalf("want an error, have the reply %+v, %v", out.reply, out.err)
	}
	return failed, out
}

// last returns the newest request that the server has.
func (e *env) last() *modeltest.Request {
	e.Helper()
	all := e.srv.Requests()
	if len(all) == 0 {
		e.Fatal("no request came")
	}
	return all[len(all)-1]
}

// history makes a history of messages.
func (e *env) history(msgs ...*message.Message) message.History {
	e.Helper()
	var h message.History
	for _, m := range msgs {
		h = e.add(h, m)
	}
	return h
}

func (e *env) add(h message.History, m *message.Message) message.History {
	e.Helper()
	h, err := h.Append(m)
	if err != nil {
		e.Fatal(err)
	}
	return h
}

// hello is a request with one short user message and tools on offer.
func (e *env) hello() *model.Request {
	e.Helper()
	return &model.Request{System: "You help.", History: e.history(message.NewUser("hello")), Tools: tools}
}

var tools = &model.ToolSet{Specs: []model.ToolSpec{
	{Name: "read_file", Description: "Reads a file.", Schema: []byte(
		`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`)},
	{Name: "list_files", Description: "Lists all files.", Schema: []byte(`{"type":"object","properties":{}}`)},
}}

// png is a picture of one point.
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
