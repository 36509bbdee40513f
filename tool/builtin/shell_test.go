//go:build unix

package builtin

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/internal/proc"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/tool"
)

func TestShellTellsHowACommandEnded(t *testing.T) {
	b := newBench(t, map[string]string{"sub/f": ""})
	for command, want := range map[string]string{
		"echo hi":                 "hi\n",
		"true":                    "[no output]",
		"exit 3":                  "[exit status 3]",
		"printf x; exit 3":        "x\n[exit status 3]",
		"echo a; echo b >&2":      "a\nb\n",
		"kill -9 $$":              "[ended by signal: killed]",
		"cat":                     "[no output]",
		"echo $PAGER $TERM":       "cat dumb\n",
		"sleep 0.01 & echo early": "early\n",
	} {
		b.same(command, b.ok("shell", args{"command": command}), want)
	}
	b.same("workdir", b.ok("shell", args{"command": "ls", "workdir": "sub"}), "f\n")
	b.fails("shell", args{"command": "ls", "workdir": "sub/f"}, "not a directory")
}

// Case 34.
func TestShellDoesNotWaitForTheBackground(t *testing.T) {
	b := newBench(t, nil)
	got := b.ok("shell", args{"command": "sleep 4413 & echo done", "timeout": 60})
	b.same("text", got, "done\n[ended 1 background processes that still held the output]")
}

// Case 36.
func TestShellSavesLongOutput(t *testing.T) {
	spill := t.TempDir()
	ws, err := OpenWorkspace(t.TempDir(), WorkspaceOptions{Readable: []string{spill}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	o := Options{Workspace: ws, SpillDir: spill}
	res, err := Shell(o).Run(t.Context(), toolCall([]byte(`{"command":"yes 0123456789 | head -c 1000000; echo; echo END"}`)))
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Text) > 50_000 || !strings.Contains(res.Text, "bytes dropped; the whole is in "+res.Source) || !strings.HasSuffix(res.Text, "END\n") {
		t.Errorf("%d bytes: …%q", len(res.Text), res.Text[len(res.Text)-40:])
	}
	if info, err := os.Stat(res.Source); err != nil || info.Size() != 1_000_005 {
		t.Errorf("saved %v, %v", info, err)
	}
	limited := tool.Limits{SpillDir: filepath.Join(spill, "again")}.NewRound(1).Limit(nil, tool.Call{}, res)
	if limited.Text != res.Text {
		t.Error("the result was cut a second time")
	}
}

func TestShellTimesOut(t *testing.T) {
	ws, err := OpenWorkspace(t.TempDir(), WorkspaceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	sh := Shell(Options{Workspace: ws, MaxTimeout: 300 * time.Millisecond})
	res, err := sh.Run(t.Context(), toolCall([]byte(`{"command":"echo begun; sleep 4421","timeout":60}`)))
	if err != nil || res.Status != message.StatusError ||
		res.Text != "begun\n[timed out after 300ms; it was ended with all that it had started]" {
		t.Errorf("got %+v, %v", res, err)
	}
}

// Case 31, by way of Execute.
func TestShellIsInterrupted(t *testing.T) {
	b := newBench(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	out := tool.Execute(ctx, []tool.Job{
		b.job("shell", args{"command": "echo begun; sleep 4411 & (sleep 4412; true) & wait"}),
	}, tool.Options{Grace: 2 * time.Second}) // the grace is for slow machines
	res := out[0].Result
	if res.Status != message.StatusInterrupted || !strings.HasPrefix(res.Text, "begun\n[cancelled; ") {
		t.Errorf("got %+v", res)
	}
}

func TestShellLetsASandboxRunTheCommand(t *testing.T) {
	ws, err := OpenWorkspace(t.TempDir(), WorkspaceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	var got proc.Cmd
	sh := Shell(Options{Workspace: ws, Run: func(_ context.Context, c proc.Cmd) (proc.Result, error) {
		got = c
		return proc.Result{Head: "confined"}, nil
	}})
	res, err := sh.Run(t.Context(), toolCall([]byte(`{"command":"rm -rf /"}`)))
	if err != nil || res.Text != "confined" || got.Argv[2] != "rm -rf /" || got.Timeout != 180*time.Second || got.Dir != ws.Dir() {
		t.Errorf("got %+v, %v of %+v", res, err, got.Argv)
	}
}
