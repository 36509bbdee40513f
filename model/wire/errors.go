package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/rondo-engine/rondo/internal/sse"
	"github.com/rondo-engine/rondo/model"
)

// fail yields err as the last of the stream, completed with what the call
// knows, or the error of the context when that is over.
func (c *call) fail(err error) {
	if cancelled := c.ctx.Err(); cancelled != nil {
		err = cancelled
	}
	if e, ok := err.(*model.Error); ok {
		if e.Op == "" {
			e.Op = c.op
		}
		if e.Provider == "" && e.Model == "" {
			e.Provider, e.Model = c.profile.Provider, c.profile.Model
		}
		e.HideKey(c.key)
	}
	c.gone = true
	c.yield(model.Delta{}, err)
}

func (c *call) failure() model.Failure {
	return model.Failure{Op: c.op, Provider: c.profile.Provider, Model: c.profile.Model, Now: c.now()}
}

// silence returns why the watch ended the exchange, or nil.
func (c *call) silence() *silence {
	if c.watch == nil {
		return nil
	}
	s, _ := errors.AsType[*silence](context.Cause(c.watch.ctx))
	return s
}

// statusError is what a reply that is no success means.
func (c *call) statusError(r Response) error {
	if r.Status >= 300 && r.Status < 400 {
		return c.redirected(r)
	}
	f := c.failure()
	f.Status, f.Header = r.Status, r.Header
	src, err := expand(r.Header.Get("Content-Encoding"), r.Body)
	if err == nil {
		f.Body, err = io.ReadAll(io.LimitReader(src, maxErrorBody))
	}
	if err != nil && len(f.Body) == 0 {
		f.Err = fmt.Errorf("read the provider's error: %w", err)
	}
	f.Body = unframe(f.Body)
	return model.Classify(f)
}

func (c *call) redirected(r Response) error {
	where := "elsewhere"
	if u, err := url.Parse(r.Header.Get("Location")); err == nil && u.Host != "" {
		where = "to " + u.Host
	}
	e := invalid(fmt.Errorf("%s: the endpoint redirects %s, where the key is not sent: set the base URL to where it should go",
		http.StatusText(r.Status), where))
	e.Status = r.Status
	return e
}

// unframe takes an error object out of an event stream.
func unframe(body []byte) []byte {
	r := sse.NewReader(bytes.NewReader(body))
	defer r.Close()
	e, err := r.Next()
	if err != nil {
		return body
	}
	return append([]byte(nil), e.Data...)
}

// cutError is what it means that the reply is not whole: err, unless the body
// could not be read to its end.
func (c *call) cutError(err error) error {
	if c.cut == nil {
		return err
	}
	e := &model.Error{
		Class: model.StreamTruncated, Status: http.StatusOK, RetryAfter: -1,
		Err: fmt.Errorf("the reply broke off: %w", c.cut),
	}
	if s := c.silence(); s != nil {
		e.Class, e.Err = model.Timeout, s
	}
	if end, ok := errors.AsType[*model.Error](err); ok {
		e.Partial = end.Partial
	}
	return e
}
