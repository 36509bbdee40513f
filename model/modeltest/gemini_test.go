package modeltest_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
)

const helloGemini = `{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}`

func TestGeminiReplies(t *testing.T) {
	tests := []struct {
		name, script string
		want         []string // in this order
	}{
		{"calls", "reply\nthink Let me see.\ntext Hel\ntext lo.\ncall f {\"a\": [1]}\ncall g#mine {}\nusage input=9 cache_read=4 output=7 reasoning=5", []string{
			`{"text":"Let me see.","thought":true}`, `[{"text":"Hel"}]`, `[{"text":"lo."}]`,
			`{"name":"f","args":{"a":[1]}},"thoughtSignature":"`, `{"name":"g","id":"mine","args":{}}}]`, `"finishReason":"STOP"`,
			`"promptTokenCount":9,"candidatesTokenCount":2,"totalTokenCount":16,"cachedContentTokenCount":4,"thoughtsTokenCount":5`,
			`"modelVersion":"m"`,
		}},
		{"a signature behind the text", "reply\nthink Hm.\ntext So.", []string{`{"text":"So."}`, `{"text":"","thoughtSignature":"`, `"finishReason":"STOP"`}},
		{"arguments that cannot be sent", "reply\nrawcall f {\"a", []string{`"finishReason":"MALFORMED_FUNCTION_CALL"`}},
		{"a prompt that is refused", "reply\nfinish block:SAFETY", []string{`"promptFeedback":{"blockReason":"SAFETY"}`}},
		{"an error", "reply\ntext Hel\nerror overloaded_error Later.", []string{`"Hel"`, `{"error":{"code":503,"message":"Later.","status":"UNAVAILABLE"}}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := start(t, tt.script, modeltest.Options{})
			status, body, err := post(t, srv, model.GeminiGenerate, helloGemini)
			if status != 200 || err != nil || strings.Contains(body, "event:") || strings.Contains(body, "[DONE]") {
				t.Fatalf("status %d, %v: %s", status, err, body)
			}
			rest := body
			for _, part := range tt.want {
				_, after, ok := strings.Cut(rest, part)
				if !ok {
					t.Fatalf("no %q, in this order, in\n%s", part, body)
				}
				rest = after
			}
		})
	}
}

func TestGeminiWantsTheSignaturesOfTheRunningTurn(t *testing.T) {
	srv := start(t, "reply times forever\nthink Hm.\ncall f {\"a\": 1}", modeltest.Options{})
	_, body, _ := post(t, srv, model.GeminiGenerate, helloGemini)
	signature := regexp.MustCompile(`"thoughtSignature":"[^"]+"`).FindString(body)
	call := func(signature string) string {
		return `{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":1}}` + signature + `}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"x"}}}]}`
	}
	const hello, over = `{"role":"user","parts":[{"text":"hello"}]},`, `,{"role":"model","parts":[{"text":"b"}]},{"role":"user","parts":[{"text":"c"}]}`
	for contents, want := range map[string]int{
		hello + call(","+signature): 200,
		hello + call(""):            400,
		hello + call("") + over:     200,
	} {
		if status, reply, _ := post(t, srv, model.GeminiGenerate, `{"contents":[`+contents+`]}`); status != want {
			t.Errorf("status %d, want %d: %s", status, want, reply)
		}
	}
	if f := srv.Faults(); len(f) != 1 || !strings.Contains(fmt.Sprint(f), "missing a thought_signature") {
		t.Errorf("faults %v, want that of the signature", f)
	}
}

func TestGeminiWantsItsKey(t *testing.T) {
	srv := start(t, "reply\ntext Yes.", modeltest.Options{Key: "right"})
	status, reply, err := post(t, srv, model.GeminiGenerate, helloGemini)
	if err != nil || status != 403 || !strings.Contains(reply, "API_KEY_INVALID") {
		t.Errorf("status %d, %v: %s", status, err, reply)
	}
}
