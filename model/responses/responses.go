// Package responses speaks OpenAI's Responses API (API mode codex_responses;
// https://platform.openai.com/docs/api-reference/responses), as OpenAI, Azure,
// OpenRouter, xAI, DeepSeek and local servers offer it.
//
// Encode turns a request into the body of POST /responses, NewDecoder reads the
// reply, and Client puts package wire between them. ParseItems reads what others
// have sent. What only the provider understands travels as state on the parts
// of a message:
//
//   - "responses.reasoning" on a reasoning part: the whole item, with its
//     encrypted content;
//   - "responses.message" and "responses.refusal" on a text part, and
//     "responses.function_call" and "responses.custom_tool_call" on a tool call:
//     the members of the item that the neutral part has no place for, such as
//     its id;
//   - "responses.item" on an opaque part: any other item, whole;
//   - "responses.content" on an opaque part of a user message: a piece of its
//     content that has no neutral form.
//
// State goes back only to the provider, model and account that it came from. A
// reasoning item goes back only with the item that follows it in its turn, and
// no item id is sent twice, as the service refuses both. The call of a custom
// tool, whose input is text, has the arguments {"input": "…"}.
package responses

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

const (
	defaultBase = "https://api.openai.com/v1"
	opStream    = "stream reply"
)

// Client calls one model over the Responses API. It is safe for concurrent use.
type Client struct {
	profile *model.Profile
	wire    wire.Options
	url     string
	header  http.Header
}

// New makes a client for the endpoint and model of p, which must not change
// any more. The key goes out as a bearer token.
func New(p *model.Profile, o wire.Options) *Client {
	header := http.Header{}
	for name, value := range p.Headers {
		header.Set(name, value)
	}
	return &Client{profile: p, wire: o, url: endpoint(p.BaseURL), header: header}
}

// endpoint returns the address of the call; base may have a query, as on Azure.
func endpoint(base string) string {
	if base == "" {
		base = defaultBase
	}
	u, err := url.Parse(base)
	if err != nil {
		return strings.TrimRight(base, "/") + "/responses" // package wire tells what is wrong with it
	}
	return u.JoinPath("responses").String()
}

// Profile tells who answers.
func (c *Client) Profile() *model.Profile { return c.profile }

// Stream sends req as model.Model promises it. A request that the provider
// refuses for what it remembers, or does not support, is sent again at once
// without it: a previous response that it has lost, reasoning that it cannot
// read or place, encrypted reasoning or summaries asked of a model without. Each
// of them is tried once, and remembered in req.Cache.
func (c *Client) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		r := *req
		if r.Cache == nil {
			r.Cache = new(model.Cache)
		}
		mem := memoryOf(r.Cache, c.profile)
		left := remedies()
		for {
			err := c.try(ctx, &r, mem, yield)
			i := match(left, err)
			if i < 0 || !left[i].apply(mem, &r) {
				if err != nil {
					yield(model.Delta{}, err)
				}
				return
			}
			left = append(left[:i], left[i+1:]...)
		}
	}
}

// try sends req once. It returns the error of a request that failed before
// anything of a reply was passed on; all else it yields.
func (c *Client) try(ctx context.Context, req *model.Request, mem *memory, yield func(model.Delta, error) bool) error {
	body, err := Encode(c.profile, req)
	if err != nil {
		return &model.Error{
			Op: "encode request", Class: model.InvalidRequest, RetryAfter: -1,
			Provider: c.profile.Provider, Model: c.profile.Model, Err: err,
		}
	}
	begun := false
	for d, err := range c.wire.Stream(ctx, c.exchange(req, body)) {
		if err != nil && !begun {
			return err
		}
		begun = true
		if d.Kind == model.DeltaDone {
			mem.remember(c.profile, req, d.Reply)
		}
		if !yield(d, err) {
			break
		}
	}
	return nil
}

func (c *Client) exchange(req *model.Request, body [][]byte) wire.Exchange {
	return wire.Exchange{
		Op: opStream, Profile: c.profile, URL: c.url, Header: c.header, Auth: bearer,
		Body: body, Stream: !unstreamed(c.profile, req),
		Decoder: func() wire.Decoder { return NewDecoder(c.profile) },
	}
}

func bearer(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

// remedy is what helps against one kind of refusal.
type remedy struct {
	// words are what the provider says: all of one line.
	words [][]string
	// apply changes what the next request is made of; it reports whether that
	// makes a difference.
	apply func(mem *memory, req *model.Request) bool
}

func remedies() []remedy {
	return []remedy{
		{
			words: [][]string{{"previous_response_not_found"}, {"previous response", "not found"}},
			apply: func(mem *memory, _ *model.Request) bool {
				lost := mem.chain != nil
				mem.chain = nil
				return lost
			},
		},
		{
			words: [][]string{{"encrypted content is not supported"}},
			apply: func(mem *memory, req *model.Request) bool {
				mem.noEncrypted, mem.refused = true, req.History.Len()
				return true
			},
		},
		{
			words: [][]string{
				{"encrypted content"},
				{"encrypted_content"},
				{"of type 'reasoning' was provided without"},
				{"without its required 'reasoning' item"},
				{"item with id", "not found"},
			},
			apply: func(mem *memory, req *model.Request) bool {
				mem.chain, mem.refused = nil, req.History.Len()
				return true
			},
		},
		{
			words: [][]string{{"reasoning.summary"}, {"must be verified", "summar"}},
			apply: func(mem *memory, req *model.Request) bool {
				mem.noSummary = true
				return req.Effort != ""
			},
		},
	}
}

// match returns the first of rs that helps against err, or -1.
func match(rs []remedy, err error) int {
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Status == 0 || e.Err == nil {
		return -1
	}
	said := strings.ToLower(e.Code + " " + e.Err.Error())
	for i, r := range rs {
		for _, line := range r.words {
			if containsAll(said, line) {
				return i
			}
		}
	}
	return -1
}

func containsAll(s string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}
