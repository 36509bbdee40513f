package model

import (
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	const none = -time.Millisecond
	now := time.Date(2026, 10, 21, 7, 27, 0, 0, time.UTC)
	h := func(pairs ...string) map[string][]string {
		m := map[string][]string{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = []string{pairs[i+1]}
		}
		return m
	}
	for _, test := range []struct {
		name   string
		header map[string][]string
		body   string
		want   time.Duration
	}{
		{"nothing", nil, "slow down", none},
		{"seconds", h("Retry-After", "30"), "", 30 * time.Second},
		{"any case", h("retry-after", "30"), "", 30 * time.Second},
		{"fraction", h("Retry-After", "0.5"), "", 500 * time.Millisecond},
		{"span", h("Retry-After", "20s"), "", 20 * time.Second},
		{"zero", h("Retry-After", "0"), "", 0},
		{"date", h("Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT"), "", time.Minute},
		{"old date", h("Retry-After", "Wednesday, 21-Oct-26 07:28:00 GMT"), "", time.Minute},
		{"C date", h("Retry-After", "Wed Oct 21 07:28:00 2026"), "", time.Minute},
		{"JSON date", h("Retry-After", "2026-10-21T07:28:00Z"), "", time.Minute},
		{"past date", h("Retry-After", "Wed, 21 Oct 2026 07:00:00 GMT"), "", 0},
		{"Unix time", h("Retry-After", "1792567680"), "", time.Minute},
		{"one digit of a day", h("Retry-After", "Sun, 1 Nov 2026 07:27:00 GMT"), "", 11 * 24 * time.Hour},
		{"date in UTC", h("Retry-After", "Wed, 21 Oct 2026 07:28:00 UTC"), "", time.Minute},
		{"date with a zone in numbers", h("Retry-After", "Wed, 21 Oct 2026 09:28:00 +0200"), "", time.Minute},
		{"date with a zone's name", h("Retry-After", "Wed, 21 Oct 2026 03:28:00 EDT"), "", none},
		{"a number that is neither seconds nor a time", h("Retry-After", "999999999"), "", none},
		{"RateLimit of a draft", h("RateLimit", "limit=100, remaining=0, reset=30"), "", 30 * time.Second},
		{"RateLimit of a later draft", h("RateLimit", `"default";r=0;t=30`), "", 30 * time.Second},
		{"a date in words", nil, "You have hit your limit. Try again at 2026-10-21T07:28:00Z.", time.Minute},
		{"a date without T in words", nil, "Your limit will reset at 2026-10-21 07:28:00 UTC", time.Minute},
		{"a date with a fraction and a zone", nil, "available again 2026-10-21T09:28:00.500+02:00", time.Minute + 500*time.Millisecond},
		{"Unix time behind a bar", nil, "Claude AI usage limit reached|1792567680", time.Minute},
		{"garbage", h("Retry-After", "soon"), "", none},
		{"negative", h("Retry-After", "-5"), "", none},
		{"not a number", h("Retry-After", "NaN"), "", none},
		{"endless", h("Retry-After", "1e300"), "", none},
		{"empty", h("Retry-After", ""), "", none},
		{"a day", h("Retry-After", "86400"), "", 24 * time.Hour},
		{"milliseconds", h("Retry-After-Ms", "1500", "Retry-After", "2"), "", 1500 * time.Millisecond},
		{"no milliseconds", h("Retry-After-Ms", "0", "Retry-After", "1"), "", time.Second},
		{"garbage, then words", h("Retry-After", "soon"), "try again in 20s", 20 * time.Second},
		{"reset", h("X-Ratelimit-Reset-Requests", "2ms", "X-Ratelimit-Reset-Tokens", "6m0s"), "", 6 * time.Minute},
		{
			"reset of what is used up",
			h("X-Ratelimit-Reset-Requests", "1s", "X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Tokens", "6m0s", "X-Ratelimit-Remaining-Tokens", "5"),
			"", time.Second,
		},
		{"reset in Unix milliseconds", h("X-Ratelimit-Reset", "1792567680000"), "", time.Minute},
		{"reset as a date", h("Anthropic-Ratelimit-Tokens-Reset", "2026-10-21T07:27:05Z"), "", 5 * time.Second},
		{"words", nil, "Please try again in 9m38.016s. Need more?", 9*time.Minute + 38016*time.Millisecond},
		{"words in seconds", nil, "Please retry after 23 seconds.", 23 * time.Second},
		{"words of Gemini", nil, "Please retry in 34.074824224s.", 34074824224},
		{"words in minutes", nil, "it resets in 5 min", 5 * time.Minute},
		{"words with and", nil, "Try again in 1 hour and 5 minutes", 65 * time.Minute},
		{"words with (s)", nil, "wait 3 second(s) please", 3 * time.Second},
		{"second chance", nil, "please retry. Limit 3, try again in 250ms", 250 * time.Millisecond},
		{"no time in words", nil, "retry 3 messages later", none},
		{"retryDelay", nil, `{"error":{"message":"x","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}`, 34500 * time.Millisecond},
		{"retry_after", nil, `{"error":{"message":"x","retry_after":12}}`, 12 * time.Second},
		{"retry_after_ms", nil, `{"error":{"message":"x","retry_after_ms":1200}}`, 1200 * time.Millisecond},
		{"resets_in_seconds", nil, `{"error":{"message":"x","resets_in_seconds":90}}`, 90 * time.Second},
		{"resets_at", nil, `{"error":{"message":"x","resets_at":1792567680}}`, time.Minute},
		{"header in the body", nil, `{"error":{"message":"x","metadata":{"headers":{"X-RateLimit-Reset":"1792567680000"}}}}`, time.Minute},
	} {
		e := Classify(Failure{Status: 429, Header: test.header, Body: bodyOf(test.body), Now: now})
		if test.want == none {
			if e.RetryAfter >= 0 {
				t.Errorf("%s: %v, want unknown", test.name, e.RetryAfter)
			}
		} else if e.RetryAfter != test.want {
			t.Errorf("%s: %v, want %v", test.name, e.RetryAfter, test.want)
		}
	}
	if e := Classify(Failure{Status: 429, Header: h("Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT")}); e.RetryAfter >= 0 {
		t.Errorf("a date without a clock: %v, want unknown", e.RetryAfter)
	}
	if e := Classify(Failure{Status: 400, Header: h("X-Ratelimit-Reset", "5")}); e.RetryAfter >= 0 {
		t.Errorf("reset of a limit that was not met: %v, want unknown", e.RetryAfter)
	}
}

func TestWhatIsBackSoonIsARateLimit(t *testing.T) {
	for _, test := range []struct {
		status int
		body   string
		want   Class
	}{
		{402, "Your limit resets in 5 min", RateLimit},
		{402, "Your limit resets in 5 hours", Billing},
		{402, "Insufficient credits", Billing},
		{429, `{"error":{"code":"usage_limit_reached","resets_in_seconds":120}}`, RateLimit},
		{429, `{"error":{"code":"usage_limit_reached","resets_in_seconds":12000}}`, Billing},
		{429, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota. Please retry in 34s."}}`, RateLimit},
	} {
		if e := Classify(Failure{Status: test.status, Body: bodyOf(test.body)}); e.Class != test.want {
			t.Errorf("%d %s: %s, want %s", test.status, test.body, e.Class, test.want)
		}
	}
}
