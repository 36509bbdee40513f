package wire

import (
	"net"
	"net/http"
	"time"
)

// maxRedirects is how many redirects within a host are followed.
const maxRedirects = 5

// headerBuffer is the size of each connection's write buffer. It holds headers
// only: bodies go around it, see dialPlain.
const headerBuffer = 1 << 10

// NewHTTPClient makes a client for many conversations at once: connections are
// kept and shared, dead ones are noticed, the environment's proxy settings
// hold except for loopback, and there is no limit on the length of a reply in
// time. It does not ask for compression, which would only delay a stream.
func NewHTTPClient() *http.Client {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 15 * time.Second}
	return &http.Client{
		CheckRedirect: checkRedirect,
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment, // leaves out loopback by itself
			DialContext:           dialPlain(dialer.DialContext),
			ForceAttemptHTTP2:     true,
			HTTP2:                 &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
			MaxIdleConnsPerHost:   2048,
			IdleConnTimeout:       90 * time.Second,
			TLSHandshakeTimeout:   15 * time.Second,
			ExpectContinueTimeout: time.Second,
			DisableCompression:    true,
			WriteBufferSize:       headerBuffer,
		},
	}
}

// checkRedirect follows a redirect only when the same request goes to the same
// host by the same scheme: the key is for that host, and the body would be lost
// with the method.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > maxRedirects || req.Method != first.Method ||
		req.URL.Host != first.URL.Host || req.URL.Scheme != first.URL.Scheme {
		return http.ErrUseLastResponse
	}
	return nil
}
