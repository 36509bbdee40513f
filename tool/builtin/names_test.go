package builtin

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rondo-engine/rondo/tool"
)

var edits = flag.Int("edits.runs", 100, "how often two edits of one file are raced")

// Two edits of one file by two of its names both survive: in one reply, where the
// scheduler keeps them apart, and from two agents that share the workspace, where
// its locks do.
func TestTwoEditsOfOneFileByTwoNamesBothSurvive(t *testing.T) {
	runs := *edits
	if testing.Short() {
		runs = min(runs, 10)
	}
	b := newBench(t, map[string]string{"dir/f": ""})
	b.link("f", "dir/symbolic")
	b.link("dir", "other")
	if err := os.Link(filepath.Join(b.dir, "dir/f"), filepath.Join(b.dir, "hard")); err != nil {
		t.Skip("no hard links here:", err)
	}
	names := []string{"dir/f", "./dir/f", "dir/../dir/f", filepath.Join(b.dir, "dir/f"), "dir/symbolic", "other/f", "hard"}
	survived := 0
	for i := range runs {
		b.put("dir/f", "one\n"+strings.Repeat("a line\n", 50)+"two\n")
		first, second := names[i%len(names)], names[(i/len(names)+1+i)%len(names)]
		jobs := []tool.Job{
			b.job("edit_file", args{"path": first, "old_string": "one", "new_string": fmt.Sprintf("first %d", i)}),
			b.job("edit_file", args{"path": second, "old_string": "two", "new_string": fmt.Sprintf("second %d", i)}),
		}
		if i%3 == 1 {
			jobs[1] = b.job("apply_patch", args{"patch": fmt.Sprintf("*** Begin Patch\n*** Update File: %s\n-two\n+second %d\n*** End Patch", second, i)})
		}
		if i%2 == 0 {
			tool.Execute(t.Context(), jobs, tool.Options{})
		} else {
			b.together(jobs)
		}
		got := b.get("dir/f")
		if strings.HasPrefix(got, fmt.Sprintf("first %d\n", i)) && strings.HasSuffix(got, fmt.Sprintf("\nsecond %d\n", i)) {
			survived++
		}
	}
	t.Logf("%d of %d", survived, runs)
	if survived != runs {
		t.Errorf("both edits survived in %d of %d runs", survived, runs)
	}
}

// together runs calls at the same time, as agents do that do not know each other.
func (b *bench) together(jobs []tool.Job) {
	var wg sync.WaitGroup
	for _, job := range jobs {
		wg.Go(func() {
			job.Call.Progress = func(string) {}
			if _, err := job.Tool.Run(b.t.Context(), job.Call); err != nil {
				b.t.Error(err)
			}
		})
	}
	wg.Wait()
}
