package wire

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/model"
)

func TestErrorStatusIsClassifiedFromItsBody(t *testing.T) {
	for name, body := range map[string]string{
		"json":      `{"error":{"message":"slow down"}}`,
		"framed":    "event: error\ndata: {\"error\":{\"message\":\"slow down\"}}\n\n",
		"plain":     "slow down",
		"very long": "slow down" + strings.Repeat("x", 2*maxErrorBody),
	} {
		o, x := server(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, body)
		})
		e := modelError(t, collect(t, o.Stream(background, x)).err)
		if e.Class != model.RateLimit || e.Status != 429 || e.Op != "stream reply" || e.Partial != nil ||
			!strings.Contains(e.Error(), "slow down") || strings.Contains(e.Error(), "event:") {
			t.Errorf("%s: %.200v", name, e)
		}
	}
}

func TestKeyIsNotTakenToAnotherHost(t *testing.T) {
	other, x2 := server(t, func(http.ResponseWriter, *http.Request) { t.Error("the other host was asked") })
	_ = other
	o, x := server(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, x2.URL, http.StatusTemporaryRedirect)
	})
	o.Keys = model.StaticKey("k")
	o.HTTP.CheckRedirect = nil
	e := modelError(t, collect(t, o.Stream(background, x)).err)
	if e.Class != model.InvalidRequest || e.Status != 307 || !strings.Contains(e.Error(), "redirects to 127.0.0.1") {
		t.Errorf("got %v", e)
	}
}

func TestErrorsDoNotShowTheKeyWhateverItLooksLike(t *testing.T) {
	const key = "correct horse battery"
	for name, answer := range map[string]http.HandlerFunc{
		"refusal": func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, `{"error":{"message":"who is `+r.Header.Get("X-Api-Key")+`?"}}`, http.StatusUnauthorized)
		},
		"page": func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "<html><title>"+r.Header.Get("X-Api-Key")+"</title></html>", http.StatusBadGateway)
		},
		"stream": func(w http.ResponseWriter, r *http.Request) { stream(w, "!"+r.Header.Get("X-Api-Key")) },
	} {
		o, x := server(t, answer)
		o.Keys = model.StaticKey(key)
		if e := modelError(t, collect(t, o.Stream(background, x)).err); strings.Contains(e.Error(), "horse") {
			t.Errorf("%s: %v", name, e)
		}
	}
}

func TestRedirectWithinTheHostTakesTheBodyAlong(t *testing.T) {
	o, x := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v2" {
			http.Redirect(w, r, "/v2", http.StatusPermanentRedirect)
			return
		}
		b, _ := io.ReadAll(r.Body)
		stream(w, string(b)+r.Header.Get("X-Api-Key"), "[DONE]")
	})
	o.Keys = model.StaticKey("k")
	if got := collect(t, o.Stream(background, x)); got.text != `{"a":1}k` {
		t.Errorf("got %+v", got)
	}
}

func TestCutStreamIsTruncatedWithWhatArrived(t *testing.T) {
	o, x := server(t, func(w http.ResponseWriter, _ *http.Request) {
		stream(w, "a")
		panic(http.ErrAbortHandler)
	})
	got := collect(t, o.Stream(background, x))
	e := modelError(t, got.err)
	if e.Class != model.StreamTruncated || got.text != "a" || e.Partial.Message.Text() != "a" {
		t.Errorf("got %+v", got)
	}
}

func TestCutAfterTheReplyIsWholeCostsNothing(t *testing.T) {
	o, x := server(t, func(w http.ResponseWriter, _ *http.Request) {
		stream(w, "a", "[FINISH]")
		panic(http.ErrAbortHandler)
	})
	if got := collect(t, o.Stream(background, x)); got.err != nil || got.reply.Message.Text() != "a" {
		t.Errorf("got %+v", got)
	}
}

func TestProvidersErrorWithinAStreamEndsIt(t *testing.T) {
	o, x := server(t, func(w http.ResponseWriter, _ *http.Request) { stream(w, "a", "[ERROR]", "b", "[DONE]") })
	got := collect(t, o.Stream(background, x))
	if e := modelError(t, got.err); got.text != "a" || e.Op != "stream reply" || e.Model != "m" {
		t.Errorf("got %+v", got)
	}
}

func TestCancellingYieldsTheContextsErrorAtOnce(t *testing.T) {
	for name, first := range map[string]string{"before the reply": "", "within the reply": "a"} {
		t.Run(name, func(t *testing.T) {
			left := make(chan struct{})
			arrived := make(chan struct{}, 1)
			o, x := server(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.ReadAll(r.Body)
				if first != "" {
					stream(w, first)
				}
				arrived <- struct{}{}
				<-r.Context().Done()
				close(left)
			})
			ctx, cancel := context.WithCancel(background)
			var at time.Time
			go func() {
				<-arrived
				at = time.Now()
				cancel()
			}()
			got := collect(t, o.Stream(ctx, x))
			if took := time.Since(at); got.err != context.Canceled || took > 50*time.Millisecond {
				t.Errorf("%v after %v", got.err, took)
			}
			<-left
		})
	}
}

func TestBreakingOffEndsTheRequest(t *testing.T) {
	left := make(chan struct{})
	o, x := server(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		stream(w, "a", "b")
		<-r.Context().Done()
		close(left)
	})
	for _, err := range o.Stream(background, x) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	<-left
}

func TestSocketHeldOpenAfterTheEndIsNotWaitedFor(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	o, x := server(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		stream(w, "a", "[DONE]")
		<-release
	})
	begun := time.Now()
	got := collect(t, o.Stream(background, x))
	if took := time.Since(begun); got.err != nil || took > 2*time.Second {
		t.Errorf("%v after %v", got.err, took)
	}
}

func TestDeadlineOfTheContext(t *testing.T) {
	o, x := server(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithTimeout(background, 20*time.Millisecond)
	defer cancel()
	if got := collect(t, o.Stream(ctx, x)); !errors.Is(got.err, context.DeadlineExceeded) || model.ClassOf(got.err) != "" {
		t.Errorf("got %v", got.err)
	}
}
