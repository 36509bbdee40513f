package model

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"time"
)

// Failure is what is known of a failed call before it is classified.
type Failure struct {
	// Op, Provider and Model are copied to the Error.
	Op, Provider, Model string
	// Status is the HTTP status; 200 for an error inside of a reply; 0 when
	// there was no reply.
	Status int
	// Header is the reply's header, by canonical name.
	Header map[string][]string
	// Body is the reply's body or the error object found in it.
	Body []byte
	// Now is the time against which dates are read.
	Now time.Time
	// Err is the cause where there was no reply.
	Err error
}

// LongestWait is the longest time that is waited for a provider within a turn.
// One that asks for more is as good as gone.
const LongestWait = 10 * time.Minute

// Classify tells what kind of failure f is. It reads, in this order, a status
// that says it all, the codes and types in the body, the provider's words, and
// what the status says in general; words that mean too large a prompt outrank a
// code that says no more than rate limit. It understands the bodies of all
// known providers and gateways: error objects, nested ones, arrays of them, an
// error beside its code, JSON in a message, event streams, HTML and plain text.
//
// A quota or credit that the provider says will be back within LongestWait is a
// RateLimit, not Billing. The Error's text is the provider's, shortened, with
// everything masked that looks like a key.
func Classify(f Failure) *Error {
	said := readBody(f.Body)
	if f.Err != nil && said.silent() && f.Status < 300 {
		return transportError(f)
	}
	e := &Error{Op: f.Op, Provider: f.Provider, Model: f.Model, Status: f.Status, Err: f.cause(said)}
	if len(said.codes) > 0 {
		e.Code = said.codes[0]
	}
	text := strings.ToLower(said.text())
	e.Class, _ = judge(&f, said, text)
	inBody := said.wait(text, f.Now)
	e.RetryAfter = f.retryAfter(e.Class, inBody)
	if e.Class == Billing && back(&f, e.RetryAfter, inBody) {
		e.Class = RateLimit
	}
	e.learn(said, text)
	return e
}

// back reports whether what is used up now will be there again soon.
func back(f *Failure, wait, inBody time.Duration) bool {
	if f.Status != 402 { // a 402 alone says little, other words or codes say billing
		wait = inBody
	}
	return wait >= 0 && wait <= LongestWait
}

// judge returns the class of a reply, and what in the tables decided it.
func judge(f *Failure, said *said, text string) (class Class, by string) {
	status := f.Status
	if status == 0 || status == 200 {
		status = said.status
	}
	if largerThanLimit(text) {
		return ContextOverflow, "larger than limit"
	}
	if c, ok := decisiveStatus[status]; ok {
		return c, "status"
	}
	class, by = byCode(codeTable, said.codes)
	if class == RateLimit || class == "" && status == 429 {
		if c, pattern := byWords(overflowWords, status, text); c != "" {
			return c, pattern
		}
	}
	if class != "" {
		return class, by
	}
	if status == 401 {
		return Auth, "status"
	}
	if class, by = byWords(overflowWords, status, text); class != "" {
		return class, by
	}
	if class, by = byWords(wordTable, status, text); class != "" {
		return class, by
	}
	if class, ok := generalStatus[status]; ok {
		return class, "status"
	}
	if class, by = byCode(weakCodeTable, said.codes); class != "" {
		return class, by
	}
	return byRange(f, status), "status"
}

func byCode(table []codeRow, codes []string) (class Class, code string) {
	for _, code := range codes {
		for _, row := range table {
			for name := range strings.FieldsSeq(row.codes) {
				if foldCode(name) == foldCode(code) {
					return row.class, name
				}
			}
		}
	}
	return "", ""
}

// foldCode makes RateLimitReached and rate_limit_reached the same.
func foldCode(code string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r == '_' || r == '-' || r == ' ':
			return -1
		}
		return r
	}, code)
}

func byWords(table []wordRow, status int, text string) (class Class, pattern string) {
	for _, row := range table {
		for _, pattern := range row.patterns {
			if row.on(status) && matches(text, pattern) {
				return row.class, pattern
			}
		}
	}
	return "", ""
}

// matches reports whether the pieces of pattern, which stars part, stand in
// text in their order.
func matches(text, pattern string) bool {
	for piece := range strings.SplitSeq(pattern, "*") {
		i := strings.Index(text, piece)
		if i < 0 {
			return false
		}
		text = text[i+len(piece):]
	}
	return true
}

// byRange is the class of a reply that nothing else is known of.
func byRange(f *Failure, status int) Class {
	switch {
	case status == 400 && f.Provider == "cerebras" && len(f.Body) == 0:
		return ContextOverflow // its way to say so
	case status >= 300 && status < 500:
		return InvalidRequest
	}
	return ServerError
}

// cause makes the error that an Error wraps.
func (f *Failure) cause(said *said) error {
	if said.silent() && f.Err != nil {
		return masked(f.Err)
	}
	return errors.New(mask(said.summary()))
}

// transportError is what it means that there was no reply, or no whole one.
func transportError(f Failure) *Error {
	e := &Error{
		Op: f.Op, Provider: f.Provider, Model: f.Model, Status: f.Status,
		RetryAfter: -1, Err: masked(f.Err), Class: Timeout,
	}
	switch {
	case refusedHere(f.Err):
		e.Class = InvalidRequest
	case f.Status != 0 && !errors.Is(f.Err, context.DeadlineExceeded):
		e.Class = StreamTruncated
	}
	return e
}

// refusedHere reports whether err is a fault of address, certificate or
// request, which no retry mends.
func refusedHere(err error) bool {
	if as[*tls.CertificateVerificationError](err) || as[x509.UnknownAuthorityError](err) || as[x509.HostnameError](err) ||
		as[x509.CertificateInvalidError](err) || as[x509.SystemRootsError](err) || as[tls.RecordHeaderError](err) {
		return true
	}
	text := strings.ToLower(err.Error())
	for _, pattern := range hopelessTransport {
		if matches(text, pattern) {
			return true
		}
	}
	return false
}

func as[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}
