package model

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// maxWait is the longest time to wait that is believed.
const maxWait = 366 * 24 * time.Hour

// isWait are the members of bodies that name a time to wait, folded.
var isWait = map[string]bool{
	"retrydelay": true, "retryafter": true, "retryafterms": true, "retryafterseconds": true,
	"resetsinseconds": true, "resetinseconds": true, "resetsat": true, "resetat": true,
}

// retryAfter is how long the provider asks to wait, -1 if it does not say: the
// header in milliseconds, in seconds or as a date, then inBody, which is what
// the body says, then, for a rate limit, when the limit that was met is reset.
func (f *Failure) retryAfter(class Class, inBody time.Duration) time.Duration {
	if d := parseNumber(header(f.Header, "Retry-After-Ms"), time.Millisecond); d > 0 {
		return d
	}
	if d := parseWait(header(f.Header, "Retry-After"), f.Now); d >= 0 {
		return d
	}
	if inBody >= 0 || class != RateLimit {
		return inBody
	}
	return rateReset(f.Header, f.Now)
}

// header returns the field's first value; its name may be in any case.
func header(h map[string][]string, name string) string {
	if v := h[name]; len(v) > 0 {
		return v[0]
	}
	for k, v := range h {
		if len(v) > 0 && strings.EqualFold(k, name) {
			return v[0]
		}
	}
	return ""
}

// parseNumber reads a count of unit; -1 if s is none, or negative.
func parseNumber(s string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(n) || n < 0 || n*float64(unit) > float64(maxWait) {
		return -1
	}
	return time.Duration(math.Round(n * float64(unit)))
}

// parseWait reads seconds, a span such as 6m0s, a Unix time in seconds or
// milliseconds, or a date; -1 if s is none of these.
func parseWait(s string, now time.Time) time.Duration {
	s = strings.TrimSpace(s)
	if d := parseNumber(s, time.Second); d >= 0 {
		return d
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n > 0 {
		return unixTime(n, now)
	}
	if d, rest := parseSpan(strings.ToLower(s)); d >= 0 && rest == "" {
		return d
	}
	// The forms of HTTP, RFC 9110 section 5.6.7, and that of JSON.
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			return until(t, now)
		}
	}
	return -1
}

// layouts are the forms of dates. Zones are numbers or UTC: the names of others
// mean different things in different places.
var layouts = []string{
	"Mon, 2 Jan 2006 15:04:05 GMT", "Mon, 2 Jan 2006 15:04:05 UTC", "Monday, 2-Jan-06 15:04:05 GMT", time.ANSIC,
	"Mon, 2 Jan 2006 15:04:05 -0700", time.RFC3339, "2006-01-02 15:04:05 UTC", "2006-01-02 15:04:05Z07:00", time.DateTime,
}

// unixTime reads a Unix time in seconds or milliseconds. One of more than a day
// ago is no time but a number of something else.
func unixTime(n int64, now time.Time) time.Duration {
	t := time.Unix(n, 0)
	if n > 1e11 {
		t = time.UnixMilli(n)
	}
	if now.Sub(t) > 24*time.Hour {
		return -1
	}
	return until(t, now)
}

// structuredReset reads the field RateLimit of the drafts of the IETF: members
// of which reset, or t in the later ones, is a number of seconds.
func structuredReset(value string) time.Duration {
	for member := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ';' || r == ',' || r == ' ' }) {
		if name, n, ok := strings.Cut(member, "="); ok && (name == "t" || name == "reset") {
			return parseNumber(n, time.Second)
		}
	}
	return -1
}

// until is the time from now to t, 0 if that is past, -1 if it is unknown.
func until(t, now time.Time) time.Duration {
	if now.IsZero() || t.Sub(now) > maxWait {
		return -1
	}
	return max(0, t.Sub(now))
}

// units are the names of units of time in messages.
var units = map[string]time.Duration{
	"ms": time.Millisecond, "millisecond": time.Millisecond, "milliseconds": time.Millisecond,
	"s": time.Second, "sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second, "second(s)": time.Second,
	"m": time.Minute, "min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute, "minute(s)": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hrs": time.Hour, "hour": time.Hour, "hours": time.Hour, "hour(s)": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour, "day(s)": 24 * time.Hour,
}

// parseSpan reads a span such as 9m38.016s, 20 seconds or 1 hour and 5 min at
// the start of s; it returns -1 if there is none, and what follows it.
func parseSpan(s string) (d time.Duration, rest string) {
	d, rest = -1, s
	for {
		s = strings.TrimPrefix(strings.TrimLeft(s, " ,"), "and ")
		n := len(s) - len(strings.TrimLeft(s, "0123456789."))
		number, word := s[:n], strings.TrimLeft(s[n:], " ")
		n = len(word) - len(strings.TrimLeft(word, "abcdefghijklmnopqrstuvwxyz"))
		if strings.HasPrefix(word[n:], "(s)") {
			n += len("(s)")
		}
		one := parseNumber(number, units[word[:n]])
		if one < 0 || units[word[:n]] == 0 {
			return d, rest
		}
		d = max(d, 0) + one
		s, rest = word[n:], word[n:]
	}
}

// wait is how long the body asks to wait, -1 if it does not say. Text is its
// words in lower case.
func (s *said) wait(text string, now time.Time) time.Duration {
	for _, name := range []string{"retryafterms", "retrydelay", "retryafter", "retryafterseconds", "resetsinseconds", "resetinseconds", "resetsat", "resetat"} {
		var value string
		switch v := s.waits[name].(type) {
		case string:
			value = v
		case float64:
			value = strconv.FormatFloat(v, 'f', -1, 64)
		}
		d := parseWait(value, now)
		if name == "retryafterms" {
			d = parseNumber(value, time.Millisecond)
		}
		if d >= 0 {
			return d
		}
	}
	if d := parseWait(header(s.header, "Retry-After"), now); d >= 0 {
		return d
	}
	if d := waitInWords(text); d >= 0 {
		return d
	}
	if d := dateInWords(text, now); d >= 0 {
		return d
	}
	return rateReset(s.header, now)
}

// waitInWords finds a span soon behind a word that speaks of waiting.
func waitInWords(text string) time.Duration {
	for _, word := range []string{"try again", "retry", "reset", "wait", "available again", "refresh"} {
		for rest := text; ; {
			_, after, ok := strings.Cut(rest, word)
			if !ok {
				break
			}
			rest = after
			near, _, _ := strings.Cut(after, "\n")
			if i := strings.IndexAny(near, "0123456789"); i >= 0 && i <= 30 {
				if d, _ := parseSpan(near[i:]); d >= 0 {
					return d
				}
			}
		}
	}
	return -1
}

// dateInWords finds a date behind a word that speaks of waiting, or the Unix
// time that Claude's subscriptions put behind a bar.
func dateInWords(text string, now time.Time) time.Duration {
	for _, re := range datePatterns() {
		if m := re.FindStringSubmatch(text); m != nil {
			return parseWait(strings.ToUpper(m[1]), now)
		}
	}
	return -1
}

var datePatterns = compile(
	`(?:try again|retry|reset|wait|available|until).{0,30}?([0-9]{4}-[0-9]{2}-[0-9]{2}[t ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?: ?utc|z|[+-][0-9]{2}:[0-9]{2})?)`,
	`\|([0-9]{10})\b`,
)

// rateReset is when the limits that nothing remains of are reset, the last of
// all where the header does not say which those are. -1 if it names no time.
func rateReset(h map[string][]string, now time.Time) time.Duration {
	all, met := time.Duration(-1), time.Duration(-1)
	for name, values := range h {
		lower := strings.ToLower(name)
		if lower == "ratelimit" && len(values) > 0 {
			all = max(all, structuredReset(values[0]))
			continue
		}
		if len(values) == 0 || !strings.Contains(lower, "ratelimit") || !strings.Contains(lower, "reset") {
			continue
		}
		d := parseWait(values[0], now)
		all = max(all, d)
		if header(h, strings.Replace(lower, "reset", "remaining", 1)) == "0" {
			met = max(met, d)
		}
	}
	if met < 0 {
		return all
	}
	return met
}
