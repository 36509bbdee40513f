package main

import (
	"regexp"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
)

// serverKey is where a script's environment keeps its model server.
type serverKey struct{}

// scriptServer is the model server of a script, once it has started.
type scriptServer struct{ *modeltest.Server }

// startServer is the script command "server FILE [KEY]": it starts a model
// server that says what FILE tells it to and sets RONDO_BASE_URL, RONDO_API_MODE
// and RONDO_MODEL for it. At the end of the script the server must have found no
// fault, unless a key was given, which is there to be refused.
func startServer(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) == 0 || len(args) > 2 {
		ts.Fatalf("usage: server FILE [KEY]")
	}
	scripts, err := modeltest.Parse(args[0], ts.ReadFile(args[0]))
	ts.Check(err)
	o := modeltest.Options{Scripts: scripts}
	if len(args) == 2 {
		o.Key = args[1]
	}
	srv, err := modeltest.Start(o)
	ts.Check(err)
	ts.Value(serverKey{}).(*scriptServer).Server = srv
	ts.Setenv("RONDO_BASE_URL", srv.BaseURL(model.ChatCompletions))
	ts.Setenv("RONDO_API_MODE", string(model.ChatCompletions))
	ts.Setenv("RONDO_MODEL", "m")
	ts.Defer(func() {
		srv.Close()
		for _, f := range srv.Faults() {
			if o.Key == "" {
				ts.Logf("the server refused %s", f)
				panic("faults at the model server")
			}
		}
	})
}

// checkSent is the script command "sent N PATTERN": the body of the server's
// N-th request matches, or with ! in front does not. Without a pattern there
// are N requests in all.
func checkSent(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || len(args) > 2 {
		ts.Fatalf("usage: [!] sent N [PATTERN]")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	requests := ts.Value(serverKey{}).(*scriptServer).Requests()
	if len(args) == 1 {
		if len(requests) != n {
			ts.Fatalf("%d requests came, want %d", len(requests), n)
		}
		return
	}
	if n < 1 || n > len(requests) {
		ts.Fatalf("request %d of %d", n, len(requests))
	}
	body := string(requests[n-1].Body)
	if re := regexp.MustCompile(args[1]); re.MatchString(body) == neg {
		ts.Fatalf("request %d is %s", n, body)
	}
}
