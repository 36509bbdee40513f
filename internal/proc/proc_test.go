//go:build unix

package proc

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func sh(ctx context.Context, t *testing.T, c Cmd, script string) Result {
	t.Helper()
	c.Argv = []string{"sh", "-c", script}
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	if c.ID == "" {
		c.ID = t.Name()
	}
	res, err := Run(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// survivors counts the processes whose command line holds text.
func survivors(t *testing.T, text string) int {
	t.Helper()
	out, err := exec.Command("ps", "-eo", "args").Output()
	if err != nil {
		t.Skip("no ps here:", err)
	}
	n := 0
	for line := range bytes.Lines(out) {
		if strings.TrimSpace(string(line)) == text {
			n++
		}
	}
	return n
}

// settled waits until cond holds, for a second at most.
func settled(cond func() bool) bool {
	for range 200 {
		if cond() {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

func TestOutputInTheOrderOfArrivalAndExitStatus(t *testing.T) {
	res := sh(t.Context(), t, Cmd{}, "echo a; echo b >&2; echo c; exit 7")
	if res.Head != "a\nb\nc\n" || res.ExitCode != 7 || res.Dropped != 0 {
		t.Errorf("got %+v", res)
	}
	if res = sh(t.Context(), t, Cmd{}, "kill -SEGV $$"); res.ExitCode != -1 || res.Signal != "segmentation fault" {
		t.Errorf("got %+v", res)
	}
}

func TestProgramThatDoesNotExist(t *testing.T) {
	_, err := Run(t.Context(), Cmd{Argv: []string{"no-such-program-here"}})
	if err == nil || !strings.Contains(err.Error(), "no-such-program-here") {
		t.Errorf("error %v", err)
	}
}

// Case 31.
func TestCancelEndsTheWholeTree(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := time.Now().Add(300 * time.Millisecond)
	time.AfterFunc(time.Until(cancelled), cancel)
	res := sh(ctx, t, Cmd{}, "echo begun; sleep 4311 & (sleep 4312; true) & wait")
	if !res.Cancelled || res.TimedOut || res.Head != "begun\n" {
		t.Errorf("got %+v", res)
	}
	if took := time.Since(cancelled); took > 2*time.Second {
		t.Errorf("returned %v after the cancel", took)
	}
	if n := survivors(t, "sleep 4311") + survivors(t, "sleep 4312"); n != 0 {
		t.Errorf("%d survivors", n)
	}
}

func TestTimeoutEndsWhatIgnoresSIGTERM(t *testing.T) {
	res := sh(t.Context(), t, Cmd{Timeout: 200 * time.Millisecond}, "trap '' TERM; echo begun; sleep 4321; sleep 4321")
	if !res.TimedOut || res.Cancelled || res.Head != "begun\n" || res.Signal != "killed" {
		t.Errorf("got %+v", res)
	}
	if n := survivors(t, "sleep 4321"); n != 0 {
		t.Errorf("%d survivors", n)
	}
}

func TestTimeoutEndsChildrenInSessionsOfTheirOwn(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other sessions are found on Linux only")
	}
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	for name, script := range map[string]string{
		"marked":       "setsid sleep 4331 & sleep 4331",
		"orphaned":     "(setsid sleep 4331 >/dev/null 2>&1 &) ; sleep 4331",
		"without mark": "env -i setsid sleep 4331 & sleep 4331",
	} {
		res := sh(t.Context(), t, Cmd{Timeout: 200 * time.Millisecond}, script)
		if n := survivors(t, "sleep 4331"); n != 0 || !res.TimedOut {
			t.Errorf("%s: %d survivors, %+v", name, n, res)
		}
	}
}

// Case 34.
func TestBackgroundChildThatHoldsTheOutputIsEnded(t *testing.T) {
	start := time.Now()
	res := sh(t.Context(), t, Cmd{Timeout: time.Minute}, "sleep 4313 & echo done")
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
	if res.Head != "done\n" || res.ExitCode != 0 || res.Ended != 1 || len(res.Left) != 0 {
		t.Errorf("got %+v", res)
	}
	if !settled(func() bool { return survivors(t, "sleep 4313") == 0 }) {
		t.Error("it lives")
	}
}

func TestBackgroundChildWithItsOwnOutputIsLeft(t *testing.T) {
	res := sh(t.Context(), t, Cmd{}, "sleep 4341 >/dev/null 2>&1 & echo $!")
	if res.ExitCode != 0 || res.Ended != 0 || len(res.Left) != 1 || fmt.Sprintln(res.Left[0]) != res.Head {
		t.Errorf("got %+v", res)
	}
	for _, pid := range res.Left {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
}

func TestOutputShortlyAfterTheExitIsGathered(t *testing.T) {
	var res Result
	for range 5 { // a busy machine may take longer than the drain waits
		res = sh(t.Context(), t, Cmd{}, "(sleep 0.02; echo late) & echo early")
		if strings.Contains(res.Head, "late\n") {
			break
		}
	}
	if !strings.Contains(res.Head, "early\n") || !strings.Contains(res.Head, "late\n") {
		t.Errorf("got %q", res.Head)
	}
}

// Case 35.
func TestNothingCanBeAsked(t *testing.T) {
	res := sh(t.Context(), t, Cmd{Timeout: 10 * time.Second},
		`read -r x; echo "got:[$x]"; (exec 3</dev/tty) 2>/dev/null && echo tty || echo notty`)
	if res.Head != "got:[]\nnotty\n" {
		t.Errorf("got %q", res.Head)
	}
}

// Case 36.
func TestHugeOutputIsBounded(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	spill := filepath.Join(t.TempDir(), "out", "whole.txt")
	res := sh(t.Context(), t, Cmd{Spill: spill, SpillBytes: 1 << 20},
		"yes 0123456789 | head -c 30000000; echo; echo END")
	runtime.ReadMemStats(&after)
	if res.ExitCode != 0 || !strings.HasPrefix(res.Head, "0123456789\n") || !strings.HasSuffix(res.Tail, "\nEND\n") {
		t.Errorf("exit %d, head %.20q, tail %q", res.ExitCode, res.Head, res.Tail[max(0, len(res.Tail)-20):])
	}
	if got := int64(len(res.Head)+len(res.Tail)) + res.Dropped; got != 30_000_005 {
		t.Errorf("%d bytes accounted for, want 30000005", got)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 2<<20 {
		t.Errorf("%d bytes allocated", grown)
	}
	if info, err := os.Stat(spill); err != nil || info.Size() != 1<<20 || !res.SpillCut || res.Spill != spill {
		t.Errorf("saved %v, %v, cut %v", info, err, res.SpillCut)
	}
}

func TestEndlessWriterIsStoppedByItsTimeout(t *testing.T) {
	res := sh(t.Context(), t, Cmd{Timeout: 200 * time.Millisecond}, "yes")
	if !res.TimedOut || len(res.Head)+len(res.Tail) != 47_000 || res.Dropped == 0 {
		t.Errorf("timed out %v, kept %d, dropped %d", res.TimedOut, len(res.Head)+len(res.Tail), res.Dropped)
	}
}

func TestKeysOfProvidersStayHere(t *testing.T) {
	base := []string{
		"PATH=/bin", "OPENAI_API_KEY=1", "RONDO_API_KEY=2", "some_api_key=3", "ANTHROPIC_AUTH_TOKEN=4",
		"GITHUB_TOKEN=5", "MY_API_KEY=6", "RONDO_CALL_ID=outer", "HOME=/h",
	}
	got := Environ(base, "MY_API_KEY")
	if want := []string{"PATH=/bin", "GITHUB_TOKEN=5", "MY_API_KEY=6", "HOME=/h"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	t.Setenv("RONDO_API_KEY", "secret")
	if res := sh(t.Context(), t, Cmd{ID: "id-1"}, `echo "[$RONDO_API_KEY] $RONDO_CALL_ID"`); res.Head != "[] id-1\n" {
		t.Errorf("got %q", res.Head)
	}
}
