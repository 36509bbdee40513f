package wire

import (
	"net/http"
	"time"

	"github.com/rondo-engine/rondo/model"
)

// Options are shared by all clients of the adapters. The zero value is ready
// to use against endpoints that ask for no key.
type Options struct {
	// HTTP sends the requests; nil makes each client one with NewHTTPClient.
	HTTP *http.Client
	// Keys gives the key of each request; nil sends none.
	Keys model.KeySource
	// IdleTimeout bounds the time without a single byte of the reply; 0 takes
	// 120 s, or 1800 s for loopback and private hosts.
	IdleTimeout time.Duration
	// DataTimeout bounds the time in which there are bytes (comments, pings)
	// but no event with data; 0 takes 300 s, or 1800 s for loopback and
	// private hosts.
	DataTimeout time.Duration
	// Now tells the time against which dates in headers are read; nil takes
	// time.Now.
	Now func() time.Time
}
