package provider

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// fixed answers each request with the same stream.
type fixed string

func (f fixed) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(strings.NewReader(string(f))), Request: r,
	}, nil
}

// TestErrorsInsideOfRepliesKnowTheTime has each adapter read when a limit is
// reset out of an error in a stream.
func TestErrorsInsideOfRepliesKnowTheTime(t *testing.T) {
	const stream = `event: error
data: {"type":"error","error":{"type":"rate_limit_error","code":"rate_limit_exceeded","message":"Too many requests.","resets_at":1000000042}}

`
	history, _ := message.Normalise([]*message.Message{message.NewUser("hi")})
	for _, mode := range []model.Mode{model.ChatCompletions, model.CodexResponses, model.AnthropicMessages} {
		m, err := Open(&model.Profile{Mode: mode, Model: "m"}, wire.Options{
			HTTP: &http.Client{Transport: fixed(stream)}, Now: func() time.Time { return time.Unix(1e9, 0) },
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range m.Stream(t.Context(), &model.Request{History: history}) {
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Class != model.RateLimit || e.RetryAfter != 42*time.Second {
				t.Errorf("%s: %v, %+v", mode, err, e)
			}
		}
	}
}
