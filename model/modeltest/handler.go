package modeltest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/model"
)

// protocol is what differs between the APIs.
type protocol interface {
	mode() model.Mode
	// check decodes the body into the checker's request and reports faults.
	check(c *checker, body node)
	// refusal is the body of an error.
	refusal(f refusal) []byte
	// encoder makes the encoder of one reply.
	encoder(s *Server, req *Request, emit emitter) encoder
}

// refusal is an error in a form that all protocols can express.
type refusal struct {
	status                 int
	kind, code, param, msg string
}

var protocols = map[string]protocol{
	"/chat/completions": chatProtocol{},
	"/responses":        responsesProtocol{},
	"/messages":         anthropicProtocol{},
}

// protocolOf returns the protocol of a call to u; nil if there is none.
func protocolOf(u *url.URL) protocol {
	if strings.HasPrefix(u.Path, geminiModels) {
		return geminiCall(u)
	}
	return protocols[strings.TrimPrefix(u.Path, "/v1")]
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		panic(http.ErrAbortHandler)
	}
	defer s.pending.Done()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.base, cancel)()
	path := strings.TrimPrefix(r.URL.Path, "/v1")
	if (path == "/models" || r.URL.Path == geminiModels) && r.Method == http.MethodGet {
		s.listModels(w)
		return
	}
	p := protocolOf(r.URL)
	if p == nil {
		writeBody(w, nil, http.StatusNotFound, chatProtocol{}.refusal(refusal{
			kind: "invalid_request_error", msg: fmt.Sprintf("Invalid URL (%s %s)", r.Method, r.URL.Path),
		}))
		return
	}
	if r.Method != http.MethodPost {
		writeBody(w, nil, http.StatusMethodNotAllowed, p.refusal(refusal{
			kind: "invalid_request_error", msg: "Not allowed to " + r.Method + " on " + r.URL.Path + ".",
		}))
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client left while it was speaking
	}
	s.answer(ctx, w, r, p, body)
}

func (s *Server) listModels(w http.ResponseWriter) {
	var data, names []any
	for _, name := range s.models() {
		data = append(data, o("id", name, "object", "model", "type", "model", "display_name", name, "created", 0, "owned_by", "modeltest"))
		names = append(names, o("name", "models/"+name))
	}
	writeBody(w, nil, http.StatusOK, encode(o("object", "list", "data", data, "has_more", false, "models", names)))
}

// answer checks a request, records it and plays the reply that is its turn.
func (s *Server) answer(ctx context.Context, w http.ResponseWriter, r *http.Request, p protocol, body []byte) {
	req := &Request{Mode: p.mode(), Header: r.Header.Clone(), Body: body, done: make(chan struct{})}
	req.Conn, _ = r.Context().Value(connNumber{}).(int)
	defer close(req.done)
	c := &checker{srv: s, req: req, dots: p.mode() == model.AnthropicMessages, google: p.mode() == model.GeminiGenerate}
	s.number(req)
	refused := c.header(r.Header)
	if refused == nil {
		refused = c.body(p)
	}
	var reply Reply
	if refused == nil {
		reply, refused = s.choose(c)
	}
	s.record(req)
	pl := &player{w: w, ctx: ctx, stream: req.Stream}
	if refused != nil {
		writeBody(w, nil, refused.status, p.refusal(*refused))
		return
	}
	pl.play(s, p, req, &reply)
	req.left = r.Context().Err() != nil && s.base.Err() == nil
}

func (s *Server) number(req *Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	req.Number = len(s.requests)
}

func (s *Server) record(req *Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, req.Faults...)
}

// choose finds the reply to a request without faults.
func (s *Server) choose(c *checker) (Reply, *refusal) {
	st := s.scripts[c.req.Model]
	if st == nil {
		st = s.scripts[""]
	}
	if st == nil {
		c.fault("model", "model_not_found", "The model `%s` does not exist or you do not have access to it.", c.req.Model)
		f := c.first()
		f.status = http.StatusNotFound
		if c.dots {
			f.kind = "not_found_error"
		}
		return Reply{}, f
	}
	reply, ok := st.choose(c.req)
	if !ok {
		c.fault("", "", "The script for model %q has no reply to request %d, which has %d assistant messages.", c.req.Model, c.req.Number, c.req.Assistants())
		f := c.first()
		f.status, f.kind = http.StatusInternalServerError, "api_error"
		return Reply{}, f
	}
	return reply, nil
}

// header checks what the header must say.
func (c *checker) header(h http.Header) *refusal {
	if want := c.srv.opts.Key; want != "" {
		key := strings.TrimPrefix(h.Get("Authorization"), "Bearer ")
		if c.dots && h.Get("X-Api-Key") != "" {
			key = h.Get("X-Api-Key")
		}
		if c.google {
			key = h.Get("X-Goog-Api-Key")
		}
		if key != want && c.google {
			return c.geminiKey(key)
		}
		if key != want {
			return c.unauthorised(key)
		}
	}
	if c.dots && h.Get("Anthropic-Version") == "" {
		c.fault("anthropic-version", "", "anthropic-version: header is required")
	}
	if t, _, _ := strings.Cut(h.Get("Content-Type"), ";"); strings.TrimSpace(t) != "application/json" {
		c.fault("content-type", "unsupported_content_type", "Unsupported content type: '%s'. This API method only accepts 'application/json' requests, but you specified the header 'Content-Type: %s'.", t, h.Get("Content-Type"))
	}
	return c.first()
}

// unauthorised refuses a key, and does not repeat it.
func (c *checker) unauthorised(key string) *refusal {
	msg := "Incorrect API key provided."
	switch {
	case c.dots && key == "":
		msg = "x-api-key header is required"
	case c.dots:
		msg = "invalid x-api-key"
	case key == "":
		msg = "You didn't provide an API key."
	}
	c.fault("header", "invalid_api_key", "%s", msg)
	f := c.first()
	f.status = http.StatusUnauthorized
	if c.dots {
		f.kind = "authentication_error"
	}
	return f
}

// body checks the body by the protocol's rules.
func (c *checker) body(p protocol) *refusal {
	if v := jsontext.Value(c.req.Body); !v.IsValid() || v.Kind() != '{' {
		c.fault("body", "", "We could not parse the JSON body of your request.")
		return c.first()
	}
	p.check(c, node{c: c, v: c.req.Body})
	return c.first()
}

// first is the refusal for the first fault; nil for none.
func (c *checker) first() *refusal {
	if len(c.req.Faults) == 0 {
		return nil
	}
	f := c.req.Faults[0]
	return &refusal{status: http.StatusBadRequest, kind: "invalid_request_error", code: f.Code, param: f.Path, msg: f.Message}
}

func writeBody(w http.ResponseWriter, h http.Header, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	for name, values := range h {
		w.Header()[name] = values
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // it fails only if the client is gone
}
