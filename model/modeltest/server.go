package modeltest

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rondo-engine/rondo/model"
)

// Options say how a server behaves. The zero value is a server without a
// script, which refuses everything.
type Options struct {
	// Scripts are what it says, one for each model; see Script.
	Scripts []Script
	// Key is the key that requests must show; empty takes any and none.
	Key string
	// Secret seals signatures and encrypted reasoning. Servers with the same
	// secret accept what each other issued.
	Secret string
	// MistralIDs wants tool call ids of nine letters and digits in
	// chat_completions, and makes such ids.
	MistralIDs bool
	// ChatCacheMarks accepts cache_control in chat_completions, as OpenRouter
	// does for Claude.
	ChatCacheMarks bool
	// ChatToolImages accepts images in tool results of chat_completions.
	ChatToolImages bool
	// Extra are members that requests may have at their root besides those of
	// the protocol.
	Extra []string
}

// Server answers requests from scripts. Its methods are safe for concurrent use.
type Server struct {
	opts    Options
	scripts map[string]*scriptState
	base    context.Context
	stop    context.CancelFunc
	pending sync.WaitGroup
	serving sync.WaitGroup
	http    *http.Server
	url     string
	idle    func()

	mu         sync.Mutex
	closed     bool
	conns      int
	serial     int
	requests   []*Request
	faults     []Fault
	responses  map[string]*storedResponse
	reasonings map[string]string // Responses: the models of stored reasoning items, by id
	itemAfter  map[string]string // Responses: the reasoning item that an item follows, by id
	caches     map[string]*promptCache
	thoughts   map[string]bool // seals of reasoning: of chat_completions, of signed calls of Gemini
}

// New makes a server that does not listen: it is used as an http.Handler. Close
// ends what it is doing.
func New(opts Options) *Server {
	s := &Server{
		opts: opts, scripts: map[string]*scriptState{},
		responses: map[string]*storedResponse{}, itemAfter: map[string]string{},
		reasonings: map[string]string{},
		caches:     map[string]*promptCache{}, thoughts: map[string]bool{},
	}
	s.base, s.stop = context.WithCancel(context.Background())
	for i := range opts.Scripts {
		s.scripts[opts.Scripts[i].Model] = newScriptState(&opts.Scripts[i])
	}
	return s
}

// Start runs a server on a free port of the loopback interface. Close ends it.
func Start(opts Options) (*Server, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start scripted model server on loopback: %w", err)
	}
	s := New(opts)
	s.serve(l, "http://"+l.Addr().String())
	return s, nil
}

type connNumber struct{}

func (s *Server) serve(l net.Listener, url string) {
	s.url = url
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: time.Minute,
		BaseContext: func(net.Listener) context.Context { return s.base },
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.conns++
			return context.WithValue(ctx, connNumber{}, s.conns)
		},
	}
	s.serving.Go(func() { _ = s.http.Serve(l) }) // it ends with ErrServerClosed, when Close says so
}

// URL returns the server's root, without a slash at its end; empty for a server
// that does not listen.
func (s *Server) URL() string { return s.url }

// BaseURL returns what model.Profile.BaseURL must be for a mode.
func (s *Server) BaseURL(mode model.Mode) string {
	switch mode {
	case model.AnthropicMessages:
		return s.url
	case model.GeminiGenerate:
		return s.url + "/v1beta"
	}
	return s.url + "/v1"
}

// Requests returns the requests that have come so far, in order, also those
// that were refused. They are kept until Close.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Faults returns what was wrong with requests so far; nil for nothing.
func (s *Server) Faults() []Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.faults)
}

// Conns returns how many connections were made to the server so far.
func (s *Server) Conns() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns
}

// Close ends the server and all that it is doing, and waits until it has ended.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.pending.Wait()
	if s.http == nil {
		return
	}
	_ = s.http.Close() // the listener's own error matters to nobody any more
	s.serving.Wait()
	if s.idle != nil {
		s.idle()
	}
}

// enter counts a request in, unless the server is being closed.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.pending.Add(1)
	}
	return !s.closed
}

// models returns the names of the scripts in order.
func (s *Server) models() []string {
	var names []string
	for name := range s.scripts {
		names = append(names, cmp.Or(name, "scripted"))
	}
	slices.SortFunc(names, strings.Compare)
	return names
}
