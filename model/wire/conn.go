package wire

import (
	"context"
	"io"
	"net"
)

// dialPlain makes dial's TCP connections take a request's body in one system
// call and without a copy. Without it net/http moves the body through a new
// buffer of 32 KiB for each request.
func dialPlain(dial func(ctx context.Context, network, addr string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if tcp, ok := c.(*net.TCPConn); ok && err == nil {
			return &plainConn{tcp}, nil
		}
		return c, err
	}
}

// plainConn is a TCP connection that knows how to send a body of pieces.
type plainConn struct{ *net.TCPConn }

// ReadFrom sends what r has. net/http calls it with the rest of a request's
// body, limited to the announced length.
func (c *plainConn) ReadFrom(r io.Reader) (int64, error) {
	limited, ok := r.(*io.LimitedReader)
	if !ok {
		return c.TCPConn.ReadFrom(r)
	}
	b, ok := limited.R.(*body)
	if !ok {
		return c.TCPConn.ReadFrom(r)
	}
	buffers := net.Buffers(b.take(limited.N))
	n, err := buffers.WriteTo(c.TCPConn)
	limited.N -= n
	return n, err
}
