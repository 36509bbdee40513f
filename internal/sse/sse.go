// Package sse reads event streams as the WHATWG HTML standard defines them
// (section 9.2.6), over any cut of the bytes, with three allowances for what
// providers really send: white space before a field's name is skipped, an event
// that the end of the stream cuts off before its blank line is handed out all
// the same, and the id and retry fields are read over, as nobody reconnects.
package sse

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// MaxEvent is the largest size of a line and of the data of an event in bytes.
const MaxEvent = 64 << 20

// ErrTooLong tells that a line, or the data of an event, is over MaxEvent.
var ErrTooLong = errors.New("event stream: an event is larger than 64 MiB")

const (
	bufferSize = 8 << 10
	// keepSize is the largest buffer that is held on to once it is empty.
	keepSize = 64 << 10
)

// buffers holds the read buffers of all readers that are not reading.
var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

var bom = []byte("\xef\xbb\xbf")

// Event is one event of a stream.
type Event struct {
	// Name is the event's type; empty when it has none.
	Name string
	// Data is valid until the next call of Next or Close.
	Data []byte
}

// Reader reads the events of one stream. It takes its buffer with the first
// Next and gives it back at the end of the stream or with Close.
type Reader struct {
	src    io.Reader
	pooled *[bufferSize]byte // what buf is made of, unless it had to grow
	buf    []byte
	line   int // start in buf of the line being read
	seen   int // up to here there is no line end
	end    int // end of what was read
	err    error
	skipLF bool // the last line ended in a CR: an LF now belongs to it
	begun  bool // the byte order mark was looked for

	// The event being read. Its data is buf[from:to] as long as it is a single
	// line, and joined after that.
	name    string
	hasData bool
	from    int
	to      int
	joined  []byte
	lines   int

	names [8]string // the latest different names, to make each only once
	next  int
}

// NewReader returns a reader of the stream src.
func NewReader(src io.Reader) *Reader { return &Reader{src: src} }

// Next returns the next event that has data. At the end of the stream it
// returns io.EOF; any other error is one of reading, or ErrTooLong, and cuts
// off the event that was being read.
func (r *Reader) Next() (Event, error) {
	r.reset()
	for {
		line, err := r.readLine()
		if err != nil {
			return r.last(err)
		}
		if len(line) > 0 {
			if err := r.field(line); err != nil {
				return r.last(err)
			}
			continue
		}
		if r.hasData {
			return r.event(), nil
		}
		r.name = ""
	}
}

// last ends the stream: what the end cut off is an event still, what an error
// cut off is none.
func (r *Reader) last(err error) (Event, error) {
	r.err = err
	if err == io.EOF && r.hasData {
		return r.event(), nil
	}
	r.Close()
	return Event{}, err
}

// Close gives the buffers back. Next must not be called any more.
func (r *Reader) Close() {
	if r.pooled != nil {
		buffers.Put(r.pooled)
		r.pooled = nil
	}
	if r.err == nil {
		r.err = io.ErrClosedPipe
	}
	r.buf, r.joined, r.line, r.seen, r.end = nil, nil, 0, 0, 0
}

func (r *Reader) reset() {
	r.name, r.hasData, r.lines = "", false, 0
	if cap(r.joined) > keepSize {
		r.joined = nil
	}
}

func (r *Reader) event() Event {
	if r.lines > 1 {
		return Event{Name: r.name, Data: r.joined}
	}
	return Event{Name: r.name, Data: r.buf[r.from:r.to]}
}

// field takes in a line that is not blank.
func (r *Reader) field(line []byte) error {
	start := 0
	for start < len(line) && (line[start] == ' ' || line[start] == '\t') {
		start++
	}
	colon := bytes.IndexByte(line[start:], ':')
	name, value := line[start:], line[len(line):]
	if colon >= 0 {
		name, value = name[:colon], name[colon+1:]
		if len(value) > 0 && value[0] == ' ' {
			value = value[1:]
		}
	}
	switch string(name) {
	case "data":
		return r.data(value)
	case "event":
		r.name = r.intern(value)
	}
	return nil
}

// data adds a line of data. value is a part of the line read last.
func (r *Reader) data(value []byte) error {
	r.lines++
	r.hasData = true
	if r.lines == 1 {
		r.to = r.lineEnd()
		r.from = r.to - len(value)
		return nil
	}
	if r.lines == 2 {
		r.joined = append(r.joined[:0], r.buf[r.from:r.to]...)
	}
	if len(r.joined)+len(value) >= MaxEvent {
		return ErrTooLong
	}
	r.joined = append(append(r.joined, '\n'), value...)
	return nil
}

func (r *Reader) intern(b []byte) string {
	for _, s := range r.names {
		if string(b) == s {
			return s
		}
	}
	s := string(b)
	r.names[r.next] = s
	r.next = (r.next + 1) % len(r.names)
	return s
}
