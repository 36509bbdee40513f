// Package gemini speaks generateContent of the Gemini API (API mode
// gemini_generate_content, version v1beta), as Google documents it at
// ai.google.dev/api/generate-content.
//
// Encode turns a request into the body of the call, NewDecoder reads the reply,
// and Client puts package wire between them. Calls have no ids there, or ids
// that are optional: a call without one gets an id that depends only on it and
// on its reply, and results are told apart by their order. What only the
// provider understands travels as state on the parts of a message:
//
//   - "gemini.thought_signature" on any part: {"thoughtSignature": …} and, on a
//     call, the {"id": …} that the provider gave it; on an opaque part where a
//     signature came with nothing else;
//   - "gemini.part" on an opaque part: a part without neutral form, such as code
//     that the provider ran, as it is.
//
// State goes back only to the provider, model and account that it came from.
// Summaries of thoughts are reasoning, and go back only with a signature.
package gemini

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// The kinds of state that this package makes.
const (
	stateSignature = "gemini.thought_signature"
	statePart      = "gemini.part"
)

const (
	defaultBase = "https://generativelanguage.googleapis.com/v1beta"
	opStream    = "stream reply"
)

// Client calls one model over generateContent. It is safe for concurrent use.
type Client struct {
	profile *model.Profile
	wire    wire.Options
	header  http.Header
}

// New makes a client for the endpoint and model of p, which must not change any
// more. The key goes out as x-goog-api-key.
func New(p *model.Profile, o wire.Options) *Client {
	header := http.Header{}
	for name, value := range p.Headers {
		header.Set(name, value)
	}
	return &Client{profile: p, wire: o, header: header}
}

// callURL returns the address of a call of p's model.
func callURL(p *model.Profile, stream bool) string {
	base := strings.TrimRight(p.BaseURL, "/")
	if base == "" {
		base = defaultBase
	}
	name := url.PathEscape(strings.TrimPrefix(p.Model, "models/"))
	if stream {
		return base + "/models/" + name + ":streamGenerateContent?alt=sse"
	}
	return base + "/models/" + name + ":generateContent"
}

// Profile tells who answers.
func (c *Client) Profile() *model.Profile { return c.profile }

// Stream sends req as model.Model promises it.
func (c *Client) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		body, err := encode(c.profile, req)
		if err != nil {
			yield(model.Delta{}, &model.Error{
				Op: "encode request", Class: model.InvalidRequest, RetryAfter: -1,
				Provider: c.profile.Provider, Model: c.profile.Model, Err: err,
			})
			return
		}
		x := wire.Exchange{
			Op: opStream, Profile: c.profile, URL: callURL(c.profile, body.stream), Header: c.header, Auth: auth,
			Body: body.pieces, Stream: body.stream,
			Decoder: func() wire.Decoder { return newDecoder(c.profile, body.names) },
		}
		for d, err := range c.wire.Stream(ctx, x) {
			if !yield(d, err) {
				return
			}
		}
	}
}

func auth(h http.Header, key string) { h.Set("X-Goog-Api-Key", key) }
