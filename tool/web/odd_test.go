package web

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-engine/rondo/internal/netguard"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/tool"
)

const okHead = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"

func TestServerThatStopsInTheMiddle(t *testing.T) {
	for name, text := range map[string]string{
		"of a body that is shorter than it says": okHead + "Content-Length: 1000\r\n\r\nthe beginning",
		"of a chunk":                             okHead + "Transfer-Encoding: chunked\r\n\r\n20\r\nthe beginning",
	} {
		res := fetch(t, raw(t, text, nil))
		holds(t, res, "the beginning", "[this is not all of it: the connection broke off: unexpected EOF]")
		if res.Status != message.StatusOK || !res.Truncated {
			t.Errorf("%s: %s", name, res.Status)
		}
	}
}

func TestBodyThatIsLongerThanItSays(t *testing.T) {
	res := fetch(t, raw(t, okHead+"Content-Length: 5\r\n\r\nhello world", nil))
	if !strings.HasSuffix(res.Text, "\n\nhello") {
		t.Errorf("%q", res.Text)
	}
}

// piped is a client of a server in memory, so that its time is virtual. What it
// serves begins with text, and then does what then says.
func piped(text string, then func(net.Conn)) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				defer theirs.Close()
				if _, err := http.ReadRequest(bufio.NewReader(theirs)); err != nil {
					return
				}
				if _, err := theirs.Write([]byte(text)); err == nil {
					then(theirs)
				}
			}()
			return ours, nil
		},
	}}
}

// A server that sends a byte now and then is left after the time for one URL, and
// what it has sent is used.
func TestServerThatDrips(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := piped(okHead+"\r\n", func(conn net.Conn) {
			for {
				if _, err := conn.Write([]byte("drip ")); err != nil {
					return
				}
				time.Sleep(9 * time.Second)
			}
		})
		began := time.Now()
		res := call(t, tools(t, Options{Client: client})["web_fetch"], map[string]any{"url": "http://example.com"})
		holds(t, res, "drip drip drip drip drip drip drip \n\n[this is not all of it: the server had not sent the rest within 1m0s]")
		if took := time.Since(began); took != time.Minute {
			t.Errorf("it took %v", took)
		}
		time.Sleep(time.Minute) // the server sees that nobody listens
	})
}

func TestServerThatSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := piped("", func(conn net.Conn) { io.Copy(io.Discard, conn) }) //nolint:errcheck // until it is closed
		res := call(t, tools(t, Options{Client: client})["web_fetch"], map[string]any{"url": "http://example.com"})
		holds(t, res, "error: fetch http://example.com: no answer within 1m0s")
	})
}

// What is stopped stops at once, and is no result.
func TestFetchingStopsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := piped(okHead+"\r\nthe beginning", func(conn net.Conn) { io.Copy(io.Discard, conn) }) //nolint:errcheck // until it is closed
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		web := tools(t, Options{Client: client})["web_fetch"]
		res, err := web.Run(ctx, tool.Call{Name: web.Name, Args: []byte(`{"url": "http://example.com"}`)})
		if !errors.Is(err, context.Canceled) || time.Since(began) != time.Second {
			t.Errorf("after %v: %q, %v", time.Since(began), res.Text, err)
		}
	})
}

func TestEndlessBodiesAreReadInPart(t *testing.T) {
	endless := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		line := []byte(strings.Repeat("x", 999) + "\n")
		for {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := call(t, tools(t, Options{maxText: 100_000})["web_fetch"], map[string]any{"url": site(t, endless), "start": 99_900, "limit": 1000})
	runtime.ReadMemStats(&after)
	holds(t, res, "[this is not all of it: it is larger than the 100000 bytes that are read]")
	if used := after.TotalAlloc - before.TotalAlloc; used > 10<<20 {
		t.Errorf("%d bytes were used", used)
	}
}

// 200 MB of zeros are 200 KB when they are packed; the server may pack no more
// than is read.
func TestPackedBodiesAreBoundedUnpacked(t *testing.T) {
	bomb := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		zeros := []byte(strings.Repeat("0", 1<<20))
		for range 200 {
			if _, err := z.Write(zeros); err != nil {
				return
			}
		}
		z.Close()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := call(t, tools(t, Options{maxText: 100_000})["web_fetch"], map[string]any{"url": site(t, bomb), "start": 99_990})
	runtime.ReadMemStats(&after)
	holds(t, res, "[this is not all of it: it is larger than the 100000 bytes")
	if used := after.TotalAlloc - before.TotalAlloc; used > 50<<20 {
		t.Errorf("%d bytes were used", used)
	}
	twice := site(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		fmt.Fprint(w, "x")
	})
	holds(t, fetch(t, twice), `error: fetch `+twice+`: the server packed the answer as "br"`)
}

func TestImagesThatAreTooLargeAreNotShownInPart(t *testing.T) {
	url := site(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Write(picturePNG(t, 4)) //nolint:errcheck // the reader goes away
		zeros := make([]byte, 1000)
		for range 300 {
			if _, err := w.Write(zeros); err != nil {
				return
			}
		}
	})
	res := call(t, tools(t, Options{maxMedia: 200_000})["web_fetch"], map[string]any{"url": url})
	holds(t, res, "error: ", "(image/png) cannot be shown: it is larger than the 200000 bytes")
}

func TestRedirectsAreFollowedAndTold(t *testing.T) {
	url := site(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/here":
			says("text/html", "<a href=x>y</a>")(w, r)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/inside":
			http.Redirect(w, r, "http://192.168.1.1/admin", http.StatusMovedPermanently)
		case "/cloud":
			http.Redirect(w, r, "http://169.254.169.254/latest/", http.StatusTemporaryRedirect)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		default:
			http.Redirect(w, r, "/here", http.StatusFound)
		}
	})
	holds(t, fetch(t, url+"/start"), url+"/here (redirected from "+url+"/start)", "[y]("+url+"/x)")
	holds(t, fetch(t, url+"/loop"), "error: fetch "+url+"/loop: it was redirected more than 10 times")
	holds(t, fetch(t, url+"/inside"), "error: http://192.168.1.1/admin is refused: it leads to a private network; the user can allow it with web.allow_private")
	holds(t, fetch(t, url+"/cloud"), "error: http://169.254.169.254/latest/ is refused: it leads to a link-local address")
	holds(t, fetch(t, url+"/file"), "error: ", "refused: only http and https are fetched")
}

func TestPrivateAddressesAreRefused(t *testing.T) {
	g, err := netguard.New(netguard.Options{})
	if err != nil {
		t.Fatal(err)
	}
	reached := false
	url := site(t, func(http.ResponseWriter, *http.Request) { reached = true })
	all := tools(t, Options{Client: g.Client(), Look: (&answers{}).ask})
	for name, args := range map[string]map[string]any{"web_fetch": {"url": url}, "web_extract": {"url": url}, "vision": {"image": url}} {
		holds(t, call(t, all[name], args), "error: "+url+" is refused: it leads to this machine")
	}
	if reached {
		t.Error("this machine was reached")
	}
}

func TestCertificatesAreChecked(t *testing.T) {
	srv := httptest.NewUnstartedServer(says("text/plain", "secret"))
	srv.Config.ErrorLog = quiet()
	srv.StartTLS()
	defer srv.Close()
	holds(t, fetch(t, srv.URL), "error: fetch "+srv.URL+": tls: failed to verify certificate")
}

func TestConnectionsThatCannotBeMade(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	l.Close()
	res := call(t, tools(t, Options{Hint: "set a proxy"})["web_fetch"], map[string]any{"url": url})
	holds(t, res, "error: fetch "+url, "connection refused; set a proxy")
	holds(t, fetch(t, raw(t, "no HTTP at all\r\n\r\n", nil)), "error: ", "malformed HTTP")
}

func TestNothingIsFetchedWhereTheNetworkIsClosed(t *testing.T) {
	all := tools(t, Options{Closed: "the network is closed", Look: (&answers{}).ask})
	for _, name := range []string{"web_fetch", "web_extract"} {
		if !all[name].Hidden {
			t.Errorf("%s is offered", name)
		}
		holds(t, call(t, all[name], map[string]any{"url": "https://example.com"}), "error: the network is closed")
	}
	if all["vision"].Hidden {
		t.Error("vision is not offered, though there are files")
	}
	holds(t, call(t, all["vision"], map[string]any{"image": "https://example.com/a.png"}), "error: the network is closed")
}
