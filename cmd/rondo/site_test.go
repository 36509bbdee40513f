package main

import (
	"image"
	"image/png"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// startSite is the script command "site DIR FILE...": it serves the files of DIR
// on this machine, sets SITE to the URL, and writes it into FILE... in the place
// of SITE, its port in that of PORT. /redirect?to=URL redirects. A small grey
// image is put into DIR and the current directory as grey.png.
func startSite(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: site DIR FILE...")
	}
	dir := ts.MkAbs(args[0])
	for _, at := range []string{dir, ts.MkAbs(".")} {
		f, err := os.Create(filepath.Join(at, "grey.png"))
		ts.Check(err)
		ts.Check(png.Encode(f, image.NewGray(image.Rect(0, 0, 8, 8))))
		ts.Check(f.Close())
	}
	files := http.FileServer(http.Dir(dir))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/redirect" {
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
			return
		}
		files.ServeHTTP(w, r)
	}))
	ts.Defer(srv.Close)
	ts.Setenv("SITE", srv.URL)
	_, port, err := net.SplitHostPort(srv.Listener.Addr().String())
	ts.Check(err)
	for _, name := range args[1:] {
		path := ts.MkAbs(name)
		text, err := os.ReadFile(path)
		ts.Check(err)
		text = []byte(strings.NewReplacer("SITE", srv.URL, "PORT", port).Replace(string(text)))
		ts.Check(os.WriteFile(path, text, 0o644))
	}
}
