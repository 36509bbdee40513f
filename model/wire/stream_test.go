package wire

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/model"
)

func TestOneConnectionServesAWholeRun(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		stream(w, "a", "b", "[DONE]", "after the end")
	}))
	var connections atomic.Int32
	s.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	o := &Options{HTTP: NewHTTPClient()}
	defer o.HTTP.CloseIdleConnections()
	for range 5 {
		got := collect(t, o.Stream(background, exchange(s.URL)))
		if got.err != nil || got.text != "ab" || got.reply.Message.Text() != "ab" {
			t.Fatalf("got %+v", got)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestRequestAsSent(t *testing.T) {
	var keys []string
	o, x := server(t, func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil || string(b) != `{"a":1}` || r.ContentLength != 7 || r.Method != http.MethodPost {
			t.Errorf("%s with length %d: %q, %v", r.Method, r.ContentLength, b, err)
		}
		if r.Header.Get("Content-Type") != "application/json" || r.Header.Get("X-More") != "1" ||
			r.Header.Get("Accept") != "text/event-stream" || r.Header.Values("X-Idempotency-Key") != nil {
			t.Errorf("header %v", r.Header)
		}
		keys = append(keys, r.Header.Get("X-Api-Key"))
		stream(w, "[DONE]")
	})
	x.Header = http.Header{"X-More": {"1"}}
	for _, key := range []string{"", "k1", "k2"} { // keys are asked for each time
		o.Keys = model.StaticKey(key)
		collect(t, o.Stream(background, x))
	}
	if strings.Join(keys, ",") != ",k1,k2" {
		t.Errorf("keys %q", keys)
	}
}

type noKey struct{}

func (noKey) Key(context.Context) (string, error) { return "", errors.New("the helper failed") }

func TestKeyThatCannotBeHadIsAnAuthError(t *testing.T) {
	o, x := server(t, func(http.ResponseWriter, *http.Request) { t.Error("asked without a key") })
	o.Keys = noKey{}
	e := modelError(t, collect(t, o.Stream(background, x)).err)
	if e.Class != model.Auth || e.Op != "stream reply" || e.Provider != "test" || !strings.Contains(e.Error(), "the helper failed") {
		t.Errorf("got %v", e)
	}
}

func TestReplyFormIsToldByItsBytes(t *testing.T) {
	const sse, json = "data: a\n\ndata: [DONE]\n\n", `{"x":1}`
	for _, c := range []struct{ contentType, body, want string }{
		{"text/event-stream", sse, "a"},
		{"text/event-stream; charset=utf-8", "\n\n  data: a\n\ndata: [DONE]", "a"},
		{"application/json", sse, "a"},
		{"", "\ufeff" + sse, "a"},
		{"application/json", ": hello\n\n" + sse, "a"},
		{"application/json", json, "whole " + json},
		{"text/event-stream", "\n   \n" + json, "whole " + json},
		{"text/plain", "event horizon", "whole event horizon"},
		{"text/html", "<html>", "whole <html>"},
		{"", "", "whole "},
	} {
		for _, asked := range []bool{true, false} {
			o, x := server(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.contentType)
				_, _ = io.WriteString(w, c.body)
			})
			x.Stream = asked
			if got := collect(t, o.Stream(background, x)); got.err != nil || got.text != c.want {
				t.Errorf("%s %q: got %q, %v", c.contentType, c.body, got.text, got.err)
			}
		}
	}
}

func TestCompressedReplies(t *testing.T) {
	var zipped bytes.Buffer
	zw := gzip.NewWriter(&zipped)
	_, _ = zw.Write([]byte("data: a\n\ndata: [DONE]\n\n"))
	_ = zw.Close()
	for _, encoding := range []string{"gzip", "x-gzip", "GZIP", ""} {
		h := http.Header{"Content-Encoding": {encoding}, "Content-Type": {"text/event-stream"}}
		got := collect(t, Decode(profile, "decode", time.Time{}, Response{Header: h, Body: bytes.NewReader(zipped.Bytes())}, &lines{}))
		if got.err != nil || got.text != "a" {
			t.Errorf("%q: %q, %v", encoding, got.text, got.err)
		}
	}
	cut := bytes.NewReader(zipped.Bytes()[:14])
	if e := modelError(t, collect(t, Decode(profile, "decode", time.Time{}, Response{Body: cut}, &lines{})).err); e.Class != model.StreamTruncated {
		t.Errorf("cut: %v", e)
	}
	h := http.Header{"Content-Encoding": {"br"}}
	if e := modelError(t, collect(t, Decode(profile, "decode", time.Time{}, Response{Header: h, Body: strings.NewReader("xyz")}, &lines{})).err); !strings.Contains(e.Error(), "br") {
		t.Errorf("br: %v", e)
	}
}

func TestRefusedConnectionIsClassified(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String() + "/?key=secret"
	_ = l.Close()
	o := &Options{HTTP: NewHTTPClient()}
	e := modelError(t, collect(t, o.Stream(background, exchange(url))).err)
	if e.Status != 0 || strings.Contains(e.Error(), "secret") || !strings.Contains(e.Error(), "connection refused") {
		t.Errorf("got %v", e)
	}
}

func TestAddressThatCannotBeUsed(t *testing.T) {
	o := &Options{}
	e := modelError(t, collect(t, o.Stream(background, exchange("http://user:secret@bad host/"))).err)
	if e.Class != model.InvalidRequest || strings.Contains(e.Error(), "secret") {
		t.Errorf("got %v", e)
	}
}

func TestLocalHostsAreGivenMoreTime(t *testing.T) {
	for url, want := range map[string]time.Duration{
		"http://127.0.0.1:11434/v1": localWait, "http://[::1]/": localWait, "http://localhost/": localWait,
		"http://192.168.1.5/": localWait, "http://box.local/": localWait,
		"https://api.example.com/v1": defaultIdle, "https://10.example.com/": defaultIdle,
	} {
		x := exchange(url)
		if idle, _ := new(Options).timeouts(&x); idle != want {
			t.Errorf("%s: %v, want %v", url, idle, want)
		}
	}
}

func TestClosedConnectionIsNotTakenForAFailure(t *testing.T) {
	var calls atomic.Int32
	o, x := server(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		if calls.Add(1) == 2 { // on the connection kept from the first call
			panic(http.ErrAbortHandler)
		}
		stream(w, "a", "[DONE]")
	})
	for range 2 {
		if got := collect(t, o.Stream(background, x)); got.err != nil || got.text != "a" {
			t.Fatalf("got %+v", got)
		}
	}
	if n := calls.Load(); n != 3 {
		t.Errorf("the server was asked %d times", n)
	}
}
