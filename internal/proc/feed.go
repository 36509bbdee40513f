package proc

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"
)

// feed keeps what a command in the background prints until somebody takes it: the
// head and the tail of what is unread, in bounded memory.
type feed struct {
	limits Cmd
	grown  chan struct{} // holds a token when something came

	mu     sync.Mutex
	unread *output
	held   []byte // the beginning of a character or an escape that goes on
	total  int64
	taken  int   // how often something was taken
	left   int64 // bytes that may still be spilled
}

func newFeed(c Cmd) *feed {
	f := &feed{limits: c, grown: make(chan struct{}, 1), left: c.SpillBytes}
	f.unread = newOutput(f.next())
	return f
}

// next are the limits of what is read next, which spills to a file of its own.
func (f *feed) next() Cmd {
	c := f.limits
	c.SpillBytes = f.left
	if c.Spill != "" {
		ext := filepath.Ext(c.Spill)
		c.Spill = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(c.Spill, ext), f.taken+1, ext)
	}
	return c
}

func (f *feed) readFrom(r io.Reader) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			f.add(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

func (f *feed) add(p []byte) {
	f.mu.Lock()
	f.total += int64(len(p))
	f.unread.write(p)
	f.mu.Unlock()
	select {
	case f.grown <- struct{}{}:
	default:
	}
}

func (f *feed) size() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.total
}

// finish does nothing: what is unread is still to be taken.
func (f *feed) finish(*Result) {}

// waiting reports whether there is something to take.
func (f *feed) waiting() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unread.size() > 0
}

// take returns what is unread. An end that is not whole yet is kept for the next
// time, unless it is the last.
func (f *feed) take(last bool) Result {
	f.mu.Lock()
	defer f.mu.Unlock()
	var res Result
	f.unread.finish(&res)
	f.left = max(f.unread.spillLeft, 0)
	if res.Spill != "" {
		f.taken++
	}
	f.unread = newOutput(f.next())
	res.Head = string(f.held) + res.Head
	f.held = nil
	if last {
		return res
	}
	end := &res.Head
	if res.Tail != "" {
		end = &res.Tail
	}
	if n := wholeEnd(*end); n < len(*end) {
		f.held = []byte((*end)[n:])
		*end = (*end)[:n]
	}
	return res
}

// heldMost bounds what is kept of an escape that does not end.
const heldMost = 128

// wholeEnd returns where a character or terminal escape begins that is not whole
// at the end of text, or the length of text.
func wholeEnd(text string) int {
	from := max(0, len(text)-heldMost)
	if i := strings.LastIndexByte(text[from:], 0x1b); i >= 0 && !endsEscape(text[from+i+1:]) {
		return from + i
	}
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if utf8.RuneStart(text[len(text)-n]) {
			if !utf8.FullRuneInString(text[len(text)-n:]) {
				return len(text) - n
			}
			break
		}
	}
	return len(text)
}

// endsEscape reports whether an escape, without its first character, has come to
// its end (ECMA-48): text may have more behind it.
func endsEscape(text string) bool {
	if text == "" {
		return false
	}
	rest := []byte(text[1:])
	switch text[0] {
	case '[':
		return bytes.ContainsFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
	case ']', 'P', 'X', '^', '_':
		return bytes.IndexByte(rest, 0x07) >= 0
	}
	if text[0] >= 0x20 && text[0] <= 0x2f {
		return bytes.ContainsFunc(rest, func(r rune) bool { return r >= 0x30 && r <= 0x7e })
	}
	return true
}
