//go:build unix

package builtin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rondo-engine/rondo/tool"
)

// dirty is text with all that must not reach a history.
const dirty = "a\x1b[31mred\x1b[0m b\x00\x07c \xff\xfe d\x1b]0;title\x07 e\r\nf\x9b31m <|im_start|>"

// What every tool returns is clean once it is limited as a session does it,
// whatever stands in files, in their names and in what commands print.
func TestResultsOfAllToolsAreClean(t *testing.T) {
	const name = "n\x1b[31m\xff.txt"
	s := newStation(t, ProcessesOptions{})
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte("first\n"+strings.ReplaceAll(dirty, "\x00", "")+"\nlast\n"), 0o644); err != nil {
		t.Skip("no such names here:", err)
	}
	s.put("plain.txt", "first\n"+strings.ReplaceAll(dirty, "\x00", "")+"\nlast\n")
	s.put("binary", dirty)
	printing := `printf 'a\033[31mred\033[0m b\000\007c \377\376 d\r\nf\n'`
	for _, c := range []struct {
		tool string
		args args
		want string // "" for an error, too
	}{
		{"read_file", args{"path": "plain.txt"}, "red b"},
		{"read_file", args{"path": "binary"}, ""},
		{"read_file", args{"path": "n.txt"}, ""}, // names the one that is like it
		{"list_dir", args{"path": "."}, "n\ufffd.txt"},
		{"glob", args{"pattern": "*.txt"}, "n\ufffd.txt"},
		{"grep", args{"pattern": "red"}, "red"},
		{"grep", args{"pattern": "first", "context": 2}, "red"},
		{"edit_file", args{"path": "plain.txt", "old_string": "a[31mred b", "new_string": "x"}, ""},
		{"edit_file", args{"path": "plain.txt", "old_string": "first", "new_string": "1st"}, "Edited"},
		{"apply_patch", args{"patch": "*** Begin Patch\n*** Update File: plain.txt\n 1st\n-something else\n*** End Patch"}, ""},
		{"write_file", args{"path": "w\x1b[31m.txt", "content": "x"}, "w.txt"},
		{"shell", args{"command": printing}, "red b"},
		{"shell", args{"command": printing, "background": true}, "Started"},
		{"process", args{"action": "poll", "id": 1, "wait": 10_000}, "process 1"},
		{"process", args{"action": "list"}, "printf"},
	} {
		job := s.job(c.tool, c.args)
		job.Call.Session, job.Call.Progress = "s", func(string) {}
		res, err := job.Tool.Run(t.Context(), job.Call)
		if err != nil {
			res.Text = err.Error()
		}
		res = tool.Limits{}.NewRound(1).Limit(job.Tool, job.Call, res)
		if !utf8.ValidString(res.Text) || strings.ContainsAny(res.Text, "\x1b\x00\x07\r\u009b") || strings.Contains(res.Text, "<|im_start|>") {
			t.Errorf("%s %v: not clean: %q", c.tool, c.args, res.Text)
		}
		if (err == nil) != (c.want != "") || !strings.Contains(res.Text, c.want) {
			t.Errorf("%s %v: %q, want %q", c.tool, c.args, res.Text, c.want)
		}
		if details, err := json.Marshal(res.Details); err != nil || !utf8.Valid(details) {
			t.Errorf("%s: details %q, %v", c.tool, details, err)
		}
	}
}

// What a command printed and was too long can be read, also if there are zero
// bytes in it.
func TestSavedOutputCanBeRead(t *testing.T) {
	s := newStation(t, ProcessesOptions{})
	res, err := s.in("s", "shell", args{"command": `printf 'begin\000\033[31m\n'; yes 0123456789 | head -c 300000; printf '\000\nEND\n'`})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(res.Text, "the whole is in "+res.Source) {
		t.Fatalf("%.200q", res.Text)
	}
	if got := s.ok("read_file", args{"path": res.Source, "limit": 2}); !strings.HasPrefix(got, "1\tbegin") {
		t.Errorf("got %q", got)
	}
	if got := s.ok("grep", args{"path": res.Source, "pattern": "^END"}); !strings.Contains(got, ":END") {
		t.Errorf("got %q", got)
	}
}
