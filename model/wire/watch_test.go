package wire

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-engine/rondo/model"
)

// pacer is a transport whose replies are written by a function, in the fake
// time of a test.
type pacer func(w io.Writer)

func (p pacer) RoundTrip(req *http.Request) (*http.Response, error) {
	r, w := io.Pipe()
	context.AfterFunc(req.Context(), func() { _ = w.CloseWithError(req.Context().Err()) })
	go p(w)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: r, Request: req,
	}, nil
}

func say(w io.Writer, s string) { _, _ = io.WriteString(w, s) }

func TestSilence(t *testing.T) {
	for _, c := range []struct {
		name  string
		pace  pacer
		plain bool // not asked for as a stream
		slow  time.Duration
		want  time.Duration
		class model.Class
		says  string
	}{
		{
			name: "not a byte", pace: func(io.Writer) {},
			want: 120 * time.Second, class: model.Timeout, says: "not a byte from the provider for 2m0s",
		},
		{
			name: "not a byte of a reply in one piece", pace: func(io.Writer) {}, plain: true,
			want: 300 * time.Second, class: model.Timeout, says: "not a byte",
		},
		{
			name: "silent after some", pace: func(w io.Writer) {
				time.Sleep(100 * time.Second)
				say(w, "data: a\n\n")
			},
			want: 220 * time.Second, class: model.Timeout, says: "not a byte",
		},
		{
			name: "comments only", pace: func(w io.Writer) {
				for range 100 {
					say(w, ": working\n\n")
					time.Sleep(10 * time.Second)
				}
			},
			want: 300 * time.Second, class: model.Timeout, says: "no data from the provider for 5m0s",
		},
		{
			name: "pings only", pace: func(w io.Writer) {
				for range 100 {
					say(w, "data: {\"type\":\"ping\"}\n\n")
					time.Sleep(10 * time.Second)
				}
			},
			want: 300 * time.Second, class: model.Timeout, says: "no data",
		},
		{
			name: "slow but steady", pace: func(w io.Writer) {
				for range 20 {
					say(w, ": working\n\n")
					time.Sleep(110 * time.Second)
					say(w, "data: a\n\n")
				}
				say(w, "data: [DONE]\n\n")
			},
			want: 2200*time.Second + drainTime,
		},
		{
			name: "a slow reader is not the provider's silence", slow: 200 * time.Second,
			pace: func(w io.Writer) { say(w, "data: a\n\ndata: b\n\n"); say(w, "data: c\n\ndata: [DONE]\n\n") },
			want: 600*time.Second + drainTime,
		},
		{
			name: "nothing after the reply is whole", pace: func(w io.Writer) { say(w, "data: a\n\ndata: [FINISH]\n\n") },
			want: tailTime,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				x := exchange("https://api.example.com/v1")
				x.Stream = !c.plain
				o := &Options{HTTP: &http.Client{Transport: c.pace}}
				got := collect(t, func(yield func(model.Delta, error) bool) {
					for d, err := range o.Stream(background, x) {
						if d.Kind == model.DeltaText {
							time.Sleep(c.slow)
						}
						if !yield(d, err) {
							return
						}
					}
				})
				if took := time.Since(begun); took != c.want {
					t.Errorf("took %v, want %v", took, c.want)
				}
				if model.ClassOf(got.err) != c.class {
					t.Errorf("got %v, want class %q", got.err, c.class)
				}
				if c.says != "" && !strings.Contains(got.err.Error(), c.says) {
					t.Errorf("got %v, want %q", got.err, c.says)
				}
				time.Sleep(time.Hour) // let the reply's writer come to its end
			})
		})
	}
}
