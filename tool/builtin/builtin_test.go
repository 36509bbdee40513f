package builtin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/tool"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a workspace with the tools of one session.
type bench struct {
	t   *testing.T
	dir string
	reg *tool.Registry
}

// newBench makes a workspace with files, given as name and content.
func newBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return benchIn(t, dir, files, WorkspaceOptions{})
}

func benchIn(t *testing.T, dir string, files map[string]string, opts WorkspaceOptions) *bench {
	t.Helper()
	b := &bench{t: t, dir: dir}
	for name, content := range files {
		b.put(name, content)
	}
	ws, err := OpenWorkspace(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.Close() })
	b.reg, err = tool.NewRegistry(All(Options{Workspace: ws})...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) put(name, content string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) get(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

func (b *bench) link(target, name string) {
	b.t.Helper()
	if err := os.Symlink(target, filepath.Join(b.dir, name)); err != nil {
		b.t.Skip("no symbolic links here:", err)
	}
}

// args are the arguments of a call.
type args map[string]any

// job prepares a call the way a session does.
func (b *bench) job(name string, a args) tool.Job {
	b.t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		b.t.Fatal(err)
	}
	t, checked, err := b.reg.Prepare(name, string(raw), false)
	if err != nil {
		b.t.Fatal(err)
	}
	return tool.Job{Tool: t, Call: tool.Call{ID: "1", Name: name, Args: checked}}
}

// call runs one call.
func (b *bench) call(name string, a args) (tool.Result, error) {
	b.t.Helper()
	job := b.job(name, a)
	job.Call.Progress = func(string) {}
	return job.Tool.Run(b.t.Context(), job.Call)
}

// ok runs a call that must succeed and returns its text.
func (b *bench) ok(name string, a args) string {
	b.t.Helper()
	res, err := b.call(name, a)
	if err != nil {
		b.t.Fatalf("%s %v: %v", name, a, err)
	}
	return res.Text
}

// fails runs a call whose error must hold want.
func (b *bench) fails(name string, a args, want string) {
	b.t.Helper()
	res, err := b.call(name, a)
	if err == nil || !strings.Contains(err.Error(), want) {
		b.t.Errorf("%s %v: got %q, error %v, want one with %q", name, a, res.Text, err, want)
	}
}

// same compares texts.
func (b *bench) same(what, got, want string) {
	b.t.Helper()
	if got != want {
		b.t.Errorf("%s:\ngot:\n%s\nwant:\n%s", what, got, want)
	}
}

// The default set must stay small: it is sent with every request.
func TestDefaultSetIsSmall(t *testing.T) {
	b := newBench(t, nil)
	bytes := 0
	var names []string
	for _, s := range b.reg.Set().Specs {
		size := len(s.Name) + len(s.Description) + len(s.Schema)
		t.Logf("%-10s %4d bytes", s.Name, size)
		bytes += size
		names = append(names, s.Name)
	}
	t.Logf("all: %d bytes, about %d tokens", bytes, bytes/4)
	if bytes/4 >= 2500 {
		t.Errorf("%d tokens, want less than 2500", bytes/4)
	}
	b.same("names", strings.Join(names, " "), "read_file write_file edit_file apply_patch list_dir glob grep shell")
}

func TestNoopIsHidden(t *testing.T) {
	r, err := tool.NewRegistry(Noop(0))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Set().Specs) != 0 {
		t.Error("noop is on offer")
	}
	s, err := r.Select(nil, []string{"bench"})
	if err != nil || len(s.Set().Specs) != 1 {
		t.Fatalf("selected %v, %v", s, err)
	}
	n, a, err := s.Prepare("noop", `{"n":7}`, false)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := n.Run(t.Context(), tool.Call{Args: a}); err != nil || len(res.Text) != 16 {
		t.Errorf("got %q, %v, want 16 bytes", res.Text, err)
	}
}

func toolCall(raw []byte) tool.Call {
	return tool.Call{ID: "1", Args: raw, Progress: func(string) {}}
}
