// Package netguard makes HTTP clients that reach the public internet and nothing
// else: not the machine itself, not the network that it stands in, not the
// services that clouds answer their machines on.
//
// A URL is looked at before it is asked for, and so is each that it redirects
// to: scheme, port, user information, and hosts that are addresses, in whatever
// notation. What counts in the end is checked in the dialer, when the name has
// been resolved and the connection is about to be made: a name that changes its
// address between a check and its use gains nothing.
//
// Proxies of the environment are not used, since the proxy would resolve names
// and nobody could check what it reaches. Options.Proxy names one for those who
// have no other way out; names are then checked as far as they say where they
// lead, and the rest is the proxy's to refuse.
package netguard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Options say what a guard lets through besides the public internet, and how
// it gets there. The zero value lets nothing else through.
type Options struct {
	// Allow lists hosts, addresses and networks in CIDR notation that may be
	// reached although they are private. Link-local addresses, where clouds
	// keep their machines' credentials, are reached only as part of a network
	// that stands here.
	Allow []string
	// Proxy is what all requests go through; nil goes directly.
	Proxy *url.URL
	// Resolver resolves names; nil is net.DefaultResolver.
	Resolver *net.Resolver
}

// Guard lets requests through or refuses them. It is safe for concurrent use.
type Guard struct {
	hosts    []string
	networks []netip.Prefix
	proxy    *url.URL
	resolver *net.Resolver
}

// RefusedError says that a request was refused before anything was sent.
type RefusedError struct {
	// Target is the URL, host or address that was refused.
	Target string
	// Reason says why.
	Reason string
}

// Error says what was refused and why.
func (e *RefusedError) Error() string { return e.Target + " is refused: " + e.Reason }

// MaxRedirects is how many redirects a client follows.
const MaxRedirects = 10

// New makes a guard. It refuses entries of Allow that it cannot read.
func New(o Options) (*Guard, error) {
	g := &Guard{proxy: o.Proxy, resolver: o.Resolver}
	for _, entry := range o.Allow {
		entry = strings.TrimSpace(entry)
		if p, err := netip.ParsePrefix(entry); err == nil {
			g.networks = append(g.networks, p.Masked())
			continue
		}
		if a, err := netip.ParseAddr(strings.Trim(entry, "[]")); err == nil {
			a = a.Unmap()
			g.networks = append(g.networks, netip.PrefixFrom(a, a.BitLen()))
			continue
		}
		host := canonical(entry)
		if host == "" || strings.ContainsAny(host, "/:@*% ") || oddNumber(host) {
			return nil, fmt.Errorf("%q is no host, address or network: write it as in intranet.example, 192.168.1.7 or 10.0.0.0/8", entry)
		}
		g.hosts = append(g.hosts, host)
	}
	return g, nil
}

// Client returns a client whose requests pass the guard. It keeps no
// connections and no cookies. A request is bounded by its context.
func (g *Guard) Client() *http.Client {
	t := &http.Transport{
		DialContext: g.dial, ForceAttemptHTTP2: true, DisableKeepAlives: true,
		TLSHandshakeTimeout: 15 * time.Second, ResponseHeaderTimeout: 60 * time.Second, MaxResponseHeaderBytes: 256 << 10,
	}
	if g.proxy != nil {
		t.Proxy = http.ProxyURL(g.proxy)
	}
	return &http.Client{Transport: checked{g, t}, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > MaxRedirects {
			return fmt.Errorf("it was redirected more than %d times", MaxRedirects)
		}
		return g.Check(req.URL)
	}}
}

// checked refuses what the guard does before anything is sent.
type checked struct {
	guard *Guard
	next  *http.Transport
}

// RoundTrip implements http.RoundTripper.
func (c checked) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := c.guard.Check(req.URL); err != nil {
		return nil, err
	}
	return c.next.RoundTrip(req)
}

// Check reports why a URL is refused by what it says; the error is a
// *RefusedError. That it passes does not mean that it will be reached.
func (g *Guard) Check(u *url.URL) error {
	refuse := func(reason string) error { return &RefusedError{u.Redacted(), reason} }
	if u.Scheme != "http" && u.Scheme != "https" {
		return refuse("only http and https are fetched")
	}
	if u.User != nil {
		return refuse("it holds a user name or password")
	}
	if reason := badPort(u.Port()); reason != "" {
		return refuse(reason)
	}
	host := canonical(u.Hostname())
	switch {
	case host == "":
		return refuse("it names no host")
	case strings.ContainsRune(host, '%'):
		return refuse("it names a network interface")
	case oddNumber(host):
		return refuse("its host is an address in an unusual notation: write it as in 192.0.2.1")
	}
	if a, err := netip.ParseAddr(host); err == nil {
		if reason := g.refuses(a); reason != "" {
			return refuse(reason)
		}
		return nil
	}
	if slices.Contains(g.hosts, host) {
		return nil
	}
	if localName(host) || g.proxy != nil && !strings.Contains(host, ".") {
		return refuse("its host is a name of this machine or its network" + howToAllow)
	}
	return nil
}

// dial connects to address, which is a host and a port. Where the host leads is
// checked when it is known.
func (g *Guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: 15 * time.Second, Resolver: g.resolver}
	host, port, err := net.SplitHostPort(address)
	switch {
	case err != nil:
		return nil, err
	case g.proxy != nil && canonical(host) == canonical(g.proxy.Hostname()) && port == proxyPort(g.proxy):
		// All goes through it, and the user chose it.
	case slices.Contains(g.hosts, canonical(host)):
		d.Control = control(g.refusesAllowed)
	default:
		d.Control = control(g.refuses)
	}
	return d.DialContext(ctx, network, address)
}

// control returns a function for net.Dialer.Control that refuses addresses.
func control(refuses func(netip.Addr) string) func(network, address string, _ syscall.RawConn) error {
	return func(network, address string, _ syscall.RawConn) error {
		if network != "tcp4" && network != "tcp6" {
			return &RefusedError{address, "it is no TCP connection but " + network}
		}
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return errors.Join(&RefusedError{address, "it is no address"}, err)
		}
		if reason := refuses(to.Addr()); reason != "" {
			return &RefusedError{to.Addr().String(), reason}
		}
		return nil
	}
}

// howToAllow ends the reason of what the user could allow.
const howToAllow = "; the user can allow it with web.allow_private"

// refuses says why an address is refused; empty if it is not.
func (g *Guard) refuses(a netip.Addr) string {
	if g.listed(a) {
		return ""
	}
	if reason := notPublic(a); reason != "" {
		return "it leads to " + reason + howToAllow
	}
	return ""
}

// refusesAllowed is refuses for the addresses of a host that is allowed.
func (g *Guard) refusesAllowed(a netip.Addr) string {
	if g.listed(a) || !isLinkLocal(a) {
		return ""
	}
	return "it leads to " + notPublic(a) + "; only a network of web.allow_private can allow that"
}

// listed reports whether a stands in an allowed network.
func (g *Guard) listed(a netip.Addr) bool {
	a = a.Unmap()
	return a.Zone() == "" && slices.ContainsFunc(g.networks, func(p netip.Prefix) bool { return p.Contains(a) })
}

func proxyPort(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	case strings.HasPrefix(u.Scheme, "socks5"):
		return "1080"
	}
	return "80"
}
