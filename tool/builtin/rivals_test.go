//go:build unix

package builtin

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/tool"
)

var (
	rivals      = flag.Bool("rivals", false, "compare grep and glob with ripgrep and fd")
	rivalsFiles = flag.Int("rivals.files", 50_000, "how many files the tree of the comparison has")
	rivalsRuns  = flag.Int("rivals.runs", 5, "how often each search of the comparison is run")
	rivalsTree  = flag.String("rivals.tree", "", "keep the tree of the comparison in this directory")
)

// rivalSearch is one search as the tools do it and as a program does it.
type rivalSearch struct {
	name    string
	tool    string
	args    args
	program []string // the names that the program may have
	argv    []string
}

func rivalSearches() []rivalSearch {
	rg, fd := []string{"rg"}, []string{"fd", "fdfind"}
	return []rivalSearch{
		{"rare literal", "grep", args{"pattern": "needleInTheHaystack42"}, rg, []string{"-n", "needleInTheHaystack42"}},
		{"common literal", "grep", args{"pattern": "handleRequest"}, rg, []string{"-n", "handleRequest"}},
		{"names of files with a common literal", "grep", args{"pattern": "handleRequest", "mode": "files"}, rg, []string{"-l", "handleRequest"}},
		{"without regard to case", "grep", args{"pattern": "needleinthehaystack", "ignore_case": true}, rg, []string{"-n", "-i", "needleinthehaystack"}},
		{"alternatives", "grep", args{"pattern": "needleInThe|noSuchThing|nothingLikeIt"}, rg, []string{"-n", "needleInThe|noSuchThing|nothingLikeIt"}},
		{"expression with a literal", "grep", args{"pattern": `func .*nameB\d+ .*TODO`}, rg, []string{"-n", `func .*nameB\d+ .*TODO`}},
		{"expression with a word", "grep", args{"pattern": `\bTODO\b.*0x1f`}, rg, []string{"-n", `\bTODO\b.*0x1f`}},
		{"expression without a literal", "grep", args{"pattern": `[a-z]+[Z][0-9]{3}\b`}, rg, []string{"-n", `[a-z]+[Z][0-9]{3}\b`}},
		{"in some files", "grep", args{"pattern": "handleRequest", "glob": "*.py"}, rg, []string{"-n", "-g", "*.py", "handleRequest"}},
		{"files by ending", "glob", args{"pattern": "**/*.py"}, fd, []string{"-t", "f", "-e", "py"}},
		{"files by name", "glob", args{"pattern": "**/file_*7*.go"}, fd, []string{"-t", "f", "-g", "file_*7*.go"}},
		{"files by path", "glob", args{"pattern": "area0*/**/file_1*.ts"}, fd, []string{"-t", "f", "-p", "-g", "**/area0*/**/file_1*.ts"}},
	}
}

// cost is what a search took, wall clock and processor.
type cost struct{ wall, cpu time.Duration }

// The tools search a large tree in at most twice the time of the programs that
// are made for it. This is measured only when asked for (-rivals), since it
// depends on the machine.
func TestSearchKeepsUpWithRipgrepAndFd(t *testing.T) {
	if !*rivals {
		t.Skip("-rivals compares grep and glob with ripgrep and fd")
	}
	dir := *rivalsTree
	if dir == "" {
		dir = t.TempDir()
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) == 0 {
		makeTree(t, dir, *rivalsFiles)
	}
	b := benchIn(t, dir, nil, WorkspaceOptions{})
	for _, s := range rivalSearches() {
		program := lookUp(s.program)
		if program == "" {
			t.Logf("%-40s %v is not installed", s.name, s.program)
			continue
		}
		var ours, theirs []cost
		for range *rivalsRuns + 1 { // the first warms up
			theirs = append(theirs, measure(syscall.RUSAGE_CHILDREN, func() { s.runProgram(t, program, dir) }))
			ours = append(ours, measure(syscall.RUSAGE_SELF, func() { b.ok(s.tool, s.args) }))
		}
		o, r := median(ours[1:]), median(theirs[1:])
		t.Logf("%-40s %s %6.1f ms (cpu %6.1f)  %s %6.1f ms (cpu %6.1f)  ratio %.2f (cpu %.2f)", s.name,
			s.tool, ms(o.wall), ms(o.cpu), s.program[0], ms(r.wall), ms(r.cpu), ms(o.wall)/ms(r.wall), ms(o.cpu)/ms(r.cpu))
		if o.wall > 2*r.wall {
			t.Errorf("%s took %v, %s %v", s.name, o.wall, program, r.wall)
		}
	}
}

func lookUp(names []string) string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func (s rivalSearch) runProgram(t *testing.T, program, dir string) {
	t.Helper()
	cmd := exec.Command(program, s.argv...)
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %v: %v", program, s.argv, err)
	}
}

// measure runs f; who says whose processor time counts.
func measure(who int, f func()) cost {
	before, start := processorTime(who), time.Now()
	f()
	return cost{time.Since(start), processorTime(who) - before}
}

func processorTime(who int) time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// median is taken of wall clock and processor time apart.
func median(costs []cost) cost {
	wall, cpu := make([]time.Duration, len(costs)), make([]time.Duration, len(costs))
	for i, c := range costs {
		wall[i], cpu[i] = c.wall, c.cpu
	}
	slices.Sort(wall)
	slices.Sort(cpu)
	return cost{wall[len(wall)/2], cpu[len(cpu)/2]}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// BenchmarkSearch runs the searches of the comparison over a tree of 5,000 files.
func BenchmarkSearch(b *testing.B) {
	dir := *rivalsTree
	if dir == "" {
		dir = b.TempDir()
		makeTree(b, dir, 5000)
	}
	ws, err := OpenWorkspace(dir, WorkspaceOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer ws.Close()
	reg, err := tool.NewRegistry(All(Options{Workspace: ws})...)
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range rivalSearches() {
		raw, err := json.Marshal(s.args)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(strings.ReplaceAll(s.name, " ", "_"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := reg.Get(s.tool).Run(b.Context(), toolCall(raw)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
