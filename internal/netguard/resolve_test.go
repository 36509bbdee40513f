package netguard

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// nameServer answers queries for A records: each with the next of a name's
// addresses, the last again and again.
type nameServer struct {
	conn  net.PacketConn
	mu    sync.Mutex
	names map[string][]string
	asked map[string]int
}

func startNameServer(t *testing.T, names map[string][]string) *nameServer {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameServer{conn: conn, names: names, asked: map[string]int{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if _, err := conn.WriteTo(s.reply(buf[:n]), from); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	return s
}

// reply makes the answer to a query of one question (RFC 1035, section 4).
func (s *nameServer) reply(query []byte) []byte {
	var labels []string
	i := 12
	for query[i] != 0 {
		n := int(query[i])
		labels = append(labels, string(query[i+1:i+1+n]))
		i += n + 1
	}
	question := query[12 : i+5]
	kind := binary.BigEndian.Uint16(query[i+1:])
	out := append([]byte(nil), query[:2]...)
	out = append(out, 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0)
	out = append(out, question...)
	s.mu.Lock()
	defer s.mu.Unlock()
	name := strings.Join(labels, ".")
	addresses := s.names[name]
	if kind != 1 || len(addresses) == 0 {
		return out
	}
	at := min(s.asked[name], len(addresses)-1)
	s.asked[name]++
	for a := range strings.SplitSeq(addresses[at], " ") {
		out[7]++
		out = append(out, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
		four := netip.MustParseAddr(a).As4()
		out = append(out, four[:]...)
	}
	return out
}

// resolver asks s, whatever the machine is set up for.
func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp4", s.conn.LocalAddr().String())
	}}
}

// A name that was allowed by its first address and then leads to this machine
// is refused when it does, because the check is that of the dialled address.
func TestNamesThatAreReboundAreRefusedWhenDialled(t *testing.T) {
	served := 0
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served++ }))
	defer srv.Close()
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	names := startNameServer(t, map[string][]string{
		"rebind.test":  {"127.0.0.2", "127.0.0.1"},
		"inside.test":  {"10.0.0.7"},
		"mixed.test":   {"127.0.0.1 169.254.169.254"},
		"allowed.test": {"127.0.0.1"},
		"cloud.test":   {"169.254.169.254"},
	})
	// 127.0.0.2 stands for a public address: nothing listens there.
	g := guard(t, Options{Allow: []string{"127.0.0.2", "allowed.test", "cloud.test"}, Resolver: names.resolver()})
	client := g.Client()
	get := func(host string) error {
		res, err := client.Get("http://" + host + ":" + port + "/")
		if err == nil {
			res.Body.Close()
		}
		return err
	}
	var refused *RefusedError
	if err := get("rebind.test"); err == nil || errors.As(err, &refused) {
		t.Errorf("the first time: %v", err)
	}
	for _, host := range []string{"rebind.test", "inside.test", "mixed.test", "cloud.test"} {
		if err := get(host); !errors.As(err, &refused) {
			t.Errorf("%s: %v", host, err)
		}
	}
	if served != 0 {
		t.Error("this machine was reached")
	}
	if err := get("allowed.test"); err != nil || served != 1 {
		t.Errorf("the host that the user allows: %v", err)
	}
}

func TestProxyIsUsedOnlyWhenItIsNamed(t *testing.T) {
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked = append(asked, r.URL.String()) }))
	defer proxy.Close()
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	names := startNameServer(t, map[string][]string{"site.test": {"10.0.0.1"}})
	if res, err := guard(t, Options{Resolver: names.resolver()}).Client().Get("http://site.test/"); err == nil {
		res.Body.Close()
		t.Error("the proxy of the environment was used")
	}
	u, _ := url.Parse(proxy.URL)
	client := guard(t, Options{Proxy: u}).Client()
	res, err := client.Get("http://site.test/x")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if len(asked) != 1 || asked[0] != "http://site.test/x" {
		t.Errorf("the proxy was asked for %q", asked)
	}
	for _, text := range []string{"http://127.0.0.1/", "http://intranet/", "http://localhost/", "http://10.0.0.1/"} {
		var refused *RefusedError
		if res, err := client.Get(text); !errors.As(err, &refused) {
			t.Errorf("%s through the proxy: %v", text, err)
			if res != nil {
				res.Body.Close()
			}
		}
	}
}
