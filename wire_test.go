package rondo_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/tool"
	"github.com/rondo-engine/rondo/tool/builtin"
)

// overTheWire runs f in each API mode with each store, against a server that
// says what the scripts tell it to and must find no fault.
func overTheWire(t *testing.T, script func() modeltest.Script, f func(t *testing.T, srv *modeltest.Server, m model.Model, st store.Store)) {
	t.Parallel()
	for _, mode := range modes {
		for _, kind := range []string{"memory", "sqlite"} {
			t.Run(string(mode)+" "+kind, func(t *testing.T) {
				srv, err := modeltest.Start(modeltest.Options{Scripts: []modeltest.Script{script()}})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(srv.Close)
				f(t, srv, openModel(t, srv, mode, "m", model.Quirks{}), openStore(t, kind))
				for _, fault := range srv.Faults() {
					t.Errorf("the server refused %s", fault)
				}
			})
		}
	}
}

// scripted is a script in the text form.
func scripted(t *testing.T, text string) func() modeltest.Script {
	return func() modeltest.Script {
		s, err := modeltest.Parse("script", text)
		if err != nil {
			t.Fatal(err)
		}
		return s[0]
	}
}

// Scenario 3.
func TestChatAndRunGiveTheSameResponse(t *testing.T) {
	overTheWire(t, scripted(t, "reply times forever\n  think hm\n  words The same answer.\n"),
		func(t *testing.T, _ *modeltest.Server, m model.Model, st store.Store) {
			a := newAgent(t, rondo.Options{Model: m, Store: st})
			text, err := a.Chat(t.Context(), "x")
			res, rerr := a.Run(t.Context(), rondo.Request{Text: "x"})
			if err != nil || rerr != nil || text != "The same answer." || text != res.FinalResponse {
				t.Errorf("Chat gave %q (%v), Run %q (%v)", text, err, res.FinalResponse, rerr)
			}
		})
}

// Scenario 15: what was sent is sent again byte for byte, also by a session that
// was resumed from the store. Cache marks move on and do not count.
func TestPrefixOfRequestsStaysTheSame(t *testing.T) {
	script := `
reply
  think I should look.
  text Let me see.
  call look#c1 {"z":"ü <b>", "a":[1, 2.0], "n":1}
  call look#c2 {"n":2}
reply
  text Found "it".
reply times forever
  text More.
`
	overTheWire(t, scripted(t, script), func(t *testing.T, srv *modeltest.Server, m model.Model, st store.Store) {
		o := rondo.Options{Model: m, Store: st, System: "Be \"kind\".", Tools: []*tool.Tool{fixed("look", "a <file>"), fixed("see", "x")}}
		first, err := newAgent(t, o).Run(t.Context(), rondo.Request{Text: "go"})
		if err != nil {
			t.Fatal(err)
		}
		resumed := newAgent(t, o).Session(first.SessionID)
		defer resumed.Close()
		for _, text := range []string{"and?", "then?"} {
			if _, err := resumed.Run(t.Context(), rondo.Request{Text: text}); err != nil {
				t.Fatal(err)
			}
		}
		requests := srv.Requests()
		for i, r := range requests[1:] {
			before, after := fixedParts(t, requests[i].Body), fixedParts(t, r.Body)
			for j, part := range before {
				if j >= len(after) || after[j] != part {
					t.Fatalf("part %d of request %d:\n%s\nbecame\n%s", j, i+1, part, after[min(j, len(after)-1)])
				}
			}
		}
	})
}

var cacheMark = regexp.MustCompile(`,?"cache_control":\{"type":"ephemeral"\}`)

// fixedParts are the parts of a request that a cache keeps: tools, system prompt
// and each message.
func fixedParts(t *testing.T, body []byte) []string {
	t.Helper()
	var r struct{ Tools, System, Instructions json.RawMessage }
	var said struct{ Messages, Input []json.RawMessage }
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(body, &said); err != nil {
		t.Fatal(err)
	}
	parts := []string{string(r.Tools), string(r.System), string(r.Instructions)}
	for _, m := range append(said.Messages, said.Input...) {
		parts = append(parts, string(m))
	}
	for i := range parts {
		parts[i] = cacheMark.ReplaceAllString(parts[i], "")
	}
	return parts
}

// Scenario 44: calls without a name get a terse answer, and the run ends.
func TestCallsWithoutANameEnd(t *testing.T) {
	script := func() modeltest.Script {
		s := modeltest.Script{}
		for i := range 3 {
			s.Replies = append(s.Replies, modeltest.Say(modeltest.CallID(fmt.Sprintf("c%d", i), "", "{}")))
		}
		s.Replies = append(s.Replies, modeltest.Say(modeltest.Text("I give up.")))
		return s
	}
	overTheWire(t, script, func(t *testing.T, _ *modeltest.Server, m model.Model, st store.Store) {
		a := newAgent(t, rondo.Options{Model: m, Store: st, Tools: []*tool.Tool{fixed("look", "x")}})
		res, err := a.Run(t.Context(), rondo.Request{Text: "go"})
		if err != nil || res.Reason != loop.LoopDetected || res.FinalResponse != "I give up." {
			t.Fatalf("ended with %s: %s, %v", res.Reason, res.FinalResponse, err)
		}
		for _, m := range res.Messages {
			if m.Role == message.Tool && (m.Status != message.StatusError || strings.Contains(m.Text(), "look")) {
				t.Errorf("answered with %s %q", m.Status, m.Text())
			}
		}
	})
}

// Scenario 49: of several calls those that touch one file, also under another
// name, come in order.
func TestCallsOnOneFileComeInOrder(t *testing.T) {
	script := `
reply
  call write_file#a {"path":"a.txt","content":"new\n"}
  call read_file#b {"path":"link.txt"}
  call write_file#c {"path":"b.txt","content":"other\n"}
  call read_file#d {"path":"a.txt"}
reply
  text ok
`
	overTheWire(t, scripted(t, script), func(t *testing.T, _ *modeltest.Server, m model.Model, st store.Store) {
		dir := t.TempDir()
		if err := os.Symlink("a.txt", filepath.Join(dir, "link.txt")); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
		a := newAgent(t, rondo.Options{Model: m, Store: st, Tools: filesIn(t, dir, builtin.WorkspaceOptions{})})
		res, err := a.Run(t.Context(), rondo.Request{Text: "go"})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{3, 5} {
			if got := res.Messages[i]; got.Status != message.StatusOK || !strings.Contains(got.Text(), "new") {
				t.Errorf("%s read %s %q", got.ToolCallID, got.Status, got.Text())
			}
		}
	})
}

func filesIn(t *testing.T, dir string, o builtin.WorkspaceOptions) []*tool.Tool {
	t.Helper()
	w, err := builtin.OpenWorkspace(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return builtin.Files(builtin.Options{Workspace: w})
}

// Scenario 55: a result of 1 MB is spilled to a file, which can be read; what is
// read of it is not spilled again.
func TestLargeResultIsSpilledOnce(t *testing.T) {
	path := regexp.MustCompile(`/[^\s;,\]]+spill[^\s;,\]]+`)
	script := func() modeltest.Script {
		n := 0
		return modeltest.Script{Func: func(r *modeltest.Request) modeltest.Reply {
			switch n++; n {
			case 1:
				return modeltest.Say(modeltest.CallID("a", "big", "{}"))
			case 2:
				args, _ := json.Marshal(map[string]any{"path": path.FindString(r.LastResults())})
				return modeltest.Say(modeltest.CallID("b", "read_file", string(args)))
			}
			return modeltest.Say(modeltest.Text("ok"))
		}}
	}
	overTheWire(t, script, func(t *testing.T, srv *modeltest.Server, m model.Model, st store.Store) {
		spill := filepath.Join(t.TempDir(), "spill")
		if err := os.Mkdir(spill, 0o700); err != nil {
			t.Fatal(err)
		}
		big := fixed("big", strings.Repeat("a line of 32 bytes, to be exact\n", 32768))
		a := newAgent(t, rondo.Options{
			Model: m, Store: st, ResultLimits: tool.Limits{SpillDir: spill},
			Tools: append(filesIn(t, t.TempDir(), builtin.WorkspaceOptions{Readable: []string{spill}}), big),
		})
		res, err := a.Run(t.Context(), rondo.Request{Text: "go"})
		if err != nil {
			t.Fatal(err)
		}
		cut, read := res.Messages[2], res.Messages[4]
		if n := len(cut.Text()); n > 60_000 || !strings.Contains(cut.Text(), spill) {
			t.Errorf("the result has %d bytes: …%s", n, cut.Text()[max(0, n-300):])
		}
		if read.Status != message.StatusOK || !strings.Contains(read.Text(), "a line of 32 bytes") || len(read.Text()) > 60_000 {
			t.Errorf("the file reads as %s, %d bytes: %.200s", read.Status, len(read.Text()), read.Text())
		}
		if files, err := os.ReadDir(spill); err != nil || len(files) != 1 {
			t.Errorf("the spill directory holds %v, %v", files, err)
		}
		if last := srv.Requests()[2]; len(last.Body) > 200_000 {
			t.Errorf("the last request has %d bytes", len(last.Body))
		}
	})
}
