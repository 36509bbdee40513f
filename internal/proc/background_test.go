//go:build unix

package proc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// started starts a script in the background and sees to its end.
func started(t *testing.T, c Cmd, terminal *Terminal, script string) *Background {
	t.Helper()
	c.Argv, c.ID = []string{"sh", "-c", script}, t.Name()
	b, err := Start(c, terminal)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Stop(context.Background()) })
	return b
}

// reads polls until text has come, for five seconds at most.
func reads(t *testing.T, b *Background, text string) string {
	t.Helper()
	var all strings.Builder
	for range 50 {
		res := b.Poll(t.Context(), 100*time.Millisecond)
		all.WriteString(res.Head + res.Tail)
		if strings.Contains(all.String(), text) {
			return all.String()
		}
	}
	t.Fatalf("%q did not come, but %q", text, all.String())
	return ""
}

func TestBackgroundIsPolledAndWrittenTo(t *testing.T) {
	b := started(t, Cmd{}, nil, `echo ready; while read -r line; do echo "got $line"; done; echo end; exit 3`)
	reads(t, b, "ready\n")
	if err := b.Write("one\n"); err != nil {
		t.Fatal(err)
	}
	if got := reads(t, b, "got one\n"); got != "got one\n" {
		t.Errorf("what was read before came again: %q", got)
	}
	if res := b.Poll(t.Context(), 0); res.Head != "" {
		t.Errorf("got %q", res.Head)
	}
	if err := b.CloseInput(); err != nil {
		t.Fatal(err)
	}
	<-b.Done()
	if res, ended := b.Ended(); !ended || res.ExitCode != 3 {
		t.Errorf("got %+v", res)
	}
	if got := reads(t, b, "end"); got != "end\n" {
		t.Errorf("got %q", got)
	}
	if err := b.Write("x"); err == nil {
		t.Error("wrote to a process that has ended")
	}
}

func TestBackgroundIsStoppedWithAllThatItStarted(t *testing.T) {
	b := started(t, Cmd{Grace: 50 * time.Millisecond}, nil, `trap "" TERM; sleep 5151 & setsid sleep 5152 & echo on; while :; do sleep 0.1; done`)
	reads(t, b, "on")
	b.Stop(t.Context())
	if res, ended := b.Ended(); !ended || !res.Cancelled {
		t.Errorf("got %+v", res)
	}
	for _, sleep := range []string{"sleep 5151", "sleep 5152"} {
		if runtime.GOOS == "linux" && !settled(func() bool { return survivors(t, sleep) == 0 }) {
			t.Errorf("%s survived", sleep)
		}
	}
}

func TestWhatABackgroundCommandLeftIsStoppedWithIt(t *testing.T) {
	b := started(t, Cmd{}, nil, "sleep 5153 >/dev/null 2>&1 & echo on")
	<-b.Done()
	if res, _ := b.Ended(); len(res.Left) != 1 {
		t.Errorf("left %v", res.Left)
	}
	b.Stop(t.Context())
	if runtime.GOOS == "linux" && !settled(func() bool { return survivors(t, "sleep 5153") == 0 }) {
		t.Error("it survived")
	}
}

// A server that is started with & goes on, too.
func TestBackgroundLastsAsLongAsItsOutputIsHeld(t *testing.T) {
	b := started(t, Cmd{}, nil, "(sleep 0.5; echo served; sleep 5156) & echo on")
	reads(t, b, "served")
	if _, ended := b.Ended(); ended {
		t.Error("it has ended")
	}
	b.Stop(t.Context())
	if res, ended := b.Ended(); !ended || !res.Cancelled {
		t.Errorf("got %+v", res)
	}
	if runtime.GOOS == "linux" && !settled(func() bool { return survivors(t, "sleep 5156") == 0 }) {
		t.Error("it survived")
	}
}

func TestBackgroundKeepsHeadAndTail(t *testing.T) {
	spill := filepath.Join(t.TempDir(), "out.txt")
	b := started(t, Cmd{HeadBytes: 100, TailBytes: 50, Spill: spill, SpillBytes: 5000}, nil,
		"yes 0123456789 | head -c 3000; read -r x; yes abcdefghij | head -c 3000; echo END")
	if !settled(func() bool { return b.feed.size() >= 3000 }) {
		t.Fatal("the output did not come")
	}
	res := b.Poll(t.Context(), 0)
	if len(res.Head) != 100 || len(res.Tail) != 50 || res.Dropped != 2850 || res.Spill != filepath.Join(filepath.Dir(spill), "out-1.txt") {
		t.Errorf("got %+v", res)
	}
	if err := b.Write("\n"); err != nil {
		t.Fatal(err)
	}
	<-b.Done()
	res = b.Poll(t.Context(), 0)
	if len(res.Head) != 100 || !strings.HasSuffix(res.Tail, "END\n") || !res.SpillCut {
		t.Errorf("got %+v", res)
	}
	all := 0
	for n := 1; n <= 2; n++ {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(spill), fmt.Sprintf("out-%d.txt", n)))
		if err != nil {
			t.Fatal(err)
		}
		all += len(data)
	}
	if all != 5000 {
		t.Errorf("%d bytes were spilled, want 5000", all)
	}
}

func TestCommandInATerminal(t *testing.T) {
	b := started(t, Cmd{}, &Terminal{Columns: 97, Rows: 31}, `test -t 0 && test -t 1 && echo "size $(stty size)"; read -r x; echo "got $x"`)
	reads(t, b, "size 31 97")
	if err := b.Write("hello\n"); err != nil {
		t.Fatal(err)
	}
	reads(t, b, "got hello")
	<-b.Done()
}

// ^C in a terminal reaches what runs in it.
func TestInterruptFromATerminal(t *testing.T) {
	b := started(t, Cmd{}, &Terminal{Columns: 80, Rows: 24}, `trap 'echo stopped; exit 9' INT; echo on; while :; do sleep 0.05; done`)
	reads(t, b, "on")
	if err := b.Write("\x03"); err != nil {
		t.Fatal(err)
	}
	reads(t, b, "stopped")
	<-b.Done()
	if res, _ := b.Ended(); res.ExitCode != 9 {
		t.Errorf("got %+v", res)
	}
}

func TestWriteToACommandThatDoesNotRead(t *testing.T) {
	b := started(t, Cmd{}, nil, "exec <&-; echo on; sleep 5154")
	reads(t, b, "on")
	if err := b.Write("x"); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("error %v", err)
	}
}

func TestWholeEnd(t *testing.T) {
	for text, held := range map[string]string{
		"plain": "", "": "", "a\x1b[3": "\x1b[3", "a\x1b[31m": "", "a\x1b[31mb": "", "a\x1b": "\x1b", "a\x1b]0;ti": "\x1b]0;ti", "a\x1b]0;ti\x07": "",
		"a\x1b(": "\x1b(", "a\x1b(B": "", "a\xe2\x82": "\xe2\x82", "a\xe2\x82\xac": "", "a\xff": "", "a\x1bM": "",
	} {
		if n := wholeEnd(text); text[n:] != held {
			t.Errorf("%q: held %q, want %q", text, text[n:], held)
		}
	}
}
