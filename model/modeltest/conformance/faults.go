package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
)

func (c *setup) parse(t *testing.T, script string) {
	t.Helper()
	scripts, err := modeltest.Parse("script", script)
	if err != nil {
		t.Fatal(err)
	}
	c.opts.Scripts = scripts
}

// refusals tests that errors are told apart by status and words.
func (s *suite) refusals() {
	tests := []struct {
		status  int
		message string
		want    []model.Class
	}{
		{400, "Unknown parameter: 'foo'.", classes(model.InvalidRequest)},
		{400, "prompt is too long: 210000 tokens > 200000 maximum", classes(model.ContextOverflow)},
		{401, "invalid x-api-key", classes(model.Auth)},
		{403, "This key may not use this model.", classes(model.Auth)},
		{402, "Insufficient credits.", classes(model.Billing)},
		{404, "The model `model-1` does not exist.", classes(model.ModelNotFound)},
		{413, "Request too large.", classes(model.ContextOverflow)},
		{429, "Rate limit reached.", classes(model.RateLimit)},
		{500, "Internal server error", classes(model.ServerError)},
		{502, "Bad gateway", classes(model.ServerError, model.Overloaded)},
		{503, "Service unavailable", classes(model.Overloaded, model.ServerError)},
		{504, "Gateway timeout", classes(model.Timeout, model.ServerError, model.Overloaded)},
		{529, "Overloaded", classes(model.Overloaded)},
	}
	for _, tt := range tests {
		for _, whole := range []bool{false, true} {
			s.with(fmt.Sprintf("status %d %.12s whole=%v", tt.status, tt.message, whole), func(c *setup) {
				c.opts.Scripts = one(modeltest.Fail(tt.status, tt.message))
			}, func(e *env) {
				req := e.hello()
				req.NoStream = whole
				err, _ := e.failure(req)
				if !slices.Contains(tt.want, err.Class) {
					e.Errorf("class %q, want one of %q: %v", err.Class, tt.want, err)
				}
				if err.Status != tt.status || err.Provider != "scripted" || err.Model != "model-1" {
					e.Errorf("the error tells %d, %q, %q", err.Status, err.Provider, err.Model)
				}
				if n := len(e.srv.Requests()); n != 1 {
					e.Errorf("an adapter sends a request once, not %d times", n)
				}
			})
		}
	}
	s.key()
	s.retryAfter()
}

// key tests what comes of a wrong key.
func (s *suite) key() {
	s.with("a key that is refused is not told", func(c *setup) { c.opts.Key = "another" }, func(e *env) {
		err, _ := e.failure(e.hello())
		if err.Class != model.Auth {
			e.Errorf("class %q, want auth", err.Class)
		}
		if strings.Contains(err.Error(), Key) {
			e.Errorf("the key stands in the error: %v", err)
		}
		if f := e.srv.Faults(); len(f) != 1 || f[0].Code != "invalid_api_key" {
			e.Errorf("faults %v, want the key alone", f)
		}
		e.faulty = true
	})
}

func classes(c ...model.Class) []model.Class { return c }

// one is a script with one reply for ever.
func one(r modeltest.Reply) []modeltest.Script {
	r.Times = -1
	return []modeltest.Script{{Replies: []modeltest.Reply{r}}}
}

func (s *suite) retryAfter() {
	tests := []struct {
		name, header string
		value        func() string
		want         time.Duration
	}{
		{"seconds", "Retry-After", func() string { return "7" }, 7 * time.Second},
		{"zero", "Retry-After", func() string { return "0" }, 0},
		{"date", "Retry-After", func() string { return time.Now().Add(9 * time.Second).UTC().Format(http.TimeFormat) }, 9 * time.Second},
		{"milliseconds", "Retry-After-Ms", func() string { return "1500" }, 1500 * time.Millisecond},
		{"nothing", "X-Other", func() string { return "1" }, -1},
	}
	for _, tt := range tests {
		s.with("retry after "+tt.name, func(c *setup) {
			r := modeltest.Fail(429, "Slow down.")
			r.Header = http.Header{tt.header: {tt.value()}}
			c.opts.Scripts = one(r)
		}, func(e *env) {
			err, _ := e.failure(e.hello())
			if err.RetryAfter != tt.want && (tt.want >= 0 || err.RetryAfter >= 0) {
				e.Errorf("retry after %v, want %v", err.RetryAfter, tt.want)
			}
		})
	}
}

// faults tests replies that do not arrive whole.
func (s *suite) faults() {
	tests := []struct {
		name, script string
		want         []model.Class
		partial      string
	}{
		{"a cut stream", "reply\ntext Hel\ncut", classes(model.StreamTruncated), "Hel"},
		{"a cut stream inside of a call", "reply\ntext Hel\nrawcall read_file {\"path\ncut", classes(model.StreamTruncated), "Hel"},
		{"a cut stream before its first event", "reply\ncut", classes(model.StreamTruncated, model.EmptyResponse), ""},
		{"comments and nothing else", "reply\ncomment working\ncomment working\ncut", classes(model.StreamTruncated, model.EmptyResponse), ""},
		{"a reset in the stream", "reply\ntext Hel\nreset", classes(model.StreamTruncated), "Hel"},
		{"a reset before the reply", "reply times forever\nreset", classes(model.Timeout, model.ServerError, model.StreamTruncated), ""},
		{"a stall in the stream", "reply\ntext Hel\nstall", classes(model.Timeout), "Hel"},
		{"a stall before the reply", "reply\nstall", classes(model.Timeout), ""},
		{"garbage in the stream", "reply\ntext Hel\ngarbage {\"a\": <html>\ncut", classes(model.StreamTruncated, model.ServerError), "Hel"},
	}
	for _, tt := range tests {
		s.test(tt.name, tt.script, func(e *env) {
			err, _ := e.failure(e.hello())
			if !slices.Contains(tt.want, err.Class) {
				e.Errorf("class %q, want one of %q: %v", err.Class, tt.want, err)
			}
			e.partial(err, tt.partial)
		})
	}
	for _, script := range []string{"reply\ntext Hello.\ncut", "reply\ntext Hello.\nreset", "reply\ntext Hello.\nstall", "reply\ngarbage <html>oh</html>"} {
		s.test("in one piece: "+script[6:], script, func(e *env) {
			req := e.hello()
			req.NoStream = true
			if err, _ := e.failure(req); !err.Class.Retryable() {
				e.Errorf("class %q, want one that can be tried again", err.Class)
			}
		})
	}
	s.test("comments keep a stream alive", "reply\ncomment a\ndelay 90s\ncomment b\ndelay 90s\ntext Hello.", func(e *env) {
		e.says(e.reply(e.hello()), "Hello.", model.FinishStop)
	})
	s.inStream()
}

// partial wants an error to hold what had arrived.
func (e *env) partial(err *model.Error, text string) {
	e.Helper()
	got := ""
	if err.Partial != nil && err.Partial.Message != nil {
		got = err.Partial.Message.Text()
	}
	if got != text {
		e.Errorf("the error holds the text %q, want %q", got, text)
	}
}

// inStream tests errors that come in a reply whose status is 200.
func (s *suite) inStream() {
	kinds := map[string]model.Class{"server_error": model.ServerError, "rate_limit_exceeded": model.RateLimit}
	if s.mode == model.AnthropicMessages {
		kinds = map[string]model.Class{
			"overloaded_error": model.Overloaded, "api_error": model.ServerError, "rate_limit_error": model.RateLimit,
		}
	}
	for kind, want := range kinds {
		for _, whole := range []bool{false, true} {
			s.test(fmt.Sprintf("%s inside of the reply whole=%v", kind, whole), "reply\ntext Hel\nerror "+kind+" Something failed.", func(e *env) {
				req := e.hello()
				req.NoStream = whole
				err, _ := e.failure(req)
				if err.Class != want {
					e.Errorf("class %q, want %q: %v", err.Class, want, err)
				}
				if !whole {
					e.partial(err, "Hel")
				}
			})
		}
	}
}

// leaving tests that a request ends when nobody wants it any more.
func (s *suite) leaving() {
	const stall = "reply\ntext Hel\nstall"
	s.test("cancel during a stall", stall, func(e *env) {
		ctx, cancel := context.WithTimeout(e.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		var last error
		for d, err := range e.model.Stream(ctx, e.hello()) {
			if d.Kind == model.DeltaDone {
				e.Error("a reply came")
			}
			last = err
		}
		if took := time.Since(start); took != 5*time.Second {
			e.Errorf("it took %v, want 5s", took)
		}
		if !errors.Is(last, context.DeadlineExceeded) {
			e.Errorf("the error is %v, want the context's", last)
		}
		e.gone()
	})
	s.test("cancel before the header", "reply\nstall", func(e *env) {
		ctx, cancel := context.WithCancel(e.Context())
		time.AfterFunc(time.Second, cancel)
		var last error
		for _, err := range e.model.Stream(ctx, e.hello()) {
			last = err
		}
		if !errors.Is(last, context.Canceled) {
			e.Errorf("the error is %v, want the context's", last)
		}
		e.gone()
	})
	s.test("break from the iteration", stall, func(e *env) {
		start := time.Now()
		for d, err := range e.model.Stream(e.Context(), e.hello()) {
			if d.Kind != model.DeltaText || err != nil {
				e.Fatalf("first comes %+v, %v", d, err)
			}
			break
		}
		if took := time.Since(start); took > 100*time.Millisecond {
			e.Errorf("it took %v to leave", took)
		}
		e.gone()
	})
	s.test("nothing is sent before the iteration", "reply\ntext Hi.", func(e *env) {
		_ = e.model.Stream(e.Context(), e.hello())
		synctest.Wait()
		if n := len(e.srv.Requests()); n != 0 {
			e.Errorf("%d requests were sent", n)
		}
	})
}

// gone wants the server to have seen the client leave.
func (e *env) gone() {
	e.Helper()
	synctest.Wait()
	select {
	case <-e.last().Done():
		if !e.last().Left() {
			e.Error("the server did not see the client leave")
		}
	default:
		e.Error("the request is still running at the server")
	}
}
