// Package wire carries the bytes of model calls: it sends one request over
// HTTP, reads the reply, streamed or not, and feeds it to the decoder of the
// protocol. Timeouts, idle connections, status codes and cut streams are
// handled here once for all protocols.
package wire

import (
	"time"

	"github.com/rondo-engine/rondo/model"
)

// Decoder turns the body of one reply into deltas. A decoder is used once, by
// one goroutine.
type Decoder interface {
	// Event takes one event of a streamed reply: its name ("" for none) and
	// its data, which is valid only during the call. It passes what it makes
	// of it to yield and returns an *model.Error if the provider reports one.
	// Done reports that the reply is whole and that no further event matters
	// but the end of the body. yield returns false when nobody listens any
	// more; Event then returns at once.
	Event(name string, data []byte, yield func(model.Delta) bool) (done bool, err error)
	// Whole takes a reply in one piece, as if it had been streamed.
	Whole(body []byte, yield func(model.Delta) bool) error
	// End is called once when no more comes: it returns the reply, or an
	// *model.Error when it is not whole (StreamTruncated), with what had
	// arrived in Partial.
	End() (*model.Reply, error)
}

// Timed is implemented by decoders that read points in time out of a reply,
// such as when a limit that was met is reset. They are told the clock before
// they are fed.
type Timed interface {
	// SetClock says where the time is to be had.
	SetClock(now func() time.Time)
}

// Clock makes a decoder Timed that embeds it.
type Clock struct{ now func() time.Time }

// SetClock says where the time is to be had.
func (c *Clock) SetClock(now func() time.Time) { c.now = now }

// Now returns the time, or the zero time where no clock was set.
func (c *Clock) Now() time.Time {
	if c.now == nil {
		return time.Time{}
	}
	return c.now()
}

// Finisher is implemented by decoders that can tell before Event reports done
// that the reply is whole but for trailing matters such as the usage. From then
// on a provider that neither goes on nor ends the body is not waited for.
type Finisher interface {
	// Finished reports that nothing of the message is missing.
	Finished() bool
}
