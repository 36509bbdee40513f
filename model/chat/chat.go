// Package chat speaks OpenAI's Chat Completions, and the many dialects of it
// that other providers, gateways and local servers speak. The protocol is that
// of https://platform.openai.com/docs/api-reference/chat; where servers differ
// from it, a model.Profile says so or the decoder takes all forms.
package chat

import (
	"context"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// Client is a model behind a Chat Completions endpoint. It learns from refusals
// which parameters the endpoint does not take and leaves them out from then on.
type Client struct {
	profile *model.Profile
	options wire.Options
	header  http.Header
	learned atomic.Uint32 // adaptation
}

// New makes a client for the endpoint of p.
func New(p *model.Profile, o wire.Options) *Client {
	h := http.Header{}
	for name, value := range p.Headers {
		h.Set(name, value)
	}
	return &Client{profile: p, options: o, header: h}
}

// Profile returns the profile that the client was made with.
func (c *Client) Profile() *model.Profile { return c.profile }

// Stream sends req, as model.Model promises it. A request that is refused for a
// parameter that can be left out, or because replies are not streamed there, is
// sent again without, once for each.
func (c *Client) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		for {
			used := adaptation(c.learned.Load())
			x, err := c.exchange(req, used)
			if err != nil {
				yield(model.Delta{}, err)
				return
			}
			lesson := c.try(ctx, x, used, yield)
			if lesson == 0 {
				return
			}
			c.learned.Or(uint32(lesson))
		}
	}
}

// try sends x and yields its reply, unless that is a refusal from which there
// is something to learn.
func (c *Client) try(ctx context.Context, x wire.Exchange, used adaptation, yield func(model.Delta, error) bool) adaptation {
	for d, err := range c.options.Stream(ctx, x) {
		if lesson := learn(err); lesson&^used != 0 {
			return lesson
		}
		if !yield(d, err) {
			break
		}
	}
	return 0
}

func (c *Client) exchange(req *model.Request, a adaptation) (wire.Exchange, error) {
	const op = "chat completion"
	body, err := encode(c.profile, req, a)
	if err != nil {
		return wire.Exchange{}, &model.Error{
			Op: op, Class: model.InvalidRequest, Provider: c.profile.Provider, Model: c.profile.Model,
			RetryAfter: -1, Err: err,
		}
	}
	return wire.Exchange{
		Op: op, Profile: c.profile,
		URL:    strings.TrimRight(c.profile.BaseURL, "/") + "/chat/completions",
		Header: c.header,
		Auth:   func(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) },
		Body:   body, Stream: streams(c.profile, req, a),
		Decoder: func() wire.Decoder { return NewDecoder(c.profile) },
	}, nil
}
