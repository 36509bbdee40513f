package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/internal/netguard"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/tool"
	"github.com/rondo-engine/rondo/tool/web"
)

// networkClosed is what tools of the web answer where the user closed the
// network: what commands may not do, they may not do for them.
const networkClosed = "the network is closed in this run (sandbox_network: false): nothing is fetched"

// openWeb makes the tools that reach the web, and asks the models that the
// settings name for them.
func (s *setup) openWeb(ctx context.Context) ([]*tool.Tool, error) {
	if s.settings.NoTools {
		return nil, nil
	}
	client, err := s.env.webClient(s.settings.Web.AllowPrivate, s.settings.Web.Proxy)
	if err != nil {
		return nil, usage(err)
	}
	extract, err := s.models.auxiliary(ctx, "web_extract")
	if err != nil {
		return nil, err
	}
	look, err := s.models.auxiliary(ctx, "vision")
	if err != nil {
		return nil, err
	}
	o := web.Options{
		Client: client, UserAgent: "Mozilla/5.0 (compatible; rondo/" + version() + ")", Extract: extract.Ask,
		Look: func(ctx context.Context, req *model.Request) (*model.Reply, error) {
			reply, err := look.Ask(ctx, req)
			if errors.Is(err, rondo.ErrBlind) {
				err = fmt.Errorf("%w: the user can name one that does in auxiliary.vision", err)
			}
			return reply, err
		},
		ReadFile: s.workspace.ReadFile, Now: s.env.Now,
	}
	if !s.settings.SandboxNetwork {
		o.Closed = networkClosed
	}
	if proxy := cmp.Or(s.env.Getenv("HTTPS_PROXY"), s.env.Getenv("https_proxy")); proxy != "" && s.settings.Web.Proxy == "" {
		o.Hint = "HTTPS_PROXY is not used here: the user can set web.proxy"
	}
	return web.Tools(o), nil
}

// webClient makes the client that the settings ask for.
func (e *environment) webClient(allow []string, proxy string) (*http.Client, error) {
	o := netguard.Options{Allow: allow}
	if proxy != "" {
		u, err := url.Parse(proxy)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" {
			return nil, fmt.Errorf("web.proxy must be a URL such as http://proxy.example:3128")
		}
		o.Proxy = u
	}
	guard, err := netguard.New(o)
	if err != nil {
		return nil, fmt.Errorf("web.allow_private: %w", err)
	}
	return guard.Client(), nil
}
