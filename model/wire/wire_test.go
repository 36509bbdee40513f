package wire

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var profile = &model.Profile{Provider: "test", Model: "m"}

// lines is a decoder whose every event is a piece of text, until [DONE]; the
// event [FINISH] makes the reply whole, [ERROR] is the provider's error.
type lines struct {
	text     strings.Builder
	finished bool
}

func (d *lines) Event(_ string, data []byte, yield func(model.Delta) bool) (bool, error) {
	switch s := string(data); s {
	case "[DONE]":
		d.finished = true
		return true, nil
	case "[FINISH]":
		d.finished = true
	case "[ERROR]":
		return false, model.Classify(model.Failure{Status: 200, Body: data})
	case `{"type":"ping"}`:
	default:
		d.text.WriteString(s)
		yield(model.Delta{Kind: model.DeltaText, Text: s})
	}
	return false, nil
}

func (d *lines) Whole(body []byte, yield func(model.Delta) bool) error {
	d.finished = true
	d.text.WriteString("whole " + string(body))
	yield(model.Delta{Kind: model.DeltaText, Text: d.text.String()})
	return nil
}

func (d *lines) Finished() bool { return d.finished }

func (d *lines) End() (*model.Reply, error) {
	r := &model.Reply{Message: message.NewAssistant(message.Text(d.text.String())), Finish: model.FinishStop}
	if !d.finished {
		return nil, &model.Error{Class: model.StreamTruncated, Partial: r, Err: errors.New("no end")}
	}
	return r, nil
}

// outcome is what a stream came to.
type outcome struct {
	text  string // of the deltas
	reply *model.Reply
	err   error
}

// collect reads a stream and checks that exactly one terminal value ends it.
func collect(t *testing.T, seq func(func(model.Delta, error) bool)) outcome {
	t.Helper()
	var o outcome
	ends := 0
	for d, err := range seq {
		switch {
		case ends > 0:
			t.Errorf("after the end came %v, %v", d, err)
		case err != nil:
			ends++
			o.err = err
		case d.Kind == model.DeltaDone:
			ends++
			o.reply = d.Reply
		default:
			o.text += d.Text
		}
	}
	if ends != 1 {
		t.Errorf("%d terminal values", ends)
	}
	return o
}

// server answers with h; the options reach it with a client of their own.
func server(t *testing.T, h http.HandlerFunc) (*Options, Exchange) {
	t.Helper()
	s := httptest.NewServer(h)
	client := NewHTTPClient()
	t.Cleanup(func() {
		client.CloseIdleConnections()
		s.Close()
	})
	return &Options{HTTP: client}, exchange(s.URL + "/v1/call")
}

func exchange(url string) Exchange {
	return Exchange{
		Op: "stream reply", Profile: profile, URL: url, Stream: true,
		Auth:    func(h http.Header, key string) { h.Set("X-Api-Key", key) },
		Body:    [][]byte{[]byte(`{"a":`), nil, []byte(`1}`)},
		Decoder: func() Decoder { return &lines{} },
	}
}

func stream(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		_, _ = w.Write([]byte("data: " + e + "\n\n"))
		_ = http.NewResponseController(w).Flush()
	}
}

func modelError(t *testing.T, err error) *model.Error {
	t.Helper()
	e, ok := errors.AsType[*model.Error](err)
	if !ok {
		t.Fatalf("%v is no *model.Error", err)
	}
	return e
}

var background = context.Background()
