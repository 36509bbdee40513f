// Package anthropic speaks Anthropic's Messages API (API mode
// anthropic_messages, version 2023-06-01), also as other hosts offer it.
//
// Encode turns a request into the body of POST /v1/messages, NewDecoder reads
// the reply, and Client puts package wire between them. What only the provider
// understands travels as state on the parts of a message:
//
//   - "anthropic.thinking" on a reasoning part: {"signature": …};
//   - "anthropic.redacted_thinking" on an opaque part: the whole block;
//   - "anthropic.block" on an opaque part: any other block that has no neutral
//     form (server tools and their results, compaction, what is yet unknown);
//   - "anthropic.members" on a text, tool call or file part: members of the
//     block that the neutral part has no place for, such as citations.
//
// State goes back only to the provider, model and account that it came from.
package anthropic

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// The kinds of state that this package makes.
const (
	stateThinking = "anthropic.thinking"
	stateRedacted = "anthropic.redacted_thinking"
	stateBlock    = "anthropic.block"
	stateMembers  = "anthropic.members"
)

const (
	apiVersion  = "2023-06-01"
	defaultBase = "https://api.anthropic.com"
	opStream    = "stream reply"
)

// Client calls one model over the Messages API. It is safe for concurrent use.
type Client struct {
	profile *model.Profile
	wire    wire.Options
	url     string
	header  http.Header
	bearer  bool
}

// New makes a client for the endpoint and model of p, which must not change
// any more. The key goes out as x-api-key and, to hosts other than
// api.anthropic.com, as a bearer token besides.
func New(p *model.Profile, o wire.Options) *Client {
	header := http.Header{"Anthropic-Version": {apiVersion}}
	for name, value := range p.Headers {
		header.Set(name, value)
	}
	endpoint := messagesURL(p.BaseURL)
	u, err := url.Parse(endpoint)
	return &Client{
		profile: p, wire: o, url: endpoint, header: header,
		bearer: err != nil || !strings.EqualFold(u.Hostname(), "api.anthropic.com"),
	}
}

func messagesURL(base string) string {
	base = strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1")
	if base == "" {
		base = defaultBase
	}
	return base + "/v1/messages"
}

// Profile tells who answers.
func (c *Client) Profile() *model.Profile { return c.profile }

// Stream sends req as model.Model promises it. If the provider refuses the
// request because of thinking blocks or their signatures, it is sent once more
// without any thinking; the history stays as it is.
func (c *Client) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		body, err := encode(c.profile, req, false)
		if err != nil {
			yield(model.Delta{}, c.unsendable(err))
			return
		}
		var retry *encoded
		begun := false
		for d, err := range c.wire.Stream(ctx, c.exchange(body)) {
			if err != nil && !begun && refusesThinking(err) {
				if retry = c.withoutThinking(req, body); retry != nil {
					break
				}
			}
			begun = true
			if !yield(d, err) {
				return
			}
		}
		if retry == nil {
			return
		}
		for d, err := range c.wire.Stream(ctx, c.exchange(retry)) {
			if !yield(d, err) {
				return
			}
		}
	}
}

func (c *Client) exchange(body *encoded) wire.Exchange {
	return wire.Exchange{
		Op: opStream, Profile: c.profile, URL: c.url, Header: c.header, Auth: c.auth,
		Body: body.pieces, Stream: body.stream,
		Decoder: func() wire.Decoder { return newDecoder(c.profile, body.names) },
	}
}

func (c *Client) auth(h http.Header, key string) {
	h.Set("X-Api-Key", key)
	if c.bearer {
		h.Set("Authorization", "Bearer "+key)
	}
}

func (c *Client) unsendable(err error) error {
	return &model.Error{
		Op: "encode request", Class: model.InvalidRequest, RetryAfter: -1,
		Provider: c.profile.Provider, Model: c.profile.Model, Err: err,
	}
}

// withoutThinking encodes req without any thinking. It returns nil if that
// changes nothing.
func (c *Client) withoutThinking(req *model.Request, sent *encoded) *encoded {
	anew := *req
	anew.Cache = nil // the cache keeps the form with thinking
	body, err := encode(c.profile, &anew, true)
	if err != nil || bytes.Equal(slices.Concat(body.pieces...), slices.Concat(sent.pieces...)) {
		return nil
	}
	return body
}

// refusesThinking reports whether err is a refusal (400) of thinking blocks, of
// their signatures or of thinking as such.
func refusesThinking(err error) bool {
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Status != http.StatusBadRequest || e.Class == model.ContextOverflow || e.Err == nil {
		return false
	}
	words := strings.ToLower(e.Code + " " + e.Err.Error())
	return strings.Contains(words, "signature") || strings.Contains(words, "thinking")
}
