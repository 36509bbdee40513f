package proc

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func keep(c Cmd, r io.Reader) Result {
	o := newOutput(c)
	o.readFrom(r)
	var res Result
	o.finish(&res)
	return res
}

func TestOutputKeepsHeadAndTail(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "output")
		head, tail := rapid.IntRange(1, 50).Draw(t, "head"), rapid.IntRange(1, 50).Draw(t, "tail")
		for i := range whole {
			whole[i] = whole[i]%96 + 32
		}
		spill := filepath.Join(dir, "spill")
		_ = os.Remove(spill)
		res := keep(Cmd{HeadBytes: head, TailBytes: tail, Spill: spill, SpillBytes: 1 << 20},
			iotest.OneByteReader(bytes.NewReader(whole)))
		if len(whole) <= head+tail {
			if res.Head+res.Tail != string(whole) || res.Dropped != 0 || res.Spill != "" {
				t.Fatalf("got %+v, want %q", res, whole)
			}
			return
		}
		if res.Head != string(whole[:head]) || res.Tail != string(whole[len(whole)-tail:]) || res.Dropped != int64(len(whole)-head-tail) {
			t.Fatalf("got %+v of %q", res, whole)
		}
		if saved, err := os.ReadFile(spill); err != nil || !bytes.Equal(saved, whole) || res.SpillCut {
			t.Fatalf("saved %q, %v, want %q", saved, err, whole)
		}
	})
}

func TestOutputIsCutBetweenCharacters(t *testing.T) {
	for head := 1; head < 12; head++ {
		for tail := 1; tail < 12; tail++ {
			whole := strings.Repeat("a日é😀", 10)
			res := keep(Cmd{HeadBytes: head, TailBytes: tail}, strings.NewReader(whole))
			if !utf8.ValidString(res.Head) || !utf8.ValidString(res.Tail) {
				t.Fatalf("head %d, tail %d: %q %q", head, tail, res.Head, res.Tail)
			}
			if got := len(res.Head) + len(res.Tail) + int(res.Dropped); got != len(whole) {
				t.Fatalf("head %d, tail %d: %d bytes accounted for, want %d", head, tail, got, len(whole))
			}
		}
	}
}
