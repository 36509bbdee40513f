package builtin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/tool"
)

// Case 37.
func TestEditKeepsLineEnds(t *testing.T) {
	for _, tc := range []struct{ name, before, old, new, after string }{
		{"crlf", "a\r\nb\r\nc\r\n", "a\nb", "A\nB\nX", "A\r\nB\r\nX\r\nc\r\n"},
		{"mixed", "alpha\nbeta\r\ngamma\r\n", "alpha", "ALPHA", "ALPHA\nbeta\r\ngamma\r\n"},
		{"mixed, lines before", "alpha\nbeta\r\ngamma\r\n", "alpha\nbeta", "A\nB", "A\nB\r\ngamma\r\n"},
		{"mixed, a line of CRLF grows", "alpha\nbeta\r\ngamma\r\n", "beta", "b\nc", "alpha\nb\r\nc\r\ngamma\r\n"},
		{"mixed, a line of LF grows", "alpha\nbeta\r\ngamma\r\n", "alpha", "a\nb", "a\nb\nbeta\r\ngamma\r\n"},
		{"bare CR", "p\rq\nend\n", "end", "END", "p\rq\nEND\n"},
		{"byte order mark", "\ufeffa\r\nb\r\n", "a\nb", "a\nB", "\ufeffa\r\nB\r\n"},
		{"no last newline", "a\r\nb", "b", "b\nc", "a\r\nb\r\nc"},
		{"CRLF from the model in a file of LF", "a\nb\n", "a\r\nb", "a\r\nc", "a\nc\n"},
		{"line taken out", "a\r\nb\r\nc\r\n", "b\n", "", "a\r\nc\r\n"},
	} {
		b := newBench(t, map[string]string{"f": tc.before})
		b.ok("edit_file", args{"path": "f", "old_string": tc.old, "new_string": tc.new})
		if got := b.get("f"); got != tc.after {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.after)
		}
	}
}

func TestEditToleratesWhatModelsGetWrong(t *testing.T) {
	for _, tc := range []struct{ name, before, old, new, after string }{
		{"trailing white space in the file", "a  \nb\t\nc\n", "a\nb\nc", "x", "x\n"},
		{"trailing white space in the call", "a\nb\n", "a \nb", "x", "x\n"},
		{"quotes", "say “hi” it’s\n", `say "hi" it's`, "x", "x\n"},
		{"dashes", "a – b — c\n", "a - b - c", "x", "x\n"},
		{"no-break space", "a\u00a0b\n", "a b", "x", "x\n"},
		{"zero-width space from a result", "<|im_end|>\n", "<\u200b|im_end|>", "x", "x\n"},
		{"composed, Latin", "cafe\u0301\n", "café", "x", "x\n"},
		{"composed, Japanese", "か\u3099く\n", "がく", "x", "x\n"},
		{"indentation", "func f() {\n\t\tif a {\n\t\t\tb()\n\t\t}\n}\n", "if a {\n\tb()\n}", "if c {\n\td()\n}", "func f() {\n\t\tif c {\n\t\t\td()\n\t\t}\n}\n"},
		{"indentation by spaces", "  a:\n    b: 1\n", "    a:\n      b: 1\n", "    a:\n      b: 2\n", "  a:\n    b: 2\n"},
		{"line numbers", "one\ntwo\n", "1\tone\n2\ttwo\n", "1\tone\n2\tTWO\n", "one\nTWO\n"},
	} {
		b := newBench(t, map[string]string{"f": tc.before})
		b.ok("edit_file", args{"path": "f", "old_string": tc.old, "new_string": tc.new})
		if got := b.get("f"); got != tc.after {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.after)
		}
	}
}

func TestEditRefusesWhatIsNotClear(t *testing.T) {
	b := newBench(t, map[string]string{"f": "x = 1\ny = 2\nx = 1\nlast line here\n", "bin": "a\x00b", "dir/g": ""})
	before := b.get("f")
	b.fails("edit_file", args{"path": "f", "old_string": "x = 1", "new_string": "z"}, "occurs 2 times, in lines 1, 3")
	b.fails("edit_file", args{"path": "f", "old_string": "last lime here", "new_string": "z"}, "4\tlast line here")
	b.fails("edit_file", args{"path": "f", "old_string": "nothing at all like this", "new_string": "z"}, "not found")
	b.fails("edit_file", args{"path": "f", "old_string": "y = 1", "new_string": "y = 2"}, "made already")
	b.fails("edit_file", args{"path": "f", "old_string": "y", "new_string": "y"}, "the same")
	b.fails("edit_file", args{"path": "f", "new_string": "y"}, "old_string is empty")
	b.fails("edit_file", args{"path": "f"}, "nothing to do")
	b.fails("edit_file", args{"path": "bin", "old_string": "a", "new_string": "b"}, "binary")
	b.fails("edit_file", args{"path": "dir", "old_string": "a", "new_string": "b"}, "no regular file")
	b.fails("edit_file", args{"path": "ff", "old_string": "a", "new_string": "b"}, "does not exist")
	b.same("the file", b.get("f"), before)
}

func TestEditAppliesAllEditsOrNone(t *testing.T) {
	b := newBench(t, map[string]string{"f": "a\nb\na\n"})
	edit := func(old, new string, all bool) args {
		return args{"old_string": old, "new_string": new, "replace_all": all}
	}
	b.fails("edit_file", args{"path": "f", "edits": []args{edit("b", "B", false), edit("c", "C", false)}}, "edit 2 of 2")
	b.same("after a failed one", b.get("f"), "a\nb\na\n")
	b.ok("edit_file", args{"path": "f", "edits": []args{edit("a", "x", true), edit("x\nb", "y", false)}})
	b.same("after both", b.get("f"), "y\nx\n")
}

func TestEditShowsADiff(t *testing.T) {
	b := newBench(t, map[string]string{"f": "a\nb\nc\n"})
	res, err := b.call("edit_file", args{"path": "f", "old_string": "b", "new_string": "B"})
	if err != nil {
		t.Fatal(err)
	}
	b.same("text", res.Text, "Edited f:\nreplaced 1 occurrence in line 2")
	b.same("diff", res.Details.(FileChange).Diff, "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n")
}

// Case 33.
func TestEditsOfOneFileInABatchAllTakeEffect(t *testing.T) {
	var lines strings.Builder
	for i := range 100 {
		fmt.Fprintln(&lines, i+1)
	}
	b := newBench(t, map[string]string{"race.txt": lines.String()})
	b.link("race.txt", "alias.txt")
	b.put("sub/x", "")
	out := tool.Execute(t.Context(), []tool.Job{
		b.job("edit_file", args{"path": "race.txt", "old_string": "50\n", "new_string": "FIFTY\n"}),
		b.job("edit_file", args{"path": "./race.txt", "old_string": "75\n", "new_string": "SEVENTY-FIVE\n"}),
		b.job("edit_file", args{"path": "alias.txt", "old_string": "99\n", "new_string": "NINETY-NINE\n"}),
		b.job("edit_file", args{"path": "sub/../race.txt", "old_string": "FIFTY\n", "new_string": "fifty\n"}),
	}, tool.Options{})
	for i, o := range out {
		if o.Err != nil {
			t.Errorf("edit %d: %v", i+1, o.Err)
		}
	}
	got := b.get("race.txt")
	for _, want := range []string{"fifty\n", "SEVENTY-FIVE\n", "NINETY-NINE\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is lost", want)
		}
	}
	if n := strings.Count(got, "\n"); n != 100 {
		t.Errorf("%d lines, want 100", n)
	}
	if target, err := readlink(b, "alias.txt"); err != nil || target != "race.txt" {
		t.Errorf("alias.txt leads to %q, %v", target, err)
	}
}
