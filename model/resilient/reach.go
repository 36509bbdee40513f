package resilient

import (
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/rondo-engine/rondo/model"
)

// strangerAttempts bounds the attempts of a call to connect to an endpoint that
// has never answered. Such an address is rather wrong, or its server not
// started, than in trouble that passes: a person wants to hear of it within
// seconds. Once it has answered, failed connections are retried by their class.
const strangerAttempts = 3

// acquaintance knows whether an endpoint has ever answered.
type acquaintance struct{ met atomic.Bool }

// note takes note of how an attempt ended; e is its failure, if it had one.
func (a *acquaintance) note(o outcome, e *model.Error) {
	if o.over || o.seen || e != nil && !noConnection(e) {
		a.met.Store(true)
	}
}

// giveUp returns the error that ends a call after so many failed attempts to
// connect to a stranger; nil while it is to be tried on.
func (a *acquaintance) giveUp(failed int, e *model.Error) error {
	if failed < strangerAttempts || a.met.Load() || !noConnection(e) {
		return nil
	}
	told := *e
	told.Err = fmt.Errorf("%w: %w", model.ErrUnreachable, e.Err)
	return &told
}

// noConnection reports whether e says that no connection could be made.
func noConnection(e *model.Error) bool {
	if op, ok := errors.AsType[*net.OpError](e); ok {
		return op.Op == "dial" || op.Op == "proxyconnect"
	}
	_, ok := errors.AsType[*net.DNSError](e)
	return ok
}
