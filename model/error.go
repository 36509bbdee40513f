package model

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Class says what kind of failure an Error is. What a class leads to is the
// matter of the retry policy.
type Class string

// The classes of failures, a closed set.
const (
	// RateLimit: too many requests; waiting helps.
	RateLimit Class = "rate_limit"
	// Timeout: no answer in time, or no connection.
	Timeout Class = "timeout"
	// Overloaded: the provider has no capacity at the moment.
	Overloaded Class = "overloaded"
	// ServerError: the provider failed (5xx, an error inside of a stream).
	ServerError Class = "server_error"
	// StreamTruncated: the reply ended without a sign that it is whole.
	StreamTruncated Class = "stream_truncated"
	// EmptyResponse: a success without any content where there must be some.
	EmptyResponse Class = "empty_response"
	// ContextOverflow: the prompt is larger than the model's window.
	ContextOverflow Class = "context_overflow"
	// Auth: the key is missing, wrong or may not do this.
	Auth Class = "auth"
	// Billing: no credit, or a quota that waiting a little does not refill.
	Billing Class = "billing"
	// ModelNotFound: the provider does not know the model.
	ModelNotFound Class = "model_not_found"
	// InvalidRequest: the provider refuses the request as such.
	InvalidRequest Class = "invalid_request"
	// ContentFilter: a safety system refuses prompt or reply.
	ContentFilter Class = "content_filter"
)

// Retryable reports whether sending the same request again may help.
func (c Class) Retryable() bool {
	switch c {
	case RateLimit, Timeout, Overloaded, ServerError, StreamTruncated, EmptyResponse:
		return true
	}
	return false
}

// ErrUnreachable is in the chain of the *Error of a call that was given up
// because no connection could be made to an endpoint that has never answered.
var ErrUnreachable = errors.New("nothing answers at the endpoint")

// Error is a failed call of a model.
type Error struct {
	// Op is what was being done, such as "stream reply".
	Op       string
	Class    Class
	Provider string
	Model    string
	// Status is the HTTP status, 0 where there was none.
	Status int
	// Code is the provider's own name of the failure, such as
	// context_length_exceeded; empty where it gave none.
	Code string
	// RetryAfter is how long the provider asks to wait; negative when it does
	// not say.
	RetryAfter time.Duration
	// LearnedWindow and LearnedMaxOutput are the context window and the cap on
	// the reply in tokens that the provider's words give away; 0 for unknown.
	LearnedWindow    int
	LearnedMaxOutput int
	// Partial is what of the reply had arrived, nil for nothing. Its message
	// is never to enter a history.
	Partial *Reply
	// Err is the cause, in the provider's words where it gave any. It holds
	// no secret.
	Err error
}

// Error says what failed, where and why, and how long the provider asks to wait.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(e.Op + ": ")
	}
	if e.Provider != "" || e.Model != "" {
		b.WriteString(strings.Trim(e.Provider+"/"+e.Model, "/") + ": ")
	}
	b.WriteString(strings.ReplaceAll(string(e.Class), "_", " "))
	if e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d)", e.Status)
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(&b, ", asks to wait %v", e.RetryAfter.Round(time.Millisecond))
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ClassOf returns the class of the *Error in err's chain, or "" if there is none.
func ClassOf(err error) Class {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Class
	}
	return ""
}
