package proc

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"unicode/utf8"
)

// output keeps the head and the tail of what a command prints, in bounded
// memory, and saves the whole to a file when it is more than that.
type output struct {
	head    []byte
	headMax int
	tail    []byte // a ring once it is full
	tailMax int
	next    int // where the ring goes on
	total   atomic.Int64

	spillPath string
	spillLeft int64
	spill     *os.File
	spillErr  error
	scratch   []byte // what is saved of a part with zero bytes
}

func newOutput(c Cmd) *output {
	return &output{headMax: c.HeadBytes, tailMax: c.TailBytes, spillPath: c.Spill, spillLeft: c.SpillBytes}
}

// size returns how many bytes were read; it may be called while they are.
func (o *output) size() int64 { return o.total.Load() }

// readFrom reads r to its end or to the first error.
func (o *output) readFrom(r io.Reader) {
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		o.write(buf[:n])
		if err != nil {
			return
		}
	}
}

func (o *output) write(p []byte) {
	if before := o.total.Add(int64(len(p))) - int64(len(p)); o.spillPath != "" && before+int64(len(p)) > int64(o.headMax+o.tailMax) {
		if before <= int64(o.headMax+o.tailMax) {
			o.openSpill()
		}
		o.save(p)
	}
	n := min(len(p), o.headMax-len(o.head))
	o.head = append(o.head, p[:n]...)
	o.writeTail(p[n:])
}

func (o *output) writeTail(p []byte) {
	if len(p) > o.tailMax {
		p = p[len(p)-o.tailMax:]
	}
	n := min(len(p), o.tailMax-len(o.tail))
	o.tail = append(o.tail, p[:n]...)
	for p = p[n:]; len(p) > 0; {
		n := copy(o.tail[o.next:], p)
		o.next = (o.next + n) % o.tailMax
		p = p[n:]
	}
}

// openSpill begins the file with what was kept so far, which is all there was.
func (o *output) openSpill() {
	if o.spillErr = os.MkdirAll(filepath.Dir(o.spillPath), 0o700); o.spillErr != nil {
		return
	}
	o.spill, o.spillErr = os.OpenFile(o.spillPath, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	o.save(o.head)
	o.save(o.tail)
}

// save adds to the file, but for zero bytes: with them it would be no text that
// can be read.
func (o *output) save(p []byte) {
	if o.spill == nil || o.spillErr != nil {
		return
	}
	if bytes.IndexByte(p, 0) >= 0 {
		o.scratch = appendWithoutZeros(o.scratch[:0], p)
		p = o.scratch
	}
	p = p[:min(int64(len(p)), max(o.spillLeft, 0))]
	_, o.spillErr = o.spill.Write(p)
	o.spillLeft -= int64(len(p))
}

func appendWithoutZeros(dst, p []byte) []byte {
	for len(p) > 0 {
		n := bytes.IndexByte(p, 0)
		if n < 0 {
			return append(dst, p...)
		}
		dst = append(dst, p[:n]...)
		p = p[n+1:]
	}
	return dst
}

// finish puts what was kept into res, cut where characters begin.
func (o *output) finish(res *Result) {
	tail := append(o.tail[o.next:len(o.tail):len(o.tail)], o.tail[:o.next]...)
	head := o.head
	dropped := o.total.Load() - int64(len(head)+len(tail))
	if dropped > 0 {
		head, tail = wholeHead(head), wholeTail(tail)
		dropped = o.total.Load() - int64(len(head)+len(tail))
	}
	res.Head, res.Tail, res.Dropped = string(head), string(tail), dropped
	if o.spill != nil {
		if err := o.spill.Close(); o.spillErr == nil {
			o.spillErr = err
		}
		res.Spill, res.SpillCut = o.spillPath, o.spillLeft <= 0
	}
	res.SpillErr = o.spillErr
}

// wholeHead takes a character that is cut off at the end of p away.
func wholeHead(p []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if c := p[len(p)-n]; utf8.RuneStart(c) {
			if !utf8.FullRune(p[len(p)-n:]) {
				return p[:len(p)-n]
			}
			break
		}
	}
	return p
}

// wholeTail takes the rest of a character that is cut off at the start of p away.
func wholeTail(p []byte) []byte {
	n := 0
	for n < len(p) && n < utf8.UTFMax-1 && !utf8.RuneStart(p[n]) {
		n++
	}
	return p[n:]
}
