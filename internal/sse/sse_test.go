package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// chunks reads data in pieces of n bytes.
func chunks(data []byte, n int) io.Reader {
	var parts []io.Reader
	for piece := range slices.Chunk(data, n) {
		parts = append(parts, bytes.NewReader(piece))
	}
	return io.MultiReader(parts...)
}

// read lists the events of src, one "name|data" each, and the last error.
func read(src io.Reader) ([]string, error) {
	r := NewReader(src)
	defer r.Close()
	var got []string
	for {
		e, err := r.Next()
		if err != nil {
			return got, err
		}
		got = append(got, fmt.Sprintf("%s|%s", e.Name, e.Data))
	}
}

func TestEventsOverAnyCut(t *testing.T) {
	long := strings.Repeat("x", 3*bufferSize)
	for _, c := range []struct {
		name, stream string
		want         []string
	}{
		{"nothing", "", nil},
		{"one event", "data: a\n\n", []string{"|a"}},
		{"CRLF", "event: e\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []string{"e|a", "|b"}},
		{"CR", "event: e\rdata: a\r\rdata: b\r\r", []string{"e|a", "|b"}},
		{"mixed line ends", "data: a\r\n\rdata: b\n\r\ndata: c\r\r\n", []string{"|a", "|b", "|c"}},
		{"byte order mark", "\ufeffdata: a\n\n\ufeffdata: b\n\n", []string{"|a"}},
		{"comments", ": hi\n\n:\ndata: a\n: more\n\n", []string{"|a"}},
		{"several lines", "data: a\ndata:b\ndata\ndata:  c\n\n", []string{"|a\nb\n\n c"}},
		{"no space", "data:a\nevent:e\n\n", []string{"e|a"}},
		{"empty data is an event", "data:\n\ndata\n\n", []string{"|", "|"}},
		{"a name without data is none", "event: ping\n\ndata: a\n\n", []string{"|a"}},
		{"id and retry", "id: 7\nretry: 10\ndata: a\n\n", []string{"|a"}},
		{"unknown fields", "datas: x\nDATA: y\ndata: a\n\n", []string{"|a"}},
		{"last name counts", "event: e\nevent: f\ndata: a\n\n", []string{"f|a"}},
		{"end without a blank line", "data: a\n\ndata: b\n", []string{"|a", "|b"}},
		{"end within a line", "data: a\n\nevent: e\ndata: b", []string{"|a", "e|b"}},
		{"end within several lines", "data: a\ndata: b", []string{"|a\nb"}},
		{"white space lines", "   \n\t\n\n data: a\n\n", []string{"|a"}},
		{"lines larger than the buffer", "data: " + long + "\n\ndata: b\n\n", []string{"|" + long, "|b"}},
		{"several large lines", "data: " + long + "\ndata: " + long + "\n\n", []string{"|" + long + "\n" + long}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, n := range []int{1, 2, 3, 7, 4096, 1 << 20} {
				got, err := read(chunks([]byte(c.stream), n))
				if err != io.EOF || !slices.Equal(got, c.want) {
					t.Errorf("in pieces of %d: %.100q, %v; want %.100q", n, got, err, c.want)
				}
			}
		})
	}
}

func TestReadErrorIsNoEndOfStream(t *testing.T) {
	cut := errors.New("connection reset")
	got, err := read(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(cut)))
	if !errors.Is(err, cut) || !slices.Equal(got, []string{"|a"}) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestNextAfterTheEndSaysSoAgain(t *testing.T) {
	r := NewReader(strings.NewReader("data: a"))
	if e, err := r.Next(); err != nil || string(e.Data) != "a" {
		t.Fatal(e, err)
	}
	for range 2 {
		if _, err := r.Next(); err != io.EOF {
			t.Fatal(err)
		}
	}
}

func TestHugeLines(t *testing.T) {
	fill := func(n int) io.Reader { return io.LimitReader(filler{}, int64(n)) }
	t.Run("of many megabytes", func(t *testing.T) {
		r := NewReader(io.MultiReader(strings.NewReader("data: "), fill(20<<20), strings.NewReader("\n\ndata: b\n\n")))
		e, err := r.Next()
		if err != nil || len(e.Data) != 20<<20 {
			t.Fatal(len(e.Data), err)
		}
		if e, err = r.Next(); err != nil || string(e.Data) != "b" {
			t.Fatal(e, err)
		}
		if _, err = r.Next(); err != io.EOF {
			t.Fatal(err)
		}
	})
	t.Run("over the limit", func(t *testing.T) {
		_, err := read(io.MultiReader(strings.NewReader("data: "), fill(MaxEvent+1)))
		if !errors.Is(err, ErrTooLong) {
			t.Fatal(err)
		}
	})
	t.Run("joined over the limit", func(t *testing.T) {
		part := func() io.Reader {
			return io.MultiReader(strings.NewReader("data: "), fill(24<<20), strings.NewReader("\n"))
		}
		_, err := read(io.MultiReader(part(), part(), part()))
		if !errors.Is(err, ErrTooLong) {
			t.Fatal(err)
		}
	})
}

var xs = strings.Repeat("x", bufferSize)

type filler struct{}

func (filler) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		n += copy(p[n:], xs)
	}
	return n, nil
}

func TestLargeBufferIsLetGo(t *testing.T) {
	r := NewReader(io.MultiReader(
		strings.NewReader("data: "+strings.Repeat("x", 1<<20)+"\n\n"), strings.NewReader("data: b\n\n")))
	for range 2 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.buf) != bufferSize {
		t.Errorf("the buffer still has %d bytes", len(r.buf))
	}
	r.Close()
	if r.buf != nil || r.pooled != nil {
		t.Error("a closed reader holds a buffer")
	}
}

func FuzzWholeIsAnyCut(f *testing.F) {
	f.Add([]byte("\ufeffevent: e\r\ndata: a\rdata:b\n\n: c\n\ndata: c"), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, n uint8) {
		want, wantErr := read(bytes.NewReader(data))
		got, err := read(chunks(data, int(n)+1))
		if err != wantErr || !slices.Equal(got, want) {
			t.Errorf("whole %q, %v; in pieces %q, %v", want, wantErr, got, err)
		}
	})
}

func BenchmarkNext(b *testing.B) {
	event := []byte("event: delta\ndata: " + strings.Repeat("x", 250) + "\n\n")
	stream := bytes.Repeat(event, 1000)
	src := bytes.NewReader(stream)
	b.SetBytes(int64(len(event)))
	b.ReportAllocs()
	r := NewReader(src)
	for b.Loop() {
		if _, err := r.Next(); err != nil {
			src.Reset(stream)
			r = NewReader(src)
		}
	}
}
