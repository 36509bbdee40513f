package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rondo-engine/rondo/internal/proc"
)

// The pauses before a server that died or cannot be reached is tried again.
const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// quitTime is how long a program may take to end by itself.
const quitTime = 500 * time.Millisecond

// server is one server, running or not.
type server struct {
	name string
	Server
	o     Options
	offer *offer

	mu       sync.Mutex
	session  *sdk.ClientSession // nil while there is none
	cmd      *exec.Cmd
	stderr   *lastBytes
	failures int // to connect, in a row
	again    time.Time
	lastErr  error
	closed   bool
}

// offer is what a server has.
type offer struct {
	Tools     []*sdk.Tool
	Resources []*sdk.Resource
	Templates []*sdk.ResourceTemplate
	Prompts   []*sdk.Prompt
}

var errClosed = errors.New("the servers were closed")

// connected returns the session with the server, and makes one if there is
// none. ctx bounds the making, not the session.
func (s *server) connected(ctx context.Context) (*sdk.ClientSession, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errClosed
	case s.session != nil:
		return s.session, nil
	}
	if wait := time.Until(s.again); wait > 0 {
		return nil, fmt.Errorf("it is down (%w) and is tried again in %v", s.lastErr, wait.Round(time.Second))
	}
	session, err := s.connect(ctx)
	if err != nil {
		s.end()
		err = s.explain(err)
		s.down(err)
		return nil, err
	}
	s.session, s.failures = session, 0
	go s.watch(session)
	return session, nil
}

// down notes a failure; the next try has to wait.
func (s *server) down(err error) {
	s.lastErr = err
	s.again = time.Now().Add(min(firstPause<<min(s.failures, 10), lastPause))
	s.failures++
}

// watch notes when a session ends by itself.
func (s *server) watch(session *sdk.ClientSession) {
	err := session.Wait()
	if err == nil {
		err = errors.New("it ended the connection")
	}
	_ = s.drop(session, err)
}

// drop gives up a session that ended because of err, if it is still the one in
// use, and returns err with what the program said.
func (s *server) drop(session *sdk.ClientSession, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.explain(err)
	if s.session != session {
		return err
	}
	s.session, s.lastErr = nil, err
	s.end()
	go session.Close() //nolint:errcheck // it has ended
	return err
}

// connect starts the program or opens the URL.
func (s *server) connect(ctx context.Context) (*sdk.ClientSession, error) {
	client := sdk.NewClient(&sdk.Implementation{Name: "rondo", Version: s.o.Version},
		&sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}})
	return client.Connect(ctx, s.transport(), nil)
}

func (s *server) transport() sdk.Transport {
	if s.URL != "" {
		return &sdk.StreamableClientTransport{Endpoint: s.URL, HTTPClient: s.client(), DisableStandaloneSSE: true}
	}
	s.cmd = exec.Command(s.Command, s.Args...)
	s.cmd.Dir, s.cmd.Env = s.Dir, environ(s.o.Environ, s.Env)
	s.stderr = new(lastBytes)
	s.cmd.Stderr = s.stderr
	proc.Isolate(s.cmd)
	return &sdk.CommandTransport{Command: s.cmd, TerminateDuration: quitTime}
}

// client sends the headers of the server with each request.
func (s *server) client() *http.Client {
	client := new(http.Client)
	if s.o.HTTP != nil {
		*client = *s.o.HTTP
	}
	if len(s.Headers) > 0 {
		client.Transport = withHeaders{s.Headers, client.Transport}
	}
	return client
}

type withHeaders struct {
	headers map[string]string
	next    http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (h withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h.headers {
		r.Header.Set(name, value)
	}
	if h.next == nil {
		return http.DefaultTransport.RoundTrip(r)
	}
	return h.next.RoundTrip(r)
}

// end ends what is left of the program.
func (s *server) end() {
	if s.cmd != nil {
		proc.EndGroup(s.cmd)
	}
}

// explain adds what the program said last on its standard error.
func (s *server) explain(err error) error {
	if s.stderr == nil {
		return err
	}
	if said := s.stderr.text(); said != "" {
		return fmt.Errorf("%w; it said: %s", err, said)
	}
	return err
}

func (s *server) close() error {
	s.mu.Lock()
	session := s.session
	s.session, s.closed = nil, true
	s.mu.Unlock()
	var err error
	if session != nil {
		err = session.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		err = nil // how the program ends when it is told to is its own affair
	}
	return err
}

// wants reports whether a tool is to be offered.
func (s *server) wants(name string) bool {
	wanted := !slices.ContainsFunc(s.Tools, func(p string) bool { return !strings.HasPrefix(p, "!") })
	for _, p := range s.Tools {
		rest, not := strings.CutPrefix(p, "!")
		if ok, err := path.Match(rest, name); err == nil && ok {
			wanted = !not
		}
	}
	return wanted
}

// open connects to the server and asks what it has.
func (s *server) open(ctx context.Context) (*offer, error) {
	session, err := s.connected(ctx)
	if err != nil {
		return nil, err
	}
	o := new(offer)
	has := session.InitializeResult().Capabilities
	if has == nil {
		return o, nil
	}
	if has.Tools != nil {
		if o.Tools, err = gather(session.Tools(ctx, nil)); err != nil {
			return nil, fmt.Errorf("list its tools: %w", err)
		}
	}
	if has.Resources != nil {
		if o.Resources, err = gather(session.Resources(ctx, nil)); err != nil {
			return nil, fmt.Errorf("list its resources: %w", err)
		}
		o.Templates, _ = gather(session.ResourceTemplates(ctx, nil)) // many servers have none and say so with an error
	}
	if has.Prompts != nil {
		if o.Prompts, err = gather(session.Prompts(ctx, nil)); err != nil {
			return nil, fmt.Errorf("list its prompts: %w", err)
		}
	}
	return o, nil
}
