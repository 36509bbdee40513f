package chaos

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/sqlite"
)

var (
	runs = flag.Int("chaos.runs", 100, "how many runs to play")
	seed = flag.Uint64("chaos.seed", 1, "what the first run is made of; the next has the next number")
	show = flag.Bool("chaos.show", false, "print the events of each run")
)

// Some runs are played twice, some on disk.
const (
	againEvery = 10
	diskEvery  = 25
)

func TestChaos(t *testing.T) {
	n := *runs
	if testing.Short() {
		n = min(n, 60)
	}
	var total tally
	t.Run("runs", func(t *testing.T) {
		for shard := range 2 {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				for i := shard; i < n && !t.Failed(); i += 2 {
					total.add(playRun(t, *seed+uint64(i)))
				}
			})
		}
	})
	t.Log(total.String())
}

// playRun plays one run, and again where its number says so.
func playRun(t *testing.T, seed uint64) played {
	t.Helper()
	mode := modes[seed%uint64(len(modes))]
	defer func() { // synctest.Test does not return from a test that failed
		if t.Failed() {
			t.Logf("this was run %d, %s: -chaos.seed %d -chaos.runs 1 -chaos.show plays it alone", seed, mode, seed)
		}
	}()
	first := inBubble(t, seed, mode)
	if seed%againEvery == 0 {
		if second := inBubble(t, seed, mode); second.hash != first.hash {
			t.Errorf("run %d differs when it is played again:\n%s", seed, firstDifference(first.log, second.log))
		}
	}
	return first
}

// inBubble plays a run in virtual time. A goroutine that is left behind ends
// the test.
func inBubble(t *testing.T, seed uint64, mode model.Mode) (p played) {
	t.Helper()
	if seed%diskEvery != 0 {
		synctest.Test(t, func(t *testing.T) { p = start(t, seed, mode, store.NewMemory()) })
		return p
	}
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		st, err := sqlite.Open(t.Context(), filepath.Join(dir, "sessions.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p = start(t, seed, mode, st)
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	searchFiles(t, dir)
	return p
}

// searchFiles looks for the key in all that is on disk.
func searchFiles(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(key)) {
			t.Errorf("%s holds the key", filepath.Base(path))
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d files of the database, %v", files, err)
	}
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d\n- %s\n+ %s", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines and %d", len(x), len(y))
}

// tally counts how runs ended.
type tally struct {
	mu    sync.Mutex
	runs  int
	turns int
	ends  map[loop.Reason]int
}

func (a *tally) add(p played) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ends == nil {
		a.ends = map[loop.Reason]int{}
	}
	a.runs++
	a.turns += p.turns
	for r, n := range p.ends {
		a.ends[r] += n
	}
}

// String lists the reasons with how often each was met.
func (a *tally) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d runs, %d requests", a.runs, a.turns)
	for _, r := range slices.Sorted(maps.Keys(a.ends)) {
		fmt.Fprintf(&b, "\n%7d %s", a.ends[r], r)
	}
	return b.String()
}
