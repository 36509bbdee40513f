package model_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rondo-engine/rondo/model"
)

// Whatever a provider says, a failure has a class of the closed set, a wait
// that makes sense and a text that can be shown.
func FuzzClassify(f *testing.F) {
	for _, s := range []struct {
		status            int
		after, body, code string
	}{
		{429, "30", `{"error":{"message":"Rate limit reached, try again in 6m0s","type":"rate_limit_error"}}`, ""},
		{400, "", `{"error":{"message":"prompt is too long: 205414 tokens > 200000 maximum"}}`, ""},
		{402, "Wed, 21 Oct 2026 07:28:00 GMT", `{"detail":"Insufficient credits"}`, ""},
		{503, "soon", `<html><title>503</title></html>`, ""},
		{200, "", `[{"error":{"code":400,"message":"The input token count (1067544) exceeds 1048576","status":"INVALID_ARGUMENT"}}]`, ""},
		{401, "-5", `{"error":"Incorrect API key provided: sk-abcdefghijklmnop"}`, ""},
		{500, "1e9", `"`, ""},
	} {
		f.Add(s.status, s.after, []byte(s.body))
	}
	known := map[model.Class]bool{
		model.RateLimit: true, model.Timeout: true, model.Overloaded: true, model.ServerError: true, model.StreamTruncated: true,
		model.EmptyResponse: true, model.ContextOverflow: true, model.Auth: true, model.Billing: true, model.ModelNotFound: true,
		model.InvalidRequest: true, model.ContentFilter: true,
	}
	now := time.Date(2026, 10, 21, 7, 27, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, status int, after string, body []byte) {
		e := model.Classify(model.Failure{
			Op: "call", Provider: "p", Model: "m", Status: status, Now: now, Body: body,
			Header: map[string][]string{"Retry-After": {after}, "X-Ratelimit-Reset-Requests": {after}},
		})
		text := e.Error()
		switch {
		case !known[e.Class]:
			t.Fatalf("class %q", e.Class)
		case e.RetryAfter < -1:
			t.Fatalf("wait of %v", e.RetryAfter)
		case e.Action() == "":
			t.Fatal("no action")
		case !utf8.ValidString(text) || strings.ContainsRune(text, 0) || len(text) > 4096:
			t.Fatalf("text of %d bytes: %q", len(text), text)
		case e.LearnedWindow < 0 || e.LearnedMaxOutput < 0:
			t.Fatalf("learned %d, %d", e.LearnedWindow, e.LearnedMaxOutput)
		}
	})
}
