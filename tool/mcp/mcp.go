// Package mcp offers the tools of servers that speak the Model Context Protocol
// (https://modelcontextprotocol.io), over the standard input and output of a
// program that it starts, or over streamable HTTP.
//
// Open starts all servers at the same time and waits a bounded time for them;
// one that cannot be had costs a warning and its tools. A server that dies later
// is started again when it is next called, with growing pauses; until then its
// tools answer with an error. Nothing that a server says is trusted: tools are
// named mcp__SERVER__TOOL so that they cannot take another's place, a schema that
// no model would take loses that tool alone, results are tool.Tool.Untrusted,
// and a program gets only the variables that it is given and a few harmless ones.
package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/rondo-engine/rondo/tool"
)

// Server says how a server is reached, and what of it is used. Either Command
// or URL is set.
type Server struct {
	// Command is a program that speaks the protocol on its standard input and
	// output, started in Dir with Args and Env (NAME=VALUE).
	Command string
	Args    []string
	Env     []string
	Dir     string
	// URL is an endpoint for streamable HTTP; Headers go with each request.
	URL     string
	Headers map[string]string
	// Tools are the tools to offer, by the server's own names, in which * is
	// anything; those that begin with ! are left out. Empty offers all.
	Tools []string
	// Parallel says that the server's tools may run at the same time as
	// others. Otherwise each runs alone.
	Parallel bool
	// Timeout bounds a call, 120 s by default.
	Timeout time.Duration
}

// Options are what all servers have in common.
type Options struct {
	// Wait is how long Open waits for servers, 15 s by default.
	Wait time.Duration
	// Environ is the environment that harmless variables are taken from.
	Environ []string
	// Version is told to servers.
	Version string
	// HTTP is the client for servers with a URL; nil is http.DefaultClient.
	HTTP *http.Client
}

// Servers are the servers of one process. They are safe for concurrent use.
type Servers struct {
	all      []*server // by name
	warnings []string
	tools    []*tool.Tool
}

// Open starts the servers and asks them what they offer. It always returns
// Servers, which are to be closed; what is wrong with single ones is in
// Warnings.
func Open(ctx context.Context, servers map[string]Server, o Options) *Servers {
	o.Wait = cmp.Or(o.Wait, 15*time.Second)
	ctx, cancel := context.WithTimeout(ctx, o.Wait)
	defer cancel()
	s := &Servers{}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		s.all = append(s.all, &server{name: name, Server: servers[name], o: o})
	}
	offers := make([]*offer, len(s.all))
	failed := make([]error, len(s.all))
	var wg sync.WaitGroup
	for i, one := range s.all {
		wg.Go(func() { offers[i], failed[i] = one.open(ctx) })
	}
	wg.Wait()
	names := newNames()
	for i, one := range s.all {
		if failed[i] != nil {
			if errors.Is(failed[i], context.DeadlineExceeded) {
				failed[i] = fmt.Errorf("it did not answer within %v", o.Wait)
			}
			s.warnings = append(s.warnings, fmt.Sprintf("MCP server %s is left out: %v", one.name, failed[i]))
			continue
		}
		s.add(one, offers[i], names)
	}
	if t := s.reader(); t != nil {
		s.tools = append(s.tools, t)
	}
	return s
}

// add takes over what a server offers.
func (s *Servers) add(one *server, o *offer, names *names) {
	one.offer = o
	for _, t := range o.Tools {
		if !one.wants(t.Name) {
			continue
		}
		made, err := one.tool(t, names)
		if err != nil {
			s.warnings = append(s.warnings, fmt.Sprintf("MCP server %s: the tool %s is left out: %v", one.name, t.Name, err))
			continue
		}
		s.tools = append(s.tools, made)
	}
}

// Tools returns the tools of all servers, ordered by server. There is one more,
// mcp_read, if any of them has resources or prompts.
func (s *Servers) Tools() []*tool.Tool { return s.tools }

// Warnings say in a sentence each what was left out, and why.
func (s *Servers) Warnings() []string { return s.warnings }

// Close ends the connections and the programs.
func (s *Servers) Close() error {
	errs := make([]error, len(s.all))
	var wg sync.WaitGroup
	for i, one := range s.all {
		wg.Go(func() { errs[i] = one.close() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
