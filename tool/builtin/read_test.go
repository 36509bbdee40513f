package builtin

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/tool"
)

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestReadNumbersLines(t *testing.T) {
	b := newBench(t, map[string]string{"f": "a\nb\n\nd", "crlf": "\ufeffa\r\nb\r\n", "empty": ""})
	b.same("whole", b.ok("read_file", args{"path": "f"}), "1\ta\n2\tb\n3\t\n4\td\n")
	b.same("part", b.ok("read_file", args{"path": "f", "offset": 2, "limit": 1}), "2\tb\n[lines 2 to 2 of 4; go on with offset 3]\n")
	b.same("end", b.ok("read_file", args{"path": "f", "offset": 4}), "4\td\n")
	b.same("behind the end", b.ok("read_file", args{"path": "f", "offset": 9}), "f has only 4 lines.")
	b.same("CRLF", b.ok("read_file", args{"path": "crlf"}), "1\ta\n2\tb\n")
	b.same("empty", b.ok("read_file", args{"path": "empty"}), "empty is empty.")
	b.same("absolute", b.ok("read_file", args{"path": filepath.Join(b.dir, "f"), "limit": 1, "offset": 1}), "1\ta\n[lines 1 to 1 of 4; go on with offset 2]\n")
}

func TestReadIsBounded(t *testing.T) {
	long := strings.Repeat("日本", 40_000)
	b := newBench(t, map[string]string{"many": numbered(5000), "long": "a\n" + long + "\nb\n", "wide": strings.Repeat(strings.Repeat("x", 1000)+"\n", 100)})
	got := b.ok("read_file", args{"path": "many"})
	if !strings.Contains(got, "[lines 1 to 2000 of 5000; go on with offset 2001]") {
		t.Errorf("ends in %q", got[len(got)-80:])
	}
	if got = b.ok("read_file", args{"path": "long"}); !utf8.ValidString(got) || len(got) > 3000 ||
		!strings.Contains(got, "more bytes in this line]\n3\tb\n") {
		t.Errorf("long line: %d bytes, %.60q … %q", len(got), got, got[len(got)-60:])
	}
	res, err := b.call("read_file", args{"path": "wide"})
	if err != nil || len(res.Text) > 47_000 || !res.Truncated || !strings.Contains(res.Text, "go on with offset 46]") {
		t.Errorf("%d bytes, %v: %q", len(res.Text), err, res.Text[len(res.Text)-80:])
	}
}

// Scenario 55, its last part.
func TestReadOfASpilledResultIsNotSpilledAgain(t *testing.T) {
	b := newBench(t, map[string]string{"spill.txt": strings.Repeat("0123456789\n", 100_000)})
	res, err := b.call("read_file", args{"path": "spill.txt"})
	if err != nil {
		t.Fatal(err)
	}
	limits := tool.Limits{SpillDir: filepath.Join(b.dir, "spilled"), ResultBytes: 2000}
	got := limits.NewRound(1).Limit(b.reg.Get("read_file"), tool.Call{ID: "1"}, res)
	if got.Source != filepath.Join(b.dir, "spill.txt") || len(got.Text) > 2000 {
		t.Errorf("%d bytes, the whole is in %q", len(got.Text), got.Source)
	}
}

func TestReadShowsImagesAndDocuments(t *testing.T) {
	png, pdf := "\x89PNG\r\n\x1a\n\x00\x00", "%PDF-1.7\n\x00"
	b := newBench(t, map[string]string{"misnamed.txt": png, "d.pdf": pdf, "huge.png": png + strings.Repeat("x", imageBytes)})
	for _, tc := range []struct {
		path, mime, data string
		kind             message.Kind
	}{
		{"misnamed.txt", "image/png", png, message.KindImage},
		{"d.pdf", "application/pdf", pdf, message.KindFile},
	} {
		res, err := b.call("read_file", args{"path": tc.path})
		if err != nil || len(res.Media) != 1 {
			t.Fatalf("%s: %+v, %v", tc.path, res, err)
		}
		m := res.Media[0]
		if m.Kind != tc.kind || m.Media.MIME != tc.mime || m.Media.Data != base64.StdEncoding.EncodeToString([]byte(tc.data)) || m.Media.Name != tc.path {
			t.Errorf("%s: %+v", tc.path, *m.Media)
		}
	}
	b.fails("read_file", args{"path": "huge.png"}, "make it smaller")
}

func TestReadRefusesPolitely(t *testing.T) {
	b := newBench(t, map[string]string{"src/main.go": "", "src/README.md": "", "bin": "\x7fELF\x00", "z": "PK\x03\x04", "nul": "a\x00b"})
	b.fails("read_file", args{"path": "src"}, "use list_dir")
	b.fails("read_file", args{"path": "bin"}, "an executable of 5 bytes")
	b.fails("read_file", args{"path": "z"}, "zip")
	b.fails("read_file", args{"path": "nul"}, "binary")
	b.fails("read_file", args{"path": "src/man.go"}, "did you mean src/main.go?")
	b.fails("read_file", args{"path": "src/readme.md"}, "did you mean src/README.md?")
	b.fails("read_file", args{"path": "src/zzz"}, "nothing with a name like it")
	b.fails("read_file", args{"path": "src/a/b/c.go"}, "the nearest directory that does is src")
	b.fails("read_file", args{"path": "a\x00b"}, "NUL")
}

func TestListDir(t *testing.T) {
	b := newBench(t, map[string]string{"b.txt": "four", "a/x": "", ".hidden": "", "c": "12"})
	b.link("b.txt", "link")
	b.same("workspace", b.ok("list_dir", args{}), "a/\n.hidden 0\nb.txt 4\nc 2\nlink -> b.txt\n")
	b.same("below", b.ok("list_dir", args{"path": "a"}), "x 0\n")
	b.fails("list_dir", args{"path": "b.txt"}, "use read_file")
	b.fails("list_dir", args{"path": "aa"}, "does not exist")
}
