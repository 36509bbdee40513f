package approval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/tool"
)

func TestWritesThatBecomeExecutionAreAskedFor(t *testing.T) {
	c := newChecker(Rules{})
	for name, want := range map[string]Level{
		"src/main.go": Allow, "README.md": Allow, ".gitignore": Allow, ".github/workflows/ci.yaml": Allow, "git/config": Allow, "a/.gitkeep": Allow,
		".vscode/extensions.json": Allow, ".env": Allow, "Makefile": Allow,
		".git/config": Ask, ".git/hooks/pre-commit": Ask, ".git": Ask, "sub/.git/config": Ask, ".GIT/hooks/x": Ask, "src/../.git/config": Ask,
		".rondo/config.yaml": Ask, "deep/.rondo/hooks/x.sh": Ask, ".vscode/tasks.json": Ask, ".envrc": Ask, ".mcp.json": Ask, ".claude/settings.json": Ask,
		"/home/ada/.bashrc": Ask, "/home/ada/.ssh/authorized_keys": Ask, "/home/ada/.config/autostart/x.desktop": Ask, "/home/ada/.gitconfig": Ask,
		"/home/ada/notes.txt": Allow, "/srv/x": Allow, // for the tool to refuse
		"/etc/passwd": Deny, "/etc/sudoers.d/x": Deny, "/dev/sda": Deny, "/usr": Deny,
	} {
		if !strings.HasPrefix(name, "/") {
			name = workspace + "/" + name
		}
		if v := c.Write(name); v.Level != want || want != Allow && v.Reason == "" {
			t.Errorf("%s: want %v, got %v (%s)", name, want, v.Level, v.Reason)
		}
	}
}

func TestAWorkspaceThatIsTheHomeKeepsItsStartUpFilesAndSecrets(t *testing.T) {
	o := newChecker(Rules{}).Options
	o.Workspace = "/home/ada"
	c := New(o)
	for command, want := range map[string]Level{
		"echo x >> .bashrc": Ask, "cat .ssh/id": Ask, "cp a .config/autostart/": Ask, "echo x > notes": Allow, "cat notes": Allow,
	} {
		if v := c.Check(command, ""); v.Level != want {
			t.Errorf("%s: want %v, got %v (%s)", command, want, v.Level, v.Reason)
		}
	}
	if v := c.Write("/home/ada/.profile"); v.Level != Ask {
		t.Errorf("got %v", v)
	}
}

func TestWritesAreJudgedByWhereTheyLead(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, ".git", "hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"hooks": ".git/hooks", "config": ".git/config", "up": "..", "plain": "src"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	c := New(Options{Workspace: dir, Home: "/home/ada", Resolve: tool.ResolvePath, Rules: Rules{Allow: []string{"> .git/description"}}})
	for name, want := range map[string]Level{
		"hooks/pre-commit": Ask, "config": Ask, "up/" + filepath.Base(dir) + "/.git/config": Ask, "plain/../.git/config": Ask, "plain/x": Allow,
		".git/description": Allow,
	} {
		if v := c.Write(filepath.Join(dir, "x")[:len(dir)+1] + name); v.Level != want {
			t.Errorf("%s: want %v, got %v (%s)", name, want, v.Level, v.Reason)
		}
	}
}
