package wire

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/rondo-engine/rondo/model"
)

// Options are shared by all clients of the adapters. The zero value is ready
// to use against endpoints that ask for no key.
type Options struct {
	// HTTP sends the requests; nil takes one made by NewHTTPClient, which all
	// who leave it nil share. Redirects to another host are refused whatever
	// its CheckRedirect says.
	HTTP *http.Client
	// Keys gives the key of each request; nil sends none.
	Keys model.KeySource
	// IdleTimeout bounds the time without a single byte of the reply; 0 takes
	// 120 s, or 1800 s for loopback and private hosts.
	IdleTimeout time.Duration
	// DataTimeout bounds the time in which there are bytes (comments, pings)
	// but no event with data, and the time to wait for a reply that was not
	// asked for as a stream; 0 takes 300 s, or 1800 s for loopback and private
	// hosts.
	DataTimeout time.Duration
	// Now tells the time against which dates in headers are read; nil takes
	// time.Now.
	Now func() time.Time
}

const (
	defaultIdle = 120 * time.Second
	defaultData = 300 * time.Second
	// localWait is for hosts that may have to load a model first.
	localWait = 1800 * time.Second
)

var sharedClient = sync.OnceValue(NewHTTPClient)

func (o *Options) client() *http.Client {
	base := o.HTTP
	if base == nil {
		return sharedClient()
	}
	c := *base
	c.CheckRedirect = checkRedirect
	return &c
}

func (o *Options) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

// timeouts returns the bounds on silence for x.
func (o *Options) timeouts(x *Exchange) (idle, data time.Duration) {
	idle, data = defaultIdle, defaultData
	if u, err := url.Parse(x.URL); err == nil && isLocal(u.Hostname()) {
		idle, data = localWait, localWait
	}
	if o.IdleTimeout > 0 {
		idle = o.IdleTimeout
	}
	if o.DataTimeout > 0 {
		data = o.DataTimeout
	}
	if !x.Stream {
		idle = data
	}
	return idle, data
}

// isLocal reports whether host is this machine or in a private network.
func isLocal(host string) bool {
	host = strings.ToLower(host)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast())
}
