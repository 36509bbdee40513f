package builtin

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func source(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, map[string]string{
		"main.go":         "package main\n\nfunc main() {\n\tprintln(\"hello\")\n}\n",
		"lib/lib.go":      "package lib\n\n// Hello greets.\nfunc Hello() string { return \"hello\" }\r\n",
		"lib/lib_test.go": "package lib\n// hello hello\n",
		"notes.md":        "hello from notes\nlast line without end: hello",
		"bin/tool":        "\x7fELF\x00hello\n",
		"out/gen.go":      "hello generated\n",
		".gitignore":      "/out/\n*.log\n",
		"lib/.gitignore":  "local.txt\n!keep.log\n",
		"a.log":           "hello log\n", "lib/keep.log": "hello kept\n", "lib/local.txt": "hello local\n",
		".git/config":       "hello git\n",
		".github/flow.yaml": "hello flow\n",
	})
	return b
}

func TestGrep(t *testing.T) {
	b := source(t)
	for _, tc := range []struct {
		name string
		a    args
		want string
	}{
		{"lines", args{"pattern": "hello"}, ".github/flow.yaml\n1:hello flow\nlib/keep.log\n1:hello kept\n" +
			"lib/lib.go\n4:func Hello() string { return \"hello\" }\nlib/lib_test.go\n2:// hello hello\n" +
			"main.go\n4:\tprintln(\"hello\")\nnotes.md\n1:hello from notes\n2:last line without end: hello\n"},
		{"by name", args{"pattern": "hello", "glob": "*.md"}, "notes.md\n1:hello from notes\n2:last line without end: hello\n"},
		{"by path", args{"pattern": "hello", "glob": "lib/**/*_test.go"}, "lib/lib_test.go\n2:// hello hello\n"},
		{"a file", args{"pattern": "func", "path": "lib/lib.go"}, "lib/lib.go\n4:func Hello() string { return \"hello\" }\n"},
		{"a directory", args{"pattern": "^package", "path": "lib"}, "lib/lib.go\n1:package lib\nlib/lib_test.go\n1:package lib\n"},
		{"an ignored directory that is named", args{"pattern": "hello", "path": "out"}, "out/gen.go\n1:hello generated\n"},
		{"case", args{"pattern": "HELLO GREETS", "ignore_case": true}, "lib/lib.go\n3:// Hello greets.\n"},
		{"end of a line with CR", args{"pattern": `"hello" \}$`}, "lib/lib.go\n4:func Hello() string { return \"hello\" }\n"},
		{"white space does not cross lines", args{"pattern": `main\s+func`}, "[no match for main\\s+func]\n"},
		{"alternatives", args{"pattern": "greets|generated|kept"}, "lib/keep.log\n1:hello kept\nlib/lib.go\n3:// Hello greets.\n"},
		{"files", args{"pattern": "hello", "mode": "files", "glob": "*.go"}, "lib/lib.go\nlib/lib_test.go\nmain.go\n"},
		{"count", args{"pattern": "hello", "mode": "count", "glob": "*.md"}, "notes.md:2\n[2 matching lines in 1 files]\n"},
		{"limit", args{"pattern": "hello", "limit": 1}, ".github/flow.yaml\n1:hello flow\n[6 more matching lines: narrow the search, or set a higher limit]\n"},
		{"context", args{"pattern": "println", "context": 1}, "main.go\n3-func main() {\n4:\tprintln(\"hello\")\n5-}\n"},
		{"context that meets", args{"pattern": "package|func main", "context": 1, "glob": "main.go"}, "main.go\n1:package main\n2-\n3:func main() {\n4-\tprintln(\"hello\")\n"},
		{"context apart", args{"pattern": "package main|^}", "context": 1, "glob": "main.go"}, "main.go\n1:package main\n2-\n--\n4-\tprintln(\"hello\")\n5:}\n"},
	} {
		b.same(tc.name, b.ok("grep", tc.a), tc.want)
	}
	b.fails("grep", args{"pattern": "a("}, "not a valid regular expression")
	b.fails("grep", args{"pattern": "a", "glob": "{"}, "not a valid pattern")
	b.fails("grep", args{"pattern": "a", "path": "libb"}, "did you mean")
}

func TestGlob(t *testing.T) {
	b := source(t)
	for pattern, want := range map[string]string{
		"**/*.go":       "lib/lib.go\nlib/lib_test.go\nmain.go\n",
		"*.go":          "main.go\n",
		"lib/*":         "lib/.gitignore\nlib/keep.log\nlib/lib.go\nlib/lib_test.go\n",
		"**/*.{md,log}": "lib/keep.log\nnotes.md\n",
		"*.rs":          "No file matches *.rs; for all directories use **/*.rs.",
	} {
		b.same(pattern, b.ok("glob", args{"pattern": pattern}), want)
	}
	b.same("below", b.ok("glob", args{"pattern": "*.go", "path": "lib"}), "lib/lib.go\nlib/lib_test.go\n")
	b.fails("glob", args{"pattern": "[a"}, "not a valid pattern")
}

func TestIgnoreRules(t *testing.T) {
	for _, tc := range []struct{ rules, path, want string }{
		{"foo", "a/foo", "yes"},
		{"foo", "a/food", "no"},
		{"/foo", "a/foo", "no"},
		{"/foo", "foo", "yes"},
		{"foo/", "foo", "no"},
		{"foo/", "foo/", "yes"},
		{"a/foo", "a/foo", "yes"},
		{"a/foo", "b/a/foo", "no"},
		{"*.o", "x/y.o", "yes"},
		{"*.o\n!keep.o", "x/keep.o", "no"},
		{"!keep.o\n*.o", "x/keep.o", "yes"},
		{"*.tar.gz", "x.tar.gz", "yes"},
		{"**/foo", "a/b/foo", "yes"},
		{"**/foo/bar", "a/foo/bar", "yes"},
		{"a/**/b", "a/x/y/b", "yes"},
		{"a/*", "a/b", "yes"},
		{"a/*", "a/b/c", "no"},
		{"# comment\n\\#x", "#x", "yes"},
		{"fo?", "foo", "yes"},
		{"{a,b}", "a", "no"},
		{"x  ", "x", "yes"},
		{"a\r\nb", "b", "yes"},
	} {
		ig := parseIgnores(nil, "", tc.rules)
		path, isDir := strings.CutSuffix(tc.path, "/")
		got := "no"
		if ig.ignored(path, filepath.Base(path), isDir) {
			got = "yes"
		}
		if got != tc.want {
			t.Errorf("%q ignores %s: %s, want %s", tc.rules, tc.path, got, tc.want)
		}
	}
}

func TestRulesOfTheRepositoryHoldInItsSubdirectories(t *testing.T) {
	b := newBench(t, map[string]string{
		"repo/.git/info/exclude": "private\n", "repo/.gitignore": "/ws/gen/\n*.tmp\n", "repo/ws/gen/x.go": "", "repo/ws/a.go": "",
		"repo/ws/b.tmp": "", "repo/ws/sub/private": "", "repo/ws/sub/gen/y.go": "",
	})
	b = benchIn(t, filepath.Join(b.dir, "repo/ws"), nil, WorkspaceOptions{})
	b.same("workspace", b.ok("glob", args{"pattern": "**"}), "a.go\nsub/gen/y.go\n")
	b.same("below", b.ok("glob", args{"pattern": "**", "path": "sub"}), "sub/gen/y.go\n")
}

// The quick ways of the search must find what a plain one finds.
func TestSearchAgreesWithMatchingLineByLine(t *testing.T) {
	patterns := []string{
		"foo", "Foo|bar", "(?i)foo", "(?i)k", "fo+", "^foo", "foo$", "^$", "x*", "a.c", "(foo|fob)ar", `\bfoo\b`, "b{2,}", "(?i)straße", "[fb]oo",
	}
	b := newBench(t, nil)
	rapid.Check(t, func(rt *rapid.T) {
		words := []string{"foo", "bar", "FOO", "fobar", "\n", "\n", "\r\n", " ", "\u212a", "bb", "abc", "Straße", "x"}
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 30).Draw(rt, "text"), "")
		pattern := rapid.SampledFrom(patterns).Draw(rt, "pattern")
		around := rapid.IntRange(0, 2).Draw(rt, "context")
		b.put("f", text)
		want := plainGrep(pattern, text, around)
		got := b.ok("grep", args{"pattern": pattern, "path": "f", "context": around})
		if got != want {
			rt.Fatalf("%s in %q:\ngot:\n%s\nwant:\n%s", pattern, text, got, want)
		}
	})
}

func TestIndexFoldFindsTheFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]byte("aAbBeE_\n"))
		data := rapid.SliceOfN(letters, 0, 60).Draw(t, "data")
		needle := bytes.ToLower(rapid.SliceOfN(letters, 1, 4).Draw(t, "needle"))
		if rapid.Bool().Draw(t, "long") {
			data = append(bytes.Repeat([]byte("B"), foldBlock-20), data...)
		}
		if got, want := indexFold(data, needle, rarest(needle)), bytes.Index(bytes.ToLower(data), needle); got != want {
			t.Fatalf("%q in %d bytes: got %d, want %d", needle, len(data), got, want)
		}
	})
}

func TestIndexRareFindsTheFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]byte("ae_\n"))
		data := rapid.SliceOfN(letters, 0, 60).Draw(t, "data")
		needle := rapid.SliceOfN(letters, 1, 4).Draw(t, "needle")
		if rapid.Bool().Draw(t, "long") {
			data = append(bytes.Repeat(needle[:1], 300), data...)
		}
		if got, want := indexRare(data, needle, rarest(needle)), bytes.Index(data, needle); got != want {
			t.Fatalf("%q in %d bytes: got %d, want %d", needle, len(data), got, want)
		}
	})
}

func plainGrep(pattern, text string, around int) string {
	re := regexp.MustCompile(pattern)
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
	}
	shown := make(map[int]bool)
	for i, line := range lines {
		for j := max(0, i-around); re.MatchString(line) && j <= min(len(lines)-1, i+around); j++ {
			shown[j] = true
		}
	}
	if len(shown) == 0 {
		return "[no match for " + pattern + "]\n"
	}
	out, last := "f\n", -1
	for i, line := range lines {
		if !shown[i] {
			continue
		}
		if around > 0 && last >= 0 && i > last+1 {
			out += "--\n"
		}
		last = i
		mark := "-"
		if re.MatchString(line) {
			mark = ":"
		}
		out += fmt.Sprintf("%d%s%s\n", i+1, mark, line)
	}
	return out
}

func TestGrepOfLongLinesAndManyFiles(t *testing.T) {
	b := newBench(t, map[string]string{"long": strings.Repeat("é", 1000) + "needle\n"})
	for i := range 300 {
		b.put(fmt.Sprintf("d/f%03d", i), "hit\n")
	}
	got := b.ok("grep", args{"pattern": "needle"})
	if len(got) > 400 || !strings.HasSuffix(got, " …\n") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	got = b.ok("grep", args{"pattern": "hit", "mode": "files", "limit": 250})
	if n := strings.Count(got, "d/f"); n != 250 || !strings.Contains(got, "[50 more files") {
		t.Errorf("%d files: %q", n, got[len(got)-80:])
	}
}

// BenchmarkGrep searches the tree that RONDO_GREP_DIR names.
func BenchmarkGrep(b *testing.B) {
	dir := os.Getenv("RONDO_GREP_DIR")
	if dir == "" {
		b.Skip("RONDO_GREP_DIR names no directory")
	}
	ws, err := OpenWorkspace(dir, WorkspaceOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer ws.Close()
	grep := grepFiles(Options{Workspace: ws})
	for _, pattern := range []string{"ErrUnsupported", `func \w+Handler\(`, "(?i)errunsupported", `\w+_SUFFIX`} {
		raw := fmt.Appendf(nil, `{"pattern":%q}`, pattern)
		b.Run(pattern, func(b *testing.B) {
			for b.Loop() {
				if _, err := grep.Run(b.Context(), toolCall(raw)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
