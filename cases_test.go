package rondo_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/provider"
	"github.com/rondo-engine/rondo/model/resilient"
	"github.com/rondo-engine/rondo/model/wire"
)

// retryCase is what a shared case of the kind retry may hold.
type retryCase struct {
	Kind, API string
	Given     struct {
		Attempts []struct{ Stream, Close string }
		Now      time.Time
		Errors   []struct {
			Name    string
			Status  int
			Headers map[string]string
			Body    json.RawMessage
		}
	}
	Want struct {
		Text       string
		Stored     int      `json:"stored_assistant_messages"`
		EventOrder []string `json:"event_order"`
		// Waits are in milliseconds; null is for a wait of our own.
		Waits   map[string]*float64 `json:"wait_ms"`
		TooLong []string            `json:"no_wait_fail"`
	}
}

func retryCases(t *testing.T) map[string]retryCase {
	t.Helper()
	root := os.Getenv("RONDO_SHARED")
	if root == "" {
		root = filepath.Join("..", "shared")
	}
	files, err := filepath.Glob(filepath.Join(root, "cases", "dev", "*.json"))
	if err != nil || len(files) == 0 {
		t.Skip("no shared/cases beside the repository; RONDO_SHARED names another place")
	}
	cases := map[string]retryCase{}
	for _, file := range files {
		var c retryCase
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if json.Unmarshal(data, &c) == nil && c.Kind == "retry" {
			cases[filepath.Base(file)] = c
		}
	}
	return cases
}

// answers is a transport that gives these answers, one a request.
type answers []func() *http.Response

func (a *answers) RoundTrip(req *http.Request) (*http.Response, error) {
	if len(*a) == 0 {
		return nil, errors.New("there are no more answers")
	}
	r := (*a)[0]()
	*a = (*a)[1:]
	r.Request = req
	return r, nil
}

func answered(status int, header http.Header, body io.Reader) func() *http.Response {
	return func() *http.Response {
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(body)}
	}
}

// answering opens a model that these answers stand behind. Its clock begins at now.
func answering(t *testing.T, mode model.Mode, now time.Time, a answers) model.Model {
	t.Helper()
	began := time.Now()
	m, err := provider.Open(&model.Profile{Provider: "p", Model: "m", Mode: mode, BaseURL: "http://p.invalid/v1", ContextWindow: 100000},
		wire.Options{HTTP: &http.Client{Transport: &a}, Now: func() time.Time { return now.Add(time.Since(began)) }})
	if err != nil {
		t.Fatal(err)
	}
	return resilient.NewRetry(m, resilient.RetryOptions{Env: noJitter})
}

// TestSharedAttempts plays the shared cases that hold one stream for each
// attempt: what was seen of a failed one is taken back, and the last is the
// answer.
func TestSharedAttempts(t *testing.T) {
	for name, c := range retryCases(t) {
		if len(c.Given.Attempts) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var a answers
				for _, attempt := range c.Given.Attempts {
					body := io.Reader(strings.NewReader(attempt.Stream))
					if attempt.Close == "reset" {
						body = io.MultiReader(body, failingReader{})
					}
					a = append(a, answered(200, http.Header{"Content-Type": {"text/event-stream"}}, body))
				}
				mode, err := model.ParseMode(c.API)
				if err != nil {
					t.Fatal(err)
				}
				var order []string
				agent := newAgent(t, rondo.Options{Model: answering(t, mode, time.Now(), a), Listeners: []rondo.Listener{func(e rondo.Event) {
					word := map[rondo.EventType]string{rondo.EventText: "text_delta", rondo.EventReset: "attempt_reset", rondo.EventDone: "done"}[e.Type]
					if word != "" && (len(order) == 0 || order[len(order)-1] != word) {
						order = append(order, word)
					}
				}}})
				res, err := agent.Run(t.Context(), rondo.Request{Text: "go"})
				stored := slices.DeleteFunc(slices.Clone(res.Messages), func(m *message.Message) bool { return m.Role != message.Assistant })
				if err != nil || res.FinalResponse != c.Want.Text || len(stored) != c.Want.Stored || stored[0].Text() != c.Want.Text {
					t.Errorf("got %q, %v, %s", res.FinalResponse, err, shape(res.Messages))
				}
				if diff := cmp.Diff(c.Want.EventOrder, order); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
			})
		})
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errors.New("connection reset by peer") }

// TestSharedWaits holds the waits that runs make against the shared cases that
// name them.
func TestSharedWaits(t *testing.T) {
	for name, c := range retryCases(t) {
		if c.Want.Waits == nil {
			continue
		}
		for _, e := range c.Given.Errors {
			t.Run(name+" "+e.Name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					header := http.Header{}
					for k, v := range e.Headers {
						header.Set(k, v)
					}
					body := strings.NewReader(string(e.Body))
					said := `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"ok"}}]}`
					m := answering(t, model.ChatCompletions, c.Given.Now, answers{
						answered(e.Status, header, body), answered(200, http.Header{"Content-Type": {"application/json"}}, strings.NewReader(said)),
					})
					began := time.Now()
					res, err := newAgent(t, rondo.Options{Model: m}).Run(t.Context(), rondo.Request{Text: "go"})
					took := time.Since(began)
					want := c.Want.Waits[e.Name]
					switch {
					case slices.Contains(c.Want.TooLong, e.Name):
						if took != 0 || res.Reason == loop.EndTurn || !strings.Contains(fmt.Sprint(err), "asks to wait") {
							t.Errorf("ended with %s after %v: %v", res.Reason, took, err)
						}
					case res.Reason != loop.EndTurn:
						t.Errorf("ended with %s: %v", res.Reason, err)
					case want != nil && took != time.Duration(*want)*time.Millisecond:
						t.Errorf("waited %v, want %v ms", took, *want)
					case want == nil && (took == 0 || took > 10*time.Second):
						t.Errorf("waited %v, want a wait of our own", took)
					}
				})
			})
		}
	}
}
