package netguard

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func guard(t *testing.T, o Options) *Guard {
	t.Helper()
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// fineURLs pass the guard: nothing that they say is private.
const fineURLs = `
http://example.com
https://example.com/
https://example.com:443/a/b?c=d#e
http://example.com:8080/
https://www.example.co.uk/path/to/page.html
HTTPS://EXAMPLE.COM/
https://example.com./
https://xn--bcher-kva.example/
https://bücher.example/
https://例え.テスト/
https://sub.domain.with.many.labels.example.org/
https://1.1.1.1/
http://8.8.8.8/
http://93.184.216.34:8000/
https://[2606:4700:4700::1111]/
https://[2001:4860:4860::8888]:8443/
http://[64:ff9b::808:808]/
https://172.15.255.255/
https://172.32.0.1/
https://100.63.255.255/
https://100.128.0.1/
https://192.167.1.1/
https://169.253.1.1/
https://223.255.255.254/
https://198.17.0.1/
https://11.0.0.1/
https://localhost.example.com/
https://127.0.0.1.example.com/
https://internal.example.com/
https://0x7f.example.com/
https://10.example.com/
https://example.com/?next=http://127.0.0.1/
https://example.com/http://localhost/
https://example.com/@169.254.169.254/
https://1e100.net/
https://example.com:65535/
`

// refusedURLs are refused for what they say, before a name is looked up.
const refusedURLs = `
http://localhost/
http://localhost:8080/admin
http://LOCALHOST/
http://localhost./
http://a.localhost/
http://printer.local/
http://metadata.google.internal/computeMetadata/v1/
http://router.home.arpa/
http://127.0.0.1/
http://127.0.0.1:3000/
http://127.1.2.3/
http://127.0.0.1./
http://0.0.0.0/
http://0.1.2.3/
http://10.0.0.1/
http://172.16.0.1/
http://172.31.255.255/
http://192.168.1.1/
http://169.254.169.254/latest/meta-data/
http://168.63.129.16/
http://100.64.0.1/
http://100.100.100.200/
http://192.0.0.1/
http://192.88.99.1/
http://198.18.0.1/
http://224.0.0.1/
http://240.0.0.1/
http://255.255.255.255/
http://2130706433/
http://0x7f000001/
http://0177.0.0.1/
http://0x7f.0.0.1/
http://127.1/
http://127.0.1/
http://017700000001/
http://1.1.1.0x7f/
http://3221225985/
http://[::1]/
http://[::]/
http://[0:0:0:0:0:0:0:1]:80/
http://[::ffff:127.0.0.1]/
http://[::ffff:a00:1]/
http://[::127.0.0.1]/
http://[fe80::1]/
http://[fe80::1%25eth0]/
http://[fc00::1]/
http://[fd00:ec2::254]/
http://[fec0::1]/
http://[ff02::1]/
http://[64:ff9b::7f00:1]/
http://[64:ff9b::a9fe:a9fe]/
http://[64:ff9b:1::1]/
http://[2002:7f00:1::]/
http://[2002:a00:1::1]/
http://[2001:0:7f00:1::]/
http://[2001:db8::1]/
http://[100::1]/
http://user@example.com/
http://user:pass@example.com/
http://example.com@127.0.0.1/
http://example.com:0/
http://example.com:22/
http://example.com:25/
http://example.com:6379/
http://example.com:65536/
ftp://example.com/
file:///etc/passwd
gopher://example.com/
data:text/html,hello
javascript:alert(1)
unix:///var/run/docker.sock
http:///path
//example.com/
`

func TestURLsOfThePublicInternetPass(t *testing.T) {
	g := guard(t, Options{})
	for _, text := range strings.Fields(fineURLs) {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Check(u); err != nil {
			t.Error(err)
		}
	}
}

func TestURLsThatLeadElsewhereAreRefusedUnasked(t *testing.T) {
	client := guard(t, Options{}).Client()
	for _, text := range strings.Fields(refusedURLs) {
		res, err := client.Get(text)
		if err == nil {
			res.Body.Close()
		}
		var refused *RefusedError
		if u, parseErr := url.Parse(text); parseErr == nil && u.Port() != "65536" && !errors.As(err, &refused) {
			t.Errorf("%s: %v", text, err)
		}
		if err == nil {
			t.Errorf("%s was fetched", text)
		}
	}
}

func TestAddressesAreJudgedAsTheRegistriesHaveThem(t *testing.T) {
	g := guard(t, Options{})
	for text, fine := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1": true, "64:ff9b::808:808": true, "::ffff:8.8.8.8": true, "2a00::1": true,
		"203.0.113.1": false, "198.51.100.1": false, "192.0.2.1": false, "198.19.255.255": false, "3fff::1": false, "5f00::1": false,
		"::ffff:0:7f00:1": false, "2001:20::1": false, "4000::1": false, "fe80::1%eth0": false, "::7f00:1": false,
	} {
		if reason := g.refuses(netip.MustParseAddr(text)); (reason == "") != fine {
			t.Errorf("%s: %q", text, reason)
		}
	}
	if g.refuses(netip.Addr{}) == "" {
		t.Error("no address at all is reached")
	}
}

func TestWhatTheUserAllowsIsReached(t *testing.T) {
	g := guard(t, Options{Allow: []string{"intranet.example", "10.1.0.0/16", "192.168.7.7", "::1", "Localhost"}})
	for text, fine := range map[string]bool{
		"http://intranet.example/": true, "http://INTRANET.example./": true, "http://10.1.2.3/": true, "http://192.168.7.7:8080/": true,
		"http://[::1]:3000/": true, "http://localhost/": true,
		"http://10.2.0.1/": false, "http://192.168.7.8/": false, "http://127.0.0.1/": false, "http://sub.localhost/": false,
		"http://169.254.169.254/": false, "http://user@intranet.example/": false, "http://intranet.example:25/": false,
	} {
		u, _ := url.Parse(text)
		if err := g.Check(u); (err == nil) != fine {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, entry := range []string{"", "http://a.example", "a.example:80", "10.0.0.0/99", "2130706433", "user@a.example", "*.example"} {
		if _, err := New(Options{Allow: []string{entry}}); err == nil {
			t.Errorf("%q was taken", entry)
		}
	}
}

func TestRedirectsAreCheckedAndBounded(t *testing.T) {
	var served int
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served++
		to := r.URL.Query().Get("to")
		if to == "" {
			to = r.URL.String()
		}
		http.Redirect(w, r, to, http.StatusFound)
	}))
	defer srv.Close()
	client := guard(t, Options{Allow: []string{"127.0.0.1"}}).Client()
	for _, to := range []string{
		"http://127.0.0.2/", "http://localhost/", "http://[::1]/", "http://2130706433/", "http://169.254.169.254/", "file:///etc/passwd",
		"http://u:p@127.0.0.1/", "ftp://127.0.0.1/", "//127.0.0.3/",
	} {
		served = 0
		res, err := client.Get(srv.URL + "/?to=" + url.QueryEscape(to))
		var refused *RefusedError
		if !errors.As(err, &refused) || served != 1 {
			t.Errorf("redirected to %s: %v after %d requests", to, err, served)
		}
		if res != nil {
			res.Body.Close()
		}
	}
	served = 0
	res, err := client.Get(srv.URL)
	if err == nil || !strings.Contains(err.Error(), "redirected more than 10 times") || served != MaxRedirects+1 {
		t.Errorf("a loop of redirects: %v after %d requests", err, served)
	}
	if res != nil {
		res.Body.Close()
	}
}
