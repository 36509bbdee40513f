package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/rondo-engine/rondo/model"
)

// Exchange is one request and how to read its reply.
type Exchange struct {
	// Op says what is being done, for errors.
	Op      string
	Profile *model.Profile
	URL     string
	// Header is sent as it is, besides what Auth sets; it is not changed.
	Header http.Header
	// Auth sets the header that carries the key. It is called only when there
	// is a key.
	Auth func(h http.Header, key string)
	// Body holds the pieces of the body, which are sent one after the other
	// without being copied together.
	Body [][]byte
	// Stream tells that a streamed reply was asked for.
	Stream bool
	// Decoder makes the decoder of the reply.
	Decoder func() Decoder
	// key is what was sent as the key.
	key string
}

const (
	// drainTime and drainSize bound how long and far a body is read on after
	// its reply is whole, so that its connection serves the next request. A
	// provider that has not ended the body by then costs more to wait for
	// than a new connection.
	drainTime = 100 * time.Millisecond
	drainSize = 64 << 10
)

// Stream sends the request of x and yields what comes back, as
// model.Model.Stream promises it. The request is sent when the iteration
// begins, once; no goroutine and no buffer of it is left when the iteration
// ends.
func (o *Options) Stream(ctx context.Context, x Exchange) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		idle, data := o.timeouts(&x)
		w := newWatch(ctx, idle, data)
		defer w.stop()
		c := &call{ctx: ctx, watch: w, op: x.Op, profile: x.Profile, now: o.now, yield: yield}
		resp, err := o.send(w, &x)
		c.key = x.key
		if err != nil {
			c.fail(c.sendError(err))
			return
		}
		defer resp.Body.Close()
		src := w.reader(resp.Body)
		if c.read(Response{Status: resp.StatusCode, Header: resp.Header, Body: src}, x.Decoder()) && !src.eof {
			w.drain(resp.Body)
		}
	}
}

// send sends the request and waits for the header of the reply.
func (o *Options) send(w *watch, x *Exchange) (*http.Response, error) {
	req, err := http.NewRequestWithContext(w.ctx, http.MethodPost, x.URL, &body{pieces: x.Body})
	if err != nil {
		return nil, invalid(fmt.Errorf("the endpoint's address cannot be used: %w", withoutURL(err)))
	}
	req.ContentLength = size(x.Body)
	req.GetBody = func() (io.ReadCloser, error) { return &body{pieces: x.Body}, nil }
	if req.Header, err = o.header(w.ctx, x); err != nil {
		return nil, err
	}
	w.begin()
	defer w.end()
	return do(o.client(), req)
}

// do sends the request. What a client does around its transport, such as to keep
// the header for redirects, is left to requests that need it.
func do(c *http.Client, req *http.Request) (*http.Response, error) {
	if c.Transport == nil || c.Jar != nil || c.Timeout != 0 || req.URL.User != nil {
		return c.Do(req)
	}
	resp, err := c.Transport.RoundTrip(req)
	if err != nil || resp.StatusCode < 300 || resp.StatusCode > 399 {
		return resp, err
	}
	if err := resp.Body.Close(); err != nil {
		return nil, err
	}
	if req.Body, err = req.GetBody(); err != nil {
		return nil, err
	}
	return c.Do(req)
}

func (o *Options) header(ctx context.Context, x *Exchange) (http.Header, error) {
	h := x.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	accept := "application/json"
	if x.Stream {
		accept = "text/event-stream"
	}
	setDefault(h, "Accept", accept)
	setDefault(h, "Content-Type", "application/json")
	setDefault(h, "User-Agent", "rondo")
	// With this, and nothing of it on the wire, net/http sends a request again
	// when a kept connection turns out to be closed: no model call has effects.
	h["X-Idempotency-Key"] = nil
	if o.Keys == nil || x.Auth == nil {
		return h, nil
	}
	key, err := o.Keys.Key(ctx)
	if err != nil {
		return nil, &model.Error{Class: model.Auth, RetryAfter: -1, Err: fmt.Errorf("get the key: %w", err)}
	}
	if key != "" {
		x.Auth(h, key)
	}
	x.key = key
	return h, nil
}

func setDefault(h http.Header, name, value string) {
	if h.Get(name) == "" {
		h.Set(name, value)
	}
}

// drain reads r to its end, unless that is far off.
func (w *watch) drain(r io.Reader) {
	w.rest()
	limit := time.AfterFunc(drainTime, func() { w.cancel(nil) })
	defer limit.Stop()
	// An error here takes nothing from the reply: it costs the connection only.
	_, _ = io.CopyN(io.Discard, r, drainSize)
}

// sendError is what err, met before there was a reply, means.
func (c *call) sendError(err error) error {
	if e, ok := errors.AsType[*model.Error](err); ok {
		return e
	}
	if s := c.silence(); s != nil {
		return &model.Error{Class: model.Timeout, RetryAfter: -1, Err: s}
	}
	f := c.failure()
	f.Err = withoutURL(err)
	return model.Classify(f)
}

// withoutURL takes off what net/http and net/url wrap around an error: the
// address may hold a secret.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

func invalid(err error) *model.Error {
	return &model.Error{Class: model.InvalidRequest, RetryAfter: -1, Err: err}
}
