package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/rondo-engine/rondo/internal/sandbox"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/sqlite"
)

func TestMain(m *testing.M) {
	sandbox.Init() // the tests' program is its own helper
	testscript.Main(runner{m, database}, map[string]func(){"rondo": main})
}

// TestScripts runs testdata/script/*.txtar. A script has a home and a
// workspace of its own, and no keys.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "user"))
			e.Setenv("RONDO_HOME", filepath.Join(e.WorkDir, "home"))
			// Local servers of the machine must not be found.
			for _, name := range []string{"OLLAMA_HOST", "LMSTUDIO_BASE_URL", "LLAMACPP_BASE_URL", "VLLM_BASE_URL"} {
				e.Setenv(name, "http://127.0.0.1:1")
			}
			e.Values[serverKey{}] = &scriptServer{}
			return os.MkdirAll(filepath.Join(e.WorkDir, "user"), 0o755)
		},
		Condition: func(cond string) (bool, error) {
			if cond == "landlock" {
				return sandbox.Version() >= 3, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"session": makeSession, "damage": damage, "server": startServer, "sent": checkSent, "site": startSite,
		},
	})
}

// makeSession is the script command "session ID TITLE": it stores a session
// with a user message, a tool call, its result and a reply.
func makeSession(ts *testscript.TestScript, _ bool, args []string) {
	ctx := context.Background()
	home := ts.Getenv("RONDO_HOME")
	ts.Check(os.MkdirAll(home, 0o700))
	s, err := sqlite.Open(ctx, filepath.Join(home, "sessions.db"), sqlite.Options{})
	ts.Check(err)
	at := time.Date(2026, 10, 21, 7, 0, 0, 0, time.UTC)
	ts.Check(s.Create(ctx, store.Session{
		ID: args[0], Title: args[1], Workspace: ts.Getenv("WORK"), Provider: "fake", Model: "m", CreatedAt: at, UpdatedAt: at,
	}))
	call := message.Call("c1", "list_dir", `{"path":"."}`)
	msgs := []*message.Message{
		message.NewUser("Why is " + args[1] + " flaky?"), message.NewAssistant(call),
		message.NewResult(call.Call, message.StatusOK, "a.go\n"+strings.Repeat("b", 500)), message.NewAssistant(message.Text("It races.")),
	}
	for i, m := range msgs {
		m.ID = args[0] + string(rune('a'+i))
	}
	ts.Check(s.Append(ctx, args[0], msgs, store.Update{EndReason: "end_turn", Usage: model.Usage{Input: 100, Output: 7}, Calls: 2, CostUSD: 0.25}))
	ts.Check(s.Close())
}

// damage is the script command "damage FILE AT LENGTH": it overwrites bytes of
// a file with zeros; a length of "all" is the rest of it.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(args[0])
	data, err := os.ReadFile(name)
	ts.Check(err)
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	n := len(data) - at
	if args[2] != "all" {
		n, err = strconv.Atoi(args[2])
		ts.Check(err)
	}
	clear(data[at : at+n])
	ts.Check(os.WriteFile(name, data, 0o600))
}
