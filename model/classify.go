package model

import (
	"errors"
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

// Classify tells what kind of failure f is.
func Classify(f Failure) *Error {
	e := &Error{Op: f.Op, Provider: f.Provider, Model: f.Model, Status: f.Status, RetryAfter: -1, Err: f.Err, Class: InvalidRequest}
	if e.Err == nil {
		e.Err = errors.New(string(f.Body))
	}
	switch {
	case f.Status == 401 || f.Status == 403:
		e.Class = Auth
	case f.Status == 404:
		e.Class = ModelNotFound
	case f.Status == 429:
		e.Class = RateLimit
	case f.Status >= 500:
		e.Class = ServerError
	}
	return e
}
