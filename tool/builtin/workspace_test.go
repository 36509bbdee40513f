package builtin

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func readlink(b *bench, name string) (string, error) { return os.Readlink(filepath.Join(b.dir, name)) }

// outsideBench is a workspace ws beside a directory out, with links between.
func outsideBench(t *testing.T, opts WorkspaceOptions) (b *bench, out string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	out = filepath.Join(top, "out")
	for _, dir := range []string{"ws/real", "out"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(out, "victim.txt"), []byte("secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b = benchIn(t, filepath.Join(top, "ws"), nil, opts)
	b.link("../out/victim.txt", "notes.md")
	b.link("../out/new.txt", "draft.txt")
	b.link("../out", "dir")
	b.link("real", "inside")
	b.link("inside/../../out/victim.txt", "around")
	return b, out
}

// Case 38.
func TestNothingOutsideOfTheWorkspaceIsTouched(t *testing.T) {
	b, out := outsideBench(t, WorkspaceOptions{})
	const denied = "outside of the workspace"
	for _, path := range []string{
		"notes.md", "draft.txt", "dir/x.txt", "../out/y.txt", "around", "inside/../../out/z.txt",
		filepath.Join(out, "w.txt"), "dir/../out/v.txt", b.dir + "/../out/u.txt",
	} {
		b.fails("write_file", args{"path": path, "content": "x"}, denied)
		b.fails("edit_file", args{"path": path, "old_string": "secret", "new_string": "x"}, denied)
		b.fails("read_file", args{"path": path}, denied)
	}
	for _, name := range []string{"list_dir", "glob", "grep"} {
		b.fails(name, args{"path": "dir", "pattern": "x"}, denied)
	}
	b.fails("shell", args{"command": "true", "workdir": "dir"}, denied)
	b.ok("write_file", args{"path": "inside/ok.txt", "content": "fine"})
	b.same("what is inside", b.get("real/ok.txt"), "fine")
	entries, err := os.ReadDir(out)
	if err != nil || len(entries) != 1 {
		t.Errorf("outside there is %v, %v", entries, err)
	}
	if data, _ := os.ReadFile(filepath.Join(out, "victim.txt")); string(data) != "secret\n" {
		t.Errorf("the victim holds %q", data)
	}
}

func TestOutsideIsTouchedWhereThatIsAllowed(t *testing.T) {
	b, out := outsideBench(t, WorkspaceOptions{AllowOutside: true})
	b.same("read", b.ok("read_file", args{"path": "notes.md"}), "1\tsecret\n")
	b.ok("write_file", args{"path": "draft.txt", "content": "new"})
	if data, err := os.ReadFile(filepath.Join(out, "new.txt")); err != nil || string(data) != "new" {
		t.Errorf("got %q, %v", data, err)
	}
	if _, err := readlink(b, "draft.txt"); err != nil {
		t.Errorf("the link was replaced: %v", err)
	}
}

func TestReadableDirectoriesAreOnlyRead(t *testing.T) {
	top := t.TempDir()
	b, out := outsideBench(t, WorkspaceOptions{Readable: []string{top}})
	spilled := filepath.Join(top, "spill.txt")
	if err := os.WriteFile(spilled, []byte("whole\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.same("read", b.ok("read_file", args{"path": spilled}), "1\twhole\n")
	b.fails("write_file", args{"path": spilled, "content": "x"}, "outside")
	b.fails("read_file", args{"path": filepath.Join(out, "victim.txt")}, "outside")
}

func TestWriteIsAtomicAndKeepsTheMode(t *testing.T) {
	b := newBench(t, map[string]string{"run.sh": "old", "hard": "one"})
	if err := os.Chmod(filepath.Join(b.dir, "run.sh"), 0o750); err != nil {
		t.Fatal(err)
	}
	b.ok("read_file", args{"path": "run.sh"})
	b.ok("write_file", args{"path": "run.sh", "content": "new"})
	info, err := os.Stat(filepath.Join(b.dir, "run.sh"))
	if err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := os.Link(filepath.Join(b.dir, "hard"), filepath.Join(b.dir, "other")); err != nil {
		t.Skip("no hard links here:", err)
	}
	b.ok("edit_file", args{"path": "hard", "old_string": "one", "new_string": "two"})
	b.same("the other name", b.get("other"), "two")
	b.ok("write_file", args{"path": "a/b/c.txt", "content": "deep"})
	b.same("with parents", b.get("a/b/c.txt"), "deep")
	err = filepath.WalkDir(b.dir, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == tempSuffix {
			t.Errorf("%s was left behind", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWriteRespectsReadOnlyFiles(t *testing.T) {
	b := newBench(t, map[string]string{"f": "a"})
	if err := os.Chmod(filepath.Join(b.dir, "f"), 0o444); err != nil {
		t.Fatal(err)
	}
	b.fails("edit_file", args{"path": "f", "old_string": "a", "new_string": "b"}, "read-only")
	b.same("the file", b.get("f"), "a")
}

func TestWriteRefusesToDestroyWhatIsNotKnown(t *testing.T) {
	b := newBench(t, map[string]string{"f": "by someone\n", "empty": "", "d/x": ""})
	b.fails("write_file", args{"path": "f", "content": "x"}, "was not read in this session")
	b.ok("write_file", args{"path": "empty", "content": "x"})
	b.fails("write_file", args{"path": "d", "content": "x"}, "is a directory")
	b.ok("read_file", args{"path": "f"})
	b.put("f", "by someone else\n")
	b.fails("write_file", args{"path": "f", "content": "x"}, "changed by something else")
	b.same("the file", b.get("f"), "by someone else\n")
	b.ok("read_file", args{"path": "f"})
	b.ok("write_file", args{"path": "f", "content": "x"})
	b.ok("write_file", args{"path": "f", "content": "y"})
	b.put("f", "y") // the same content at a later time is no change
	b.ok("write_file", args{"path": "f", "content": "z"})
}

func TestEditKeepsChangesOfOthers(t *testing.T) {
	b := newBench(t, map[string]string{"f": "a\nb\n"})
	b.ok("read_file", args{"path": "f"})
	b.put("f", "a\nb\nc\n")
	got := b.ok("edit_file", args{"path": "f", "old_string": "a", "new_string": "A"})
	b.same("the file", b.get("f"), "A\nb\nc\n")
	b.same("text", got, "Edited f:\nreplaced 1 occurrence in line 1\n"+
		"Note: something else had changed the file after you last read it; those changes are kept.")
}

func TestWorkspaceMustExist(t *testing.T) {
	if _, err := OpenWorkspace(filepath.Join(t.TempDir(), "none"), WorkspaceOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
