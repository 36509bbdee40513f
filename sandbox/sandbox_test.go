package sandbox_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/internal/proc"
	"github.com/rondo-engine/rondo/sandbox"
	"github.com/rondo-engine/rondo/tool"
	"github.com/rondo-engine/rondo/tool/builtin"
)

func TestMain(m *testing.M) {
	sandbox.Init() // as main does in a program that embeds rondo
	os.Exit(m.Run())
}

// shell is the shell tool of a program that embeds rondo, confined.
func shell(t *testing.T, policy sandbox.Policy, dir string) func(command string) string {
	t.Helper()
	ws, err := builtin.OpenWorkspace(dir, builtin.WorkspaceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	s := builtin.Shell(builtin.Options{Workspace: ws, Run: policy.Run})
	return func(command string) string {
		t.Helper()
		args, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.Run(t.Context(), tool.Call{ID: "c1", Name: "shell", Args: args, Progress: func(string) {}})
		if err != nil {
			t.Fatal(err)
		}
		return res.Text
	}
}

func TestAnEmbeddedShellIsConfined(t *testing.T) {
	if ok, text := sandbox.Support(); !ok {
		t.Skip(text)
	}
	dir, outside, home := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("TMPDIR", filepath.Join(dir, "tmp"))
	for _, d := range []string{filepath.Join(dir, "tmp"), filepath.Join(home, ".ssh")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, ".ssh", "id"), []byte("KEY"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := shell(t, sandbox.Workspace(dir), dir)
	if got := run("echo a > a && cat a"); got != "a\n" {
		t.Errorf("in the workspace: %q", got)
	}
	if got := run("echo x > " + outside + "/x"); !strings.Contains(got, "denied") {
		t.Errorf("outside: %q", got)
	}
	if got := run("cat ~/.ssh/id"); !strings.Contains(got, "denied") || strings.Contains(got, "KEY") {
		t.Errorf("a key: %q", got)
	}
	temp := t.TempDir()
	run = shell(t, sandbox.ReadOnly(temp), dir)
	if got := run("cat a; echo b > a || echo b > $TMPDIR/b; cat $TMPDIR/b"); !strings.HasPrefix(got, "a\n") || !strings.HasSuffix(got, "b\n") || !strings.Contains(got, "denied") {
		t.Errorf("read-only: %q", got)
	}
}

func TestAnEmbeddedBackgroundProcessIsConfined(t *testing.T) {
	if ok, text := sandbox.Support(); !ok {
		t.Skip(text)
	}
	dir, outside := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", dir) // else both lie in the directory for temporary files, which may be changed
	b, err := sandbox.Workspace(dir).Start(proc.Cmd{
		Argv: []string{"sh", "-c", "echo a > a && cat a; echo x > " + outside + "/x"}, Dir: dir, ID: "background",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Stop(context.Background())
	<-b.Done()
	got := b.Poll(t.Context(), 0).Head
	if !strings.HasPrefix(got, "a\n") || !strings.Contains(got, "denied") {
		t.Errorf("it printed %q", got)
	}
	if _, err := os.Stat(filepath.Join(outside, "x")); err == nil {
		t.Error("it wrote outside of the workspace")
	}
}
