package guard_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/guard"
	"github.com/rondo-engine/rondo/tool"
	"github.com/rondo-engine/rondo/tool/builtin"
)

// repository is a workspace with a .git, some links into it and the file tools.
func repository(t *testing.T) (dir string, tools map[string]*tool.Tool) {
	t.Helper()
	dir, err := tool.ResolvePath(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{".git/hooks", "src"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "config"), []byte("[core]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".git/hooks", filepath.Join(dir, "hooks")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if err := os.Link(filepath.Join(dir, ".git", "config"), filepath.Join(dir, "settings")); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	ws, err := builtin.OpenWorkspace(dir, builtin.WorkspaceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	tools = map[string]*tool.Tool{}
	for _, one := range builtin.Files(builtin.Options{Workspace: ws}) {
		tools[one.Name] = one
	}
	return dir, tools
}

func write(tools map[string]*tool.Tool, name, args string) guard.Request {
	return guard.Request{Tool: tools[name], Call: tool.Call{ID: "c1", Name: name, Args: json.RawMessage(args)}}
}

func TestWritesThatBecomeExecutionNeedAWord(t *testing.T) {
	dir, tools := repository(t)
	g := guard.New(guard.Options{Workspace: dir, Home: filepath.Join(dir, "nowhere")})
	for _, c := range []struct {
		tool, args string
		allow      bool
	}{
		{"write_file", `{"path":"src/a.go","content":"x"}`, true},
		{"write_file", `{"path":".github/workflows/ci.yaml","content":"x"}`, true},
		{"read_file", `{"path":".git/config"}`, true},
		{"grep", `{"pattern":"x","path":".git"}`, true},
		{"write_file", `{"path":".git/hooks/pre-commit","content":"x"}`, false},
		{"write_file", `{"path":"src/../.git/hooks/pre-commit","content":"x"}`, false},
		{"write_file", `{"path":"hooks/pre-commit","content":"x"}`, false},
		{"write_file", `{"path":"hooks/../config","content":"x"}`, false},
		{"write_file", `{"path":"settings","content":"x"}`, false},
		{"edit_file", `{"path":"settings","old_string":"a","new_string":"b"}`, false},
		{"edit_file", `{"path":".rondo/config.yaml","old_string":"a","new_string":"b"}`, false},
		{"write_file", `{"path":"sub/.git/config","content":"x"}`, false},
		{"write_file", `{"path":".envrc","content":"x"}`, false},
	} {
		got := g.Decide(t.Context(), write(tools, c.tool, c.args))
		if got.Allow != c.allow || !got.Allow && !strings.Contains(got.Reason, "nobody to ask") {
			t.Errorf("%s %s: %+v", c.tool, c.args, got)
		}
	}
}

func TestAllFilesOfAPatchAreJudged(t *testing.T) {
	dir, _ := repository(t)
	g := guard.New(guard.Options{Workspace: dir, Home: filepath.Join(dir, "nowhere")})
	patch := &tool.Tool{Name: "apply_patch", Toolset: "files", Access: func(json.RawMessage) tool.Access {
		return tool.Access{Writes: slices.Concat(tool.PathKeys(filepath.Join(dir, "src", "a")), tool.PathKeys(filepath.Join(dir, "hooks", "x")))}
	}}
	got := g.Decide(t.Context(), guard.Request{Tool: patch, Call: tool.Call{ID: "c1", Args: json.RawMessage(`{}`)}})
	if got.Allow || !strings.Contains(got.Reason, ".git/hooks/x") {
		t.Errorf("got %+v", got)
	}
}

func TestAWriteIsRememberedByItsPlace(t *testing.T) {
	dir, tools := repository(t)
	asked, kept := 0, []string(nil)
	o := guard.Options{
		Workspace: dir, Home: filepath.Join(dir, "nowhere"), Ask: answers(guard.Always, &asked),
		Persist: func(rules []string) error { kept = append(kept, rules...); return nil },
	}
	g := guard.New(o)
	for _, path := range []string{"hooks/pre-commit", ".git/hooks/pre-commit", "src/../hooks/pre-commit"} {
		if got := g.Decide(t.Context(), write(tools, "write_file", `{"path":"`+path+`","content":"x"}`)); !got.Allow {
			t.Errorf("%s: %+v", path, got)
		}
	}
	if asked != 1 || !slices.Equal(kept, []string{"> .git/hooks/pre-commit"}) {
		t.Errorf("asked %d times, kept %q", asked, kept)
	}
	o.Allow, o.Ask = kept, nil
	later := guard.New(o)
	if !later.Decide(t.Context(), write(tools, "write_file", `{"path":"hooks/pre-commit","content":"x"}`)).Allow {
		t.Error("the rule that was kept does not open it")
	}
	if later.Decide(t.Context(), write(tools, "write_file", `{"path":"hooks/pre-push","content":"x"}`)).Allow {
		t.Error("the rule that was kept opens another file")
	}
}

func TestALinkThatIsMovedAfterTheDecisionIsFound(t *testing.T) {
	dir, tools := repository(t)
	g := guard.New(guard.Options{Workspace: dir, Home: filepath.Join(dir, "nowhere")})
	got := g.Decide(t.Context(), write(tools, "write_file", `{"path":"out/pre-commit","content":"x"}`))
	if !got.Allow || got.Check == nil || got.Check() != nil {
		t.Fatalf("got %+v", got)
	}
	if err := os.Symlink(".git/hooks", filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	if err := got.Check(); err == nil || !strings.Contains(err.Error(), "since it was allowed") {
		t.Errorf("got %v", err)
	}
}
