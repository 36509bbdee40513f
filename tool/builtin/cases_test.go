//go:build unix

package builtin

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/tool"
)

// sharedCase is what a case file says of a tool, see the README beside the cases.
type sharedCase struct {
	ID    string
	Kind  string
	Given struct {
		Command       string
		TimeoutMS     int `json:"timeout_ms"`
		CancelAfterMS int `json:"cancel_after_ms"`
		Setup, Root   string
		Variants      []struct{ Name, Before, Old, New string }
		Calls         []struct {
			Tool, Path string
			Function   struct{ Name, Arguments string }
		}
	}
	Want struct {
		ReturnsWithinMS int      `json:"returns_within_ms"`
		Survivors       *int     `json:"survivors"`
		ResultStatus    string   `json:"result_status"`
		Exit            *int     `json:"exit"`
		OutputContains  []string `json:"output_contains"`
		ResultBytesMax  int      `json:"result_bytes_max"`
		HeapGrowthMax   uint64   `json:"rss_growth_max"`
		After           map[string]string
		Allowed         []bool
		Unchanged       map[string]string
		Absent          []string
		File            string
		Contains        []string
		Lines           int
	}
}

// sharedCases returns the directory with the cases.
func sharedCases(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("RONDO_SHARED"); dir != "" {
		return filepath.Join(dir, "cases", "dev")
	}
	for dir, err := os.Getwd(); err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		cases := filepath.Join(dir, "shared", "cases", "dev")
		if _, err := os.Stat(cases); err == nil {
			return cases
		}
	}
	t.Skip("the shared cases are not here; RONDO_SHARED can name their directory")
	return ""
}

func TestSharedCasesOfTools(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(sharedCases(t), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c sharedCase
		if json.Unmarshal(data, &c) != nil || !slices.Contains([]string{"tools", "interrupt", "concurrency"}, c.Kind) {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			switch {
			case c.Given.Command != "":
				c.runCommand(t)
			case len(c.Given.Variants) > 0:
				c.runEdits(t)
			case len(c.Want.Allowed) > 0:
				c.runPaths(t)
			case c.Want.File != "":
				c.runBatch(t)
			default:
				t.Skip("not about the built-in tools")
			}
		})
	}
}

func (c sharedCase) runCommand(t *testing.T) {
	b := newBench(t, nil)
	ctx := t.Context()
	start := time.Now()
	if c.Given.CancelAfterMS > 0 {
		cancelled, cancel := context.WithCancel(ctx)
		delay := time.Duration(c.Given.CancelAfterMS) * time.Millisecond
		time.AfterFunc(delay, cancel)
		ctx, start = cancelled, start.Add(delay)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	out := tool.Execute(ctx, []tool.Job{
		b.job("shell", args{"command": c.Given.Command, "timeout": max(c.Given.TimeoutMS/1000, 1)}),
	}, tool.Options{Grace: 2 * time.Second})[0]
	took := time.Since(start)
	runtime.ReadMemStats(&after)

	w := c.Want
	if limit := time.Duration(w.ReturnsWithinMS) * time.Millisecond; limit > 0 && took > limit {
		t.Errorf("took %v, want at most %v", took, limit)
	}
	if w.ResultStatus == "cancelled" && out.Result.Status != message.StatusInterrupted {
		t.Errorf("status %s", out.Result.Status)
	}
	if d, ok := out.Result.Details.(ShellDetails); w.Exit != nil && (!ok || d.ExitCode != *w.Exit) {
		t.Errorf("details %+v, want exit %d", out.Result.Details, *w.Exit)
	}
	for _, want := range w.OutputContains {
		if !strings.Contains(out.Result.Text, want) {
			t.Errorf("output lacks %q: %.200q", want, out.Result.Text)
		}
	}
	if w.ResultBytesMax > 0 && len(out.Result.Text) > w.ResultBytesMax {
		t.Errorf("result of %d bytes", len(out.Result.Text))
	}
	if grown := after.HeapSys - before.HeapSys; w.HeapGrowthMax > 0 && after.HeapSys > before.HeapSys && grown > w.HeapGrowthMax {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	if w.Survivors != nil {
		c.checkSurvivors(t)
	}
}

func (c sharedCase) checkSurvivors(t *testing.T) {
	ps, err := exec.Command("ps", "-eo", "args").Output()
	if err != nil {
		t.Skip("no ps here:", err)
	}
	n := 0
	for _, sleep := range regexp.MustCompile(`sleep \d+`).FindAllString(c.Given.Command, -1) {
		n += strings.Count("\n"+string(ps), "\n"+sleep+"\n")
	}
	if n != *c.Want.Survivors {
		t.Errorf("%d survivors, want %d", n, *c.Want.Survivors)
	}
}

func (c sharedCase) runEdits(t *testing.T) {
	for _, v := range c.Given.Variants {
		b := newBench(t, map[string]string{"f": v.Before})
		b.ok("edit_file", args{"path": "f", "old_string": v.Old, "new_string": v.New})
		if got := b.get("f"); got != c.Want.After[v.Name] {
			t.Errorf("%s: got %q, want %q", v.Name, got, c.Want.After[v.Name])
		}
	}
}

// setup makes the files of a case and returns their directory.
func (c sharedCase) setup(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-ec", c.Given.Setup)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("setup: %v: %s", err, out)
	}
	return dir
}

func (c sharedCase) runPaths(t *testing.T) {
	dir := c.setup(t)
	b := benchIn(t, filepath.Join(dir, c.Given.Root), nil, WorkspaceOptions{})
	for i, call := range c.Given.Calls {
		var err error
		if call.Tool == "read" {
			_, err = b.call("read_file", args{"path": call.Path})
		} else {
			_, err = b.call("write_file", args{"path": call.Path, "content": "x"})
		}
		if (err == nil) != c.Want.Allowed[i] {
			t.Errorf("%s %s: %v, want allowed %v", call.Tool, call.Path, err, c.Want.Allowed[i])
		}
	}
	for name, want := range c.Want.Unchanged {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
	for _, name := range c.Want.Absent {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
}

func (c sharedCase) runBatch(t *testing.T) {
	b := benchIn(t, c.setup(t), nil, WorkspaceOptions{})
	var jobs []tool.Job
	for _, call := range c.Given.Calls {
		var edit struct{ Path, Old, New string }
		if err := json.Unmarshal([]byte(call.Function.Arguments), &edit); err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, b.job("edit_file", args{"path": edit.Path, "old_string": edit.Old, "new_string": edit.New}))
	}
	for i, o := range tool.Execute(t.Context(), jobs, tool.Options{}) {
		if o.Err != nil {
			t.Errorf("call %d: %v", i+1, o.Err)
		}
	}
	got := b.get(c.Want.File)
	for _, want := range c.Want.Contains {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %q", c.Want.File, want)
		}
	}
	if n := strings.Count(got, "\n"); n != c.Want.Lines {
		t.Errorf("%d lines, want %d", n, c.Want.Lines)
	}
}
