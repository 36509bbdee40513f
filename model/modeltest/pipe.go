package modeltest

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// NewPipe runs a server in memory and returns a client whose connections all
// lead to it, whatever the host. No socket is involved, so that it works within
// the bubble of testing/synctest; both must be made and closed in the bubble
// then. Close ends the client's idle connections too.
func NewPipe(opts Options) (*Server, *http.Client) {
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	transport := &http.Transport{DialContext: l.dial}
	s := New(opts)
	s.idle = transport.CloseIdleConnections
	s.serve(l, "http://modeltest.invalid")
	return s, &http.Client{Transport: transport}
}

type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Addr: l.Addr(), Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "modeltest" }
