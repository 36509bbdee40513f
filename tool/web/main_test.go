package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/rondo-engine/rondo/internal/netguard"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// site starts a server on this machine.
func site(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

// says serves one body.
func says(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		fmt.Fprint(w, body)
	}
}

// raw starts a server that writes what it is given, whatever HTTP says, and
// then does what then says before it closes the connection.
func raw(t *testing.T, text string, then func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				buf := make([]byte, 4096)
				if _, err := conn.Read(buf); err != nil {
					return
				}
				if _, err := conn.Write([]byte(text)); err == nil && then != nil {
					then(conn)
				}
			})
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return "http://" + l.Addr().String()
}

// tools are those of this package, by name, with a client that may reach this
// machine at 127.0.0.1.
func tools(t *testing.T, o Options) map[string]*tool.Tool {
	t.Helper()
	if o.Client == nil {
		g, err := netguard.New(netguard.Options{Allow: []string{"127.0.0.1"}})
		if err != nil {
			t.Fatal(err)
		}
		o.Client = g.Client()
	}
	all := map[string]*tool.Tool{}
	for _, one := range Tools(o) {
		all[one.Name] = one
	}
	return all
}

// call runs a tool; an error is the text of a failed result.
func call(t *testing.T, one *tool.Tool, args any) tool.Result {
	t.Helper()
	b, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	res, err := one.Run(t.Context(), tool.Call{ID: "c1", Name: one.Name, Args: b, Progress: func(string) {}})
	if err != nil {
		return tool.Result{Text: "error: " + err.Error(), Status: message.StatusError}
	}
	return res
}

func fetch(t *testing.T, url string) tool.Result {
	t.Helper()
	return call(t, tools(t, Options{})["web_fetch"], map[string]any{"url": url})
}

// holds checks that a result holds all of want.
func holds(t *testing.T, res tool.Result, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(res.Text, w) {
			t.Errorf("%q is not in\n%.2000s", w, res.Text)
		}
	}
}

// answers is an Ask that keeps what it was asked and answers by f.
type answers struct {
	mu    sync.Mutex
	asked []*model.Request
	f     func(prompt string) (string, error)
}

func (a *answers) ask(ctx context.Context, req *model.Request) (*model.Reply, error) {
	a.mu.Lock()
	a.asked = append(a.asked, req)
	a.mu.Unlock()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	said, err := a.f(req.History.Last().Text())
	if err != nil {
		return nil, err
	}
	return &model.Reply{Message: message.NewAssistant(message.Text(said)), Finish: model.FinishStop}, nil
}

var errDown = errors.New("the model is down")

func picturePNG(t *testing.T, side int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, side, side))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
