package wire

import (
	"context"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/rondo-engine/rondo/model"
)

// Exchange is one request and how to read its reply.
type Exchange struct {
	// Op says what is being done, for errors.
	Op      string
	Profile *model.Profile
	URL     string
	// Header is sent as it is, besides what Auth sets; it is not changed.
	Header http.Header
	// Auth sets the header that carries the key. It is called only when there
	// is a key.
	Auth func(h http.Header, key string)
	// Body holds the pieces of the body, which are sent one after the other
	// without being copied together.
	Body [][]byte
	// Stream tells that a streamed reply was asked for.
	Stream bool
	// Decoder makes the decoder of the reply.
	Decoder func() Decoder
}

// Stream sends the request of x and yields what comes back, as
// model.Model.Stream promises it.
func (o *Options) Stream(ctx context.Context, x Exchange) iter.Seq2[model.Delta, error] {
	panic("not yet")
}

// Response is a reply to decode that did not come over HTTP.
type Response struct {
	Status int
	Header http.Header
	Body   io.Reader
}

// Decode reads r as Stream reads a reply: an error status is classified, a
// compressed body expanded, a stream told from a reply in one piece.
func Decode(p *model.Profile, op string, now time.Time, r Response, d Decoder) iter.Seq2[model.Delta, error] {
	panic("not yet")
}
