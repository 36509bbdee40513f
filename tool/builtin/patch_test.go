package builtin

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/rondo-engine/rondo/guard"
	"github.com/rondo-engine/rondo/tool"
)

// patchCase is a file of testdata/patch: what files there are before and after a
// patch, and what is said of it. Lines of the comment that begin with "read:" name
// files that are read first.
type patchCase struct {
	read          []string
	before, after map[string]string
	patch, text   string
	errors        []string
}

func readPatchCase(t *testing.T, name string) patchCase {
	t.Helper()
	a, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	c := patchCase{before: map[string]string{}, after: map[string]string{}}
	for line := range strings.Lines(string(a.Comment)) {
		if files, ok := strings.CutPrefix(line, "read:"); ok {
			c.read = strings.Fields(files)
		}
	}
	for _, f := range a.Files {
		data := string(f.Data)
		name, bare := strings.CutSuffix(f.Name, " (no newline)")
		if bare {
			data = strings.TrimSuffix(data, "\n")
		}
		before, isBefore := strings.CutPrefix(name, "before/")
		after, isAfter := strings.CutPrefix(name, "after/")
		switch {
		case isBefore:
			c.before[before] = data
		case isAfter:
			c.after[after] = data
		case name == "patch":
			c.patch = data
		case name == "text":
			c.text = strings.TrimSuffix(data, "\n")
		case name == "error":
			c.errors = strings.Split(strings.TrimSuffix(data, "\n"), "\n")
		default:
			t.Fatalf("%s: what is %q?", a.Comment, f.Name)
		}
	}
	return c
}

func TestApplyPatch(t *testing.T) {
	files, err := filepath.Glob("testdata/patch/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			c := readPatchCase(t, file)
			b := newBench(t, c.before)
			for _, name := range c.read {
				b.ok("read_file", args{"path": name})
			}
			if len(c.errors) > 0 {
				for _, want := range c.errors {
					b.fails("apply_patch", args{"patch": c.patch}, want)
				}
			} else if got := b.ok("apply_patch", args{"patch": c.patch}); c.text != "" {
				b.same("text", got, c.text)
			}
			if diff := cmp.Diff(c.after, b.files()); diff != "" {
				t.Errorf("the files are not as they should be (- want, + got):\n%s", diff)
			}
		})
	}
}

// files returns all files of the workspace.
func (b *bench) files() map[string]string {
	b.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(b.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(b.dir, path)
		all[filepath.ToSlash(rel)] = b.get(rel)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return all
}

func TestPatchKeepsLineEndsAndByteOrderMark(t *testing.T) {
	b := newBench(t, map[string]string{
		"crlf": "a\r\nb\r\nc\r\n", "mixed": "a\nb\r\nc\r\nd\n", "bare": "a\nb", "bom": "\ufeffa\nb\n",
	})
	b.ok("apply_patch", args{"patch": strings.Join([]string{
		"*** Begin Patch",
		"*** Update File: crlf", " a", "-b", "+x", "+y", " c",
		"*** Update File: mixed", " b", "+x", " c",
		"*** Update File: bare", " a", "-b", "+x", "+y",
		"*** Update File: bom", "-a", "+x",
		"*** End Patch",
	}, "\n")})
	for name, want := range map[string]string{
		"crlf": "a\r\nx\r\ny\r\nc\r\n", "mixed": "a\nb\r\nx\r\nc\r\nd\n", "bare": "a\nx\ny", "bom": "\ufeffx\nb\n",
	} {
		b.same(name, b.get(name), want)
	}
	b.ok("apply_patch", args{"patch": "--- bare\n+++ bare\n@@ -3 +3 @@\n-y\n\\ No newline at end of file\n+y\n"})
	b.same("a newline is added", b.get("bare"), "a\nx\ny\n")
	b.ok("apply_patch", args{"patch": "--- bare\n+++ bare\n@@ -3 +3 @@\n-y\n+y\n\\ No newline at end of file\n"})
	b.same("a newline is taken away", b.get("bare"), "a\nx\ny")
}

func TestPatchKeepsModes(t *testing.T) {
	b := newBench(t, map[string]string{"run.sh": "echo 1\n", "locked": "x\n"})
	for name, mode := range map[string]fs.FileMode{"run.sh": 0o755, "locked": 0o444} {
		if err := os.Chmod(filepath.Join(b.dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	b.ok("apply_patch", args{"patch": "*** Begin Patch\n*** Update File: run.sh\n*** Move to: bin/go.sh\n-echo 1\n+echo 2\n*** End Patch"})
	if info, err := os.Stat(filepath.Join(b.dir, "bin/go.sh")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info, err)
	}
	b.fails("apply_patch", args{"patch": "*** Begin Patch\n*** Update File: locked\n-x\n+y\n*** End Patch"}, "read-only")
}

// A failure while the files are put in place takes back what was done.
func TestPatchIsTakenBackWhenItCannotBeCarriedOut(t *testing.T) {
	const patch = "*** Begin Patch\n*** Update File: a\n-1\n+2\n*** Add File: new/dir/b\n+x\n*** Delete File: c\n*** Update File: d\n-1\n+2\n*** End Patch"
	for failing := range 4 {
		b := newBench(t, map[string]string{"a": "1\n", "c": "1\n", "d": "1\n"})
		before := b.files()
		ws, err := OpenWorkspace(b.dir, WorkspaceOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer ws.Close()
		o := Options{Workspace: ws}.withDefaults()
		if _, err := readFile(o).Run(t.Context(), toolCall([]byte(`{"path":"c"}`))); err != nil {
			t.Fatal(err)
		}
		sections, err := parsePatch(patch)
		if err != nil {
			t.Fatal(err)
		}
		renames, broken := 0, errors.New("the disk is broken")
		s := &stage{o: o, rename: func(f *stagedFile, from, to string) error {
			if renames++; renames == failing+1 {
				return broken
			}
			return f.place.root.Rename(from, to)
		}}
		_, err = s.apply(t.Context(), sections)
		s.close()
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "all files are as they were") {
			t.Errorf("rename %d: %v", failing, err)
		}
		if diff := cmp.Diff(before, b.files()); diff != "" {
			t.Errorf("rename %d: %s", failing, diff)
		}
		if _, err := os.Stat(filepath.Join(b.dir, "new")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("rename %d: the new directory is left: %v", failing, err)
		}
	}
}

func TestPatchTellsAllItsPathsToTheScheduler(t *testing.T) {
	b := newBench(t, map[string]string{"real": "1\n"})
	b.link("real", "link")
	access := b.reg.Get("apply_patch").Access
	got := access(b.job("apply_patch", args{
		"patch": "*** Begin Patch\n*** Update File: link\n*** Move to: to\n-1\n+2\n*** Add File: x/new\n+x\n*** End Patch",
	}).Call.Args)
	for _, name := range []string{"real", "to", "x/new"} {
		if path := filepath.ToSlash(filepath.Join(b.dir, name)); !slices.Contains(got.Writes, path) {
			t.Errorf("%v lacks %s", got.Writes, path)
		}
	}
	edit := b.reg.Get("edit_file").Access(b.job("edit_file", args{"path": "real", "old_string": "1", "new_string": "3"}).Call.Args)
	if !tool.Conflict(got, edit) {
		t.Error("a patch and an edit of one file run at the same time")
	}
}

// What a patch writes has to be approved of as what other tools write.
func TestPatchIsJudgedByWhereItWrites(t *testing.T) {
	b := newBench(t, map[string]string{".git/HEAD": "x\n", "a": "1\n"})
	b.link(".git", "dir")
	g := guard.New(guard.Options{Workspace: b.dir, Home: "/home/me"})
	for path, want := range map[string]bool{"src/new": true, ".git/hooks/pre-commit": false, "dir/hooks/pre-commit": false} {
		for _, patch := range []string{
			"*** Begin Patch\n*** Add File: " + path + "\n+x\n*** End Patch",
			"*** Begin Patch\n*** Update File: a\n*** Move to: " + path + "\n-1\n+2\n*** End Patch",
		} {
			job := b.job("apply_patch", args{"patch": patch})
			if out := g.Decide(t.Context(), guard.Request{Tool: job.Tool, Call: job.Call}); out.Allow != want {
				t.Errorf("%q: %+v", patch, out)
			}
		}
	}
}

func TestPatchDetailsHaveTheDiff(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n2\n"})
	res, err := b.call("apply_patch", args{"patch": "*** Begin Patch\n*** Update File: a\n-1\n+one\n*** Add File: b\n+x\n*** End Patch"})
	if err != nil {
		t.Fatal(err)
	}
	d := res.Details.(PatchDetails)
	want := []FileChange{{Path: "a"}, {Path: "b", Created: true}}
	if diff := cmp.Diff(want, d.Files); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(d.Diff, "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n") || !strings.Contains(d.Diff, "+++ b/b\n@@ -0,0 +1 @@\n+x\n") {
		t.Errorf("diff:\n%s", d.Diff)
	}
}

// A file with two names stays one, and is one for the patch.
func TestPatchOfAFileWithTwoNames(t *testing.T) {
	b := newBench(t, map[string]string{"a": "1\n2\n"})
	if err := os.Link(filepath.Join(b.dir, "a"), filepath.Join(b.dir, "b")); err != nil {
		t.Skip("no hard links here:", err)
	}
	b.ok("apply_patch", args{"patch": "*** Begin Patch\n*** Update File: a\n-1\n+one\n*** Update File: b\n-2\n+two\n*** End Patch"})
	b.same("a", b.get("a"), "one\ntwo\n")
	b.same("b", b.get("b"), "one\ntwo\n")
	b.ok("read_file", args{"path": "b"})
	b.fails("apply_patch", args{"patch": "*** Begin Patch\n*** Update File: a\n-one\n+1\n*** Delete File: b\n*** End Patch"}, "the same file as a")
	b.ok("apply_patch", args{"patch": "*** Begin Patch\n*** Delete File: b\n*** End Patch"})
	b.same("a", b.get("a"), "one\ntwo\n")
}

// No patch, however torn, may panic or change what it does not name.
func FuzzPatch(f *testing.F) {
	files, err := filepath.Glob("testdata/patch/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range a.Files {
			if part.Name == "patch" {
				f.Add(string(part.Data), "one\ntwo\r\n\nthree\nx\nx")
			}
		}
	}
	f.Fuzz(func(t *testing.T, patch, content string) {
		sections, err := parsePatch(patch)
		if err != nil {
			return
		}
		for _, s := range sections {
			file := &stagedFile{after: content}
			if _, err := file.patch(s.hunks); err != nil && file.after != content {
				t.Errorf("failed with %v, but made %q", err, file.after)
			}
		}
	})
}

// What a program makes a diff of, the diff makes again: of files with many equal
// lines, too.
func TestPatchMakesWhatTheDiffWasMadeOf(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	some := func() string {
		var b strings.Builder
		for range r.IntN(40) {
			b.WriteString([]string{"a", "b", "", "}", "\tx", "-- q", "++ q"}[r.IntN(7)] + "\n")
		}
		return b.String()
	}
	for range 500 {
		before := some() + "x"[:r.IntN(2)]
		after := before
		for range 1 + r.IntN(3) {
			at := r.IntN(len(after) + 1)
			at = strings.LastIndexByte(after[:at], '\n') + 1
			after = after[:at] + "new\n" + after[min(len(after), at+r.IntN(5)):]
		}
		diff := udiff.Unified("a/f", "b/f", before, after)
		sections, err := parsePatch(diff)
		if err != nil {
			t.Fatalf("%v of\n%s", err, diff)
		}
		f := &stagedFile{after: before}
		if _, err := f.patch(sections[0].hunks); err != nil || f.after != after {
			t.Fatalf("%v of\n%s\nof %q: got %q, want %q", err, diff, before, f.after, after)
		}
	}
}
