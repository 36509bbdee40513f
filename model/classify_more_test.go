package model

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestClassifyWithoutReply(t *testing.T) {
	for _, test := range []struct {
		err  error
		want Class
	}{
		{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, Timeout},
		{&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, Timeout},
		{&net.DNSError{Err: "no such host", Name: "nowhere.invalid", IsNotFound: true}, Timeout},
		{context.DeadlineExceeded, Timeout},
		{os.ErrDeadlineExceeded, Timeout},
		{io.EOF, Timeout},
		{io.ErrUnexpectedEOF, Timeout},
		{errors.New("http2: server sent GOAWAY"), Timeout},
		{&url.Error{Op: "Post", URL: "https://x", Err: &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}}, InvalidRequest},
		{x509.HostnameError{Certificate: &x509.Certificate{}, Host: "x"}, InvalidRequest},
		{x509.CertificateInvalidError{Reason: x509.Expired}, InvalidRequest},
		{x509.SystemRootsError{}, InvalidRequest},
		{tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, InvalidRequest},
		{errors.New(`unsupported protocol scheme "ftp"`), InvalidRequest},
		{errors.New("http: no Host in request URL"), InvalidRequest},
		{errors.New("invalid URL"), InvalidRequest},
		{errors.New(`parse ":x": missing protocol scheme`), InvalidRequest},
		{errors.New(`net/http: invalid header field value for "Authorization"`), InvalidRequest},
		{errors.New("http: server gave HTTP response to HTTPS client"), InvalidRequest},
		{errors.New("remote error: tls: bad certificate"), InvalidRequest},
		{errors.New("x509: something"), InvalidRequest},
		{errors.New("Proxy Authentication Required"), InvalidRequest},
	} {
		e := Classify(Failure{Op: "send request", Err: fmt.Errorf("dial: %w", test.err)})
		if e.Class != test.want || !errors.Is(e, test.err) || e.RetryAfter != -1 {
			t.Errorf("%v: class %s, retry after %v; want %s and the cause in the chain", test.err, e.Class, e.RetryAfter, test.want)
		}
	}
	if e := Classify(Failure{Status: 200, Err: io.ErrUnexpectedEOF}); e.Class != StreamTruncated {
		t.Errorf("cut reply: %s", e.Class)
	}
	if e := Classify(Failure{Status: 503, Err: io.ErrUnexpectedEOF}); e.Class != Overloaded {
		t.Errorf("refused, and the body could not be read: %s", e.Class)
	}
}

func TestClassifyKeepsTheProvidersWords(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"No such thing.","code":"x"}}`:                                               "No such thing.",
		`{"code":"invalid-argument","error":"Wrong."}`:                                                    "Wrong.",
		`{"detail":"Not now"}`:                                                                            "Not now",
		`{"detail":[{"loc":["body","messages"],"msg":"field required","type":"value_error"}]}`:            "field required",
		`{"message":"No access."}`:                                                                        "No access.",
		`[{"error":{"code":400,"message":"Bad.","status":"INVALID_ARGUMENT"}}]`:                           "Bad.",
		`{"error":{"message":"{\n \"error\": {\"message\": \"Inner.\"}}","code":429}}`:                    "Inner.",
		`{"error":{"message":"litellm.X: OpenAIException - {\"error\":{\"message\":\"Deep.\"}}"}}`:        "Deep.",
		`{"error":{"message":"use {a} or [b]"}}`:                                                          "use {a} or [b]",
		`{"error":{"message":"Provider returned error","metadata":{"raw":"It is busy."}}}`:                "It is busy.",
		`{"error":{"message":"Provider returned error","metadata":{"raw":"{\"message\":\"In JSON.\"}"}}}`: "In JSON.",
		`{"error":{"message":"Provider returned error"}}`:                                                 "Provider returned error",
		`{"error":{"type":"boom","message":""}}`:                                                          "boom",
		``:                                                                                                "the provider gave no reason",
		`{}`:                                                                                              "the provider gave no reason",
		"upstream connect error \n":                                                                       "upstream connect error",
		"\uFEFF{\"error\":\"x\"}":                                                                         "x",
		"<html><head><TITLE>502 Bad\nGateway</TITLE></head><body>nginx</body></html>":                     "an HTML page: 502 Bad Gateway",
		"<!doctype html><p>hi":                                                                            "an HTML page instead of an error",
		"event: error\ndata: {\"type\":\"error\",\"error\":{\"message\":\"Cut.\"}}\n\n":                   "Cut.",
		`{"error":{"message":"` + strings.Repeat("é", 400) + `"}}`:                                        strings.Repeat("é", 300) + "…",
	} {
		if got := Classify(Failure{Status: 400, Body: []byte(body)}).Err.Error(); got != want {
			t.Errorf("%s\ngot  %q\nwant %q", body, got, want)
		}
	}
}

func TestClassifyShowsNoKey(t *testing.T) {
	for text, want := range map[string]string{
		"Incorrect API key provided: DEADBEEF. You can find it": "Incorrect API key provided: [key]. You can find it",
		"key sk-proj-abc_DEF-123456 is wrong":                   "key [key] is wrong",
		"got Bearer abc.def-ghi123":                             "got Bearer [key]",
		"AIzaSyA1234567890abcdef is restricted":                 "[key] is restricted",
		"token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.c2ln expired":  "token [key] expired",
		"GET https://e.com/v1?key=abcd1234&alt=sse failed":      "GET https://e.com/v1?key=[key]&alt=sse failed",
		"Your api key: ****-key is invalid":                     "Your api key: [key] is invalid",
		"gsk_abcdefgh1234 and xai-abcdefgh":                     "[key] and [key]",
		"proxy http://user:pass@host:80 refused":                "proxy http://[key]host:80 refused",
		"prompt is too long: 205414 tokens > 200000 maximum":    "prompt is too long: 205414 tokens > 200000 maximum",
		"the model task-7b is unknown":                          "the model task-7b is unknown",
	} {
		if got := Classify(Failure{Status: 400, Body: []byte(text)}).Err.Error(); got != want {
			t.Errorf("body %q:\ngot  %q\nwant %q", text, got, want)
		}
		cause := errors.New(text)
		e := Classify(Failure{Err: cause})
		if got := e.Error(); !strings.Contains(got, want) || !errors.Is(e, cause) {
			t.Errorf("cause %q: %q", text, got)
		}
	}
	e := Classify(Failure{Err: &url.Error{Op: "Post", URL: "https://e.com/secret-path", Err: io.EOF}})
	if strings.Contains(e.Error(), "secret") {
		t.Errorf("the address is shown: %v", e)
	}
}

func TestClassifyLearnsWindowAndCap(t *testing.T) {
	for _, test := range []struct {
		text        string
		window, out int
		action      string
	}{
		{"This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion).", 16384, 0, "compress"},
		{"This model's maximum context length is 16384 tokens. However, you requested 20000 tokens (10000 in the messages, 10000 in the completion).", 16384, 6384, "lower_max_output"},
		{"'max_tokens' is too large: 4096. This model's maximum context length is 8192 tokens and your request has 5000 input tokens (4096 > 8192 - 5000).", 8192, 3192, "lower_max_output"},
		{"This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens.", 262144, 0, "compress"},
		{"This endpoint's maximum context length is 200000 tokens. However, you requested about 2500021 tokens (2500021 of text input).", 200000, 0, "compress"},
		{"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease", 200000, 10000, "lower_max_output"},
		{"input length and `max_tokens` exceed context limit: 199999 + 8192 > 200000, decrease", 200000, 0, "compress"},
		{"prompt is too long: 213,470 tokens > 200,000 maximum", 200000, 0, "compress"},
		{"request (66202 tokens) exceeds the available context size (65536 tokens), try increasing it", 65536, 0, "compress"},
		{"The input token count (1067544) exceeds the maximum number of tokens allowed (1048576).", 1048576, 0, "compress"},
		{"Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length", 131072, 0, "compress"},
		{"Your request exceeded model token limit: 262144 (requested: 291351)", 262144, 0, "compress"},
		{"This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131072, 0, "compress"},
		{"Range of input length should be [1, 98304]", 98304, 0, "compress"},
		{"`inputs tokens + max_new_tokens must be <= 4096. Given: 4000 inputs tokens and 1000 max_new_tokens`", 4096, 0, "compress"},
		{"The prompt exceeds max_model_len of 4096", 4096, 0, "compress"},
		{"input exceeds the context window of 8192", 8192, 0, "compress"},
		{"input is too long: it exceeds the model limit of 8192", 8192, 0, "compress"},
		{"the model is loaded with context length of only 4096 tokens", 4096, 0, "compress"},
		{"`inputs` tokens + `max_new_tokens` must be <= 8192. Given: 9000 `inputs` tokens and 20 `max_new_tokens`", 8192, 0, "compress"},
		{"prompt token count of 140000 exceeds the limit of 128000", 128000, 0, "compress"},
		{"Prompt has 40000 tokens, which exceeds the maximum of 32768 tokens", 32768, 0, "compress"},
		{"Message is too long. Maximum 128000 tokens", 128000, 0, "compress"},
		{"max seq len exceeded: 32768", 32768, 0, "compress"},
		{"invalid params, context window exceeds limit (2013)", 0, 0, "compress"},
		{"Maximum request body size 1048576 exceeded; the context window is exceeded", 0, 0, "compress"},
		{"max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.", 0, 16384, "lower_max_output"},
		{"max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens", 0, 64000, "lower_max_output"},
		{"`max_tokens` must be less than or equal to `8192`, the maximum value", 0, 8192, "lower_max_output"},
		{"Range of max_tokens should be [1, 8192]", 0, 8192, "lower_max_output"},
		{"Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 0, 8192, "lower_max_output"},
		{"Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 16384, but got 99999 instead.", 0, 16384, "lower_max_output"},
		{"max_tokens exceeds the maximum of 4096", 0, 4096, "lower_max_output"},
		{"Unable to submit request because it has a maxOutputTokens value of 99999 but the supported range is from 1 (inclusive) to 8193 (exclusive).", 0, 8192, "lower_max_output"},
		{"You requested up to 65536 tokens, but can only afford 8000.", 0, 8000, "lower_max_output"},
		{"nothing of the kind", 0, 0, "fail"},
	} {
		e := Classify(Failure{Status: 400, Body: bodyOf(test.text)})
		if e.LearnedWindow != test.window || e.LearnedMaxOutput != test.out || e.Action() != test.action {
			t.Errorf("%s\ngot %d, %d, %s (%s), want %d, %d, %s", test.text, e.LearnedWindow, e.LearnedMaxOutput, e.Action(), e.Class, test.window, test.out, test.action)
		}
	}
	body := `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9001,"n_ctx":8192}}`
	if e := Classify(Failure{Status: 400, Body: []byte(body)}); e.LearnedWindow != 8192 {
		t.Errorf("n_ctx: %d", e.LearnedWindow)
	}
}

func TestTheProvidersCodeIsKept(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"x","type":"invalid_request_error","code":"previous_response_not_found"}}`:    "previous_response_not_found",
		`{"error":{"message":"x","type":"overloaded_error","code":529}}`:                                   "overloaded_error",
		`{"__type":"com.amazon.coral#ThrottlingException","message":"x"}`:                                  "ThrottlingException",
		`{"error":{"message":"x","code":null,"status":"RESOURCE_EXHAUSTED"}}`:                              "RESOURCE_EXHAUSTED",
		`{"type":"error","error":{"type":"rate_limit_error","message":"x"},"request_id":"req_1"}`:          "rate_limit_error",
		`{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"{\"code\":\"a\"}"}}}`: "a",
		`plain words`: "",
	} {
		if e := Classify(Failure{Status: 400, Body: []byte(body)}); e.Code != want {
			t.Errorf("%s: code %q, want %q", body, e.Code, want)
		}
	}
}

func TestActionNamesWhatToDo(t *testing.T) {
	for _, test := range []struct {
		e    Error
		want string
	}{
		{Error{Class: ContextOverflow}, "compress"},
		{Error{Class: ContextOverflow, LearnedMaxOutput: 2000}, "lower_max_output"},
		{Error{Class: RateLimit, RetryAfter: -1}, "wait"},
		{Error{Class: RateLimit, RetryAfter: 24 * time.Hour}, "fallback"},
		{Error{Class: Overloaded, RetryAfter: -1}, "retry"},
		{Error{Class: Overloaded, RetryAfter: time.Second}, "wait"},
		{Error{Class: ServerError, RetryAfter: -1}, "retry"},
		{Error{Class: Timeout, RetryAfter: -1}, "retry"},
		{Error{Class: StreamTruncated, RetryAfter: -1}, "retry"},
		{Error{Class: EmptyResponse, RetryAfter: -1}, "retry"},
		{Error{Class: Auth}, "refresh_key"},
		{Error{Class: Billing}, "fallback"},
		{Error{Class: ModelNotFound}, "fallback"},
		{Error{Class: ContentFilter}, "fallback"},
		{Error{Class: InvalidRequest}, "fail"},
	} {
		if got := test.e.Action(); got != test.want {
			t.Errorf("%s after %v: %s, want %s", test.e.Class, test.e.RetryAfter, got, test.want)
		}
	}
}

func TestClassifySurvivesAnyBody(t *testing.T) {
	for _, body := range []string{
		strings.Repeat("[", 20000), strings.Repeat(`{"error":`, 3000) + "1" + strings.Repeat("}", 3000),
		strings.Repeat(`{"message":"`, 50), `{"error":null,"code":[],"message":{},"details":[[[]]],"n_ctx":-1}`, "{}[]", "}{", "\x00\xff", "data:", "<title>",
	} {
		if e := Classify(Failure{Status: 400, Body: []byte(body)}); e.Class != InvalidRequest || e.Err.Error() == "" {
			t.Errorf("%.40q: %v", body, e)
		}
	}
}
