package model

import (
	"net/url"
	"regexp"
	"sync"
)

// secrets are the forms of keys. What stands before the key in the first group
// is kept. They are compiled when an error is first shown.
var secrets = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`(?i)()\b(?:sk|pk|rk|gsk|xai|pplx|r8|hf|csk|fw|nvapi|tgp|ghp|gho|github_pat)[-_][A-Za-z0-9_\-*.…]{3,}`),
		regexp.MustCompile(`()\bAIza[A-Za-z0-9_\-]{10,}`),
		regexp.MustCompile(`()\bey[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{4,}(?:\.[A-Za-z0-9_\-]*)?`),
		regexp.MustCompile(`(?i)\b((?:bearer|basic) )[A-Za-z0-9_\-+/=.*~]{6,}`),
		regexp.MustCompile(`(?i)((?:api[-_ ]?key|token|secret|password)(?: provided)?["']?\s*[:=]\s*["']?)[^\s"',;&]*[^\s"',;&.]`),
		regexp.MustCompile(`(?i)([?&](?:key|api[-_]?key|access_token|token|sig|signature)=)[^\s&"']+`),
		regexp.MustCompile(`(://)[^/\s@:]+:[^/\s@]+@`),
	}
})

// mask hides everything in text that looks like a key.
func mask(text string) string {
	for _, re := range secrets() {
		text = re.ReplaceAllString(text, "${1}[key]")
	}
	return text
}

// Mask hides everything in text that looks like a key, as "[key]".
func Mask(text string) string { return mask(text) }

// maskedError is an error whose text shows no key.
type maskedError struct {
	text string
	err  error
}

func (e *maskedError) Error() string { return e.text }

// Unwrap returns the error with its own text.
func (e *maskedError) Unwrap() error { return e.err }

// masked returns err, without the address that it was met at, under a text
// that shows no key.
func masked(err error) error {
	if e, ok := err.(*url.Error); ok {
		err = e.Err
	}
	if text := mask(err.Error()); text != err.Error() {
		return &maskedError{text, err}
	}
	return err
}
