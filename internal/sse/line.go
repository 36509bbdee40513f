package sse

import (
	"bytes"
	"io"
)

// maxEmptyReads is how often in a row a source may read nothing without an error.
const maxEmptyReads = 100

// readLine returns the next line without its end, which is CR, LF or CRLF. The
// line is a part of buf and stays where it is until the next call. What stands
// before the end of the stream is a line too.
func (r *Reader) readLine() ([]byte, error) {
	for {
		if !r.begin() {
			if err := r.fill(); err != nil {
				return r.rest(err)
			}
			continue
		}
		fresh := r.buf[r.seen:r.end]
		lf := bytes.IndexByte(fresh, '\n')
		if lf >= 0 {
			fresh = fresh[:lf]
		}
		at := bytes.IndexByte(fresh, '\r')
		if at < 0 {
			at = lf
		} else {
			r.skipLF = true
		}
		if at >= 0 {
			line := r.buf[r.line : r.seen+at]
			r.line = r.seen + at + 1
			r.seen = r.line
			return line, nil
		}
		r.seen = r.end
		if err := r.fill(); err != nil {
			return r.rest(err)
		}
	}
}

// lineEnd returns where in buf the line that was read last ends.
func (r *Reader) lineEnd() int {
	if r.err != nil {
		return r.end
	}
	return r.line - 1
}

// begin skips what may stand before a line: the rest of the end of the line
// before and a byte order mark. It reports whether that is decided.
func (r *Reader) begin() bool {
	if r.skipLF && r.line < r.end {
		r.skipLF = false
		if r.buf[r.line] == '\n' {
			r.line++
			r.seen = r.line
		}
	}
	if r.begun {
		return r.line < r.end
	}
	got := r.buf[r.line:r.end]
	if len(got) < len(bom) && bytes.HasPrefix(bom, got) {
		return false
	}
	r.begun = true
	if bytes.HasPrefix(got, bom) {
		r.line += len(bom)
		r.seen = r.line
	}
	return r.line < r.end
}

// rest hands out the unfinished line at the end of the stream.
func (r *Reader) rest(err error) ([]byte, error) {
	if err != io.EOF || r.line >= r.end {
		return nil, err
	}
	line := r.buf[r.line:r.end]
	r.line, r.seen, r.err = r.end, r.end, io.EOF
	return line, nil
}

// fill reads more into buf, behind what the current event and line need.
func (r *Reader) fill() error {
	if r.err != nil {
		return r.err
	}
	if r.end-r.line >= MaxEvent {
		return ErrTooLong
	}
	r.room()
	for range maxEmptyReads {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		if n > 0 {
			return nil // an error comes again with the next read
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// room makes space at the end of buf: it takes a buffer, moves what is needed
// to its front, or doubles it.
func (r *Reader) room() {
	keep := r.line
	if r.lines == 1 {
		keep = r.from
	}
	need := r.end - keep
	switch {
	case r.buf == nil, need == 0 && len(r.buf) > keepSize:
		r.own()
	case keep > 0 && need <= len(r.buf)/2:
		copy(r.buf, r.buf[keep:r.end])
	case r.end < len(r.buf):
		return
	default:
		r.grow(keep)
	}
	r.line -= keep
	r.seen -= keep
	r.end -= keep
	r.from -= keep
	r.to -= keep
}

// own takes a buffer from the pool.
func (r *Reader) own() {
	r.pooled = buffers.Get().(*[bufferSize]byte)
	r.buf = r.pooled[:]
}

func (r *Reader) grow(keep int) {
	larger := make([]byte, 2*len(r.buf))
	copy(larger, r.buf[keep:r.end])
	r.buf = larger
	if r.pooled != nil {
		buffers.Put(r.pooled)
		r.pooled = nil
	}
}
