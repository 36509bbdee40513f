//go:build unix

package hookcmd

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/hook"
	"github.com/rondo-engine/rondo/message"
)

// Scenario 60: what is no answer is an error and changes nothing.
func TestAnswers(t *testing.T) {
	r := &Runner{Dir: t.TempDir()}
	for _, c := range []struct{ command, block, fails string }{
		{command: `true`},
		{command: `cat >/dev/null`},
		{command: `echo '{}'`},
		{command: `echo '{"action":"block","message":"no"}'`, block: "no"},
		{command: `echo '{"decision":"block","reason":"not so"}'; echo noise >&2`, block: "not so"},
		{command: `echo '{"decision":"allow"}'`},
		{command: `echo garbage`, fails: "no JSON object"},
		{command: `echo '[1]'`, fails: "no JSON object"},
		{command: `echo '{"action":"block"}'; exit 1`, fails: "exit status 1"},
		{command: `echo why >&2; exit 3`, fails: "exit status 3: why"},
		{command: `kill -9 $$`, fails: "exit status -1"},
		{command: `no-such-command-here`, fails: "exit status 127"},
		{command: `sleep 60`, fails: "did not end within its time"},
		{command: `head -c 400000 /dev/zero`, fails: "more than"},
	} {
		a, err := r.Ask(t.Context(), Command{Event: "pre_tool_call", Command: c.command, Timeout: 2 * time.Second}, Input{})
		why, blocks := a.Blocks()
		switch {
		case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails) || blocks):
			t.Errorf("%s: got %+v, %v", c.command, a, err)
		case c.fails == "" && (err != nil || why != c.block || blocks != (c.block != "")):
			t.Errorf("%s: got %+v, %v", c.command, a, err)
		}
	}
}

func TestCommandsGetWhatHappened(t *testing.T) {
	dir := t.TempDir()
	r := &Runner{Dir: dir}
	h := r.Hooks([]Command{
		{Event: "pre_tool_call", Matcher: "shell|write_.*", Command: `cat > seen.json; echo '{"tool_input":{"command":"ls"}}'`},
		{Event: "post_tool_call", Command: `cat > after.json; echo '{"result":"other words"}'`},
		{Event: "session_start", Command: `echo '{"context":"It rains."}'`},
		{Event: "session_start", Command: `exit 1`},
		{Event: "session_start", Command: `echo '{"context":"It is dark."}'`},
	}, nil)
	call := hook.ToolCall{Session: "s", Task: "t", ID: "c1", Name: "write_file", Arguments: json.RawMessage(`{"path":"a"}`)}
	d, err := h.PreToolCall(t.Context(), call)
	if err != nil || d.Block || string(d.Arguments) != `{"command":"ls"}` {
		t.Errorf("got %+v, %v", d, err)
	}
	same(t, filepath.Join(dir, "seen.json"), `{"hook_event_name":"pre_tool_call","tool_name":"write_file","tool_input":{"path":"a"},"session_id":"s","cwd":"`+dir+
		`","extra":{"agent":null,"task_id":"t","tool_call_id":"c1"}}`)
	call.Name = "read_file"
	if d, err := h.PreToolCall(t.Context(), call); err != nil || d.Arguments != nil {
		t.Errorf("the matcher let read_file through: %+v, %v", d, err)
	}
	res := hook.Result{Text: "words", Status: message.StatusOK}
	call.Arguments = json.RawMessage("broken")
	if err := h.PostToolCall(t.Context(), call, &res); err != nil || res.Text != "other words" {
		t.Errorf("got %+v, %v", res, err)
	}
	same(t, filepath.Join(dir, "after.json"), `{"hook_event_name":"post_tool_call","tool_name":"read_file","session_id":"s","cwd":"`+dir+
		`","extra":{"agent":null,"raw_tool_input":"broken","result":"words","status":"ok","task_id":"t","tool_call_id":"c1"}}`)
	if text, err := h.SessionStart(t.Context(), hook.Session{ID: "s"}); text != "It rains.\n\nIt is dark." || err == nil {
		t.Errorf("got %q, %v", text, err)
	}
	if h.SessionEnd != nil || h.PreModelCall != nil {
		t.Error("there are hooks without commands")
	}
}

func same(t *testing.T, file, want string) {
	t.Helper()
	got, err := os.ReadFile(file)
	if err != nil || string(got) != want {
		t.Errorf("%s\ngot  %s, %v\nwant %s", file, got, err, want)
	}
}

func TestACommandEndsWithItsRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	begun := time.Now()
	_, err := (&Runner{Dir: t.TempDir()}).Ask(ctx, Command{Command: "sleep 60"}, Input{})
	if err == nil || time.Since(begun) > 20*time.Second {
		t.Errorf("after %v: %v", time.Since(begun), err)
	}
}

func TestCheckFindsWhatCannotWork(t *testing.T) {
	for _, c := range []Command{{Event: "session_start"}, {Event: "pre_tool_call", Command: "x", Matcher: "("}} {
		if c.Check() == nil {
			t.Errorf("%+v passes", c)
		}
	}
	a, b := Command{Event: "session_start", Command: "x"}, Command{Event: "session_end", Command: "x"}
	if a.Check() != nil || a.Digest() == b.Digest() {
		t.Error("digests do not tell commands apart")
	}
}
