package builtin

import (
	"bufio"
	"bytes"
	"context"
	_ "embed" // for the text of the tool
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rondo-engine/rondo/internal/picture"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/tool"
)

//go:embed read.md
var readText string

type readArgs struct {
	Path   string `json:"path"`
	Offset int    `json:"offset,omitzero" jsonschema:"first line, from 1"`
	Limit  int    `json:"limit,omitzero" jsonschema:"number of lines"`
}

// The limits of what is read at once. readBytes stays below the limit of a
// result, so that what is read is not cut a second time.
const (
	readLines     = 2000
	readLineBytes = 2000
	readBytes     = 46_000
	imageBytes    = picture.MaxSource // the agent makes it as small as the model wants it
	pdfBytes      = 20 << 20
	hashBytes     = 8 << 20
)

func readFile(o Options) *tool.Tool {
	return tool.Must(tool.New(tool.Tool{
		Name: "read_file", Description: strings.TrimSpace(readText), Toolset: filesToolset, ReadOnly: true,
		Access: o.Workspace.accessTo(readsFile),
	}, func(_ context.Context, _ tool.Call, a readArgs) (tool.Result, error) {
		p, err := o.Workspace.at(a.Path, false)
		if err != nil {
			return tool.Result{}, err
		}
		defer p.Close()
		f, info, err := o.open(p, a.Path)
		if err != nil {
			return tool.Result{}, err
		}
		defer f.Close()
		return o.read(p, f, info, a)
	}))
}

// open opens the regular file at p.
func (o Options) open(p place, path string) (*os.File, fs.FileInfo, error) {
	info, err := p.root.Stat(p.rel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, o.missing(p, path)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", path, err)
	}
	if info.IsDir() {
		return nil, nil, fmt.Errorf("%s is a directory: use list_dir or glob", path)
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file but %s", path, describeMode(info.Mode()))
	}
	f, err := p.root.Open(p.rel)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", path, err)
	}
	return f, info, nil
}

func describeMode(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// read hands over the file as what it is.
func (o Options) read(p place, f *os.File, info fs.FileInfo, a readArgs) (tool.Result, error) {
	r := bufio.NewReaderSize(f, 64<<10)
	head, err := r.Peek(min(8000, int(min(info.Size(), 8000))))
	if err != nil && !errors.Is(err, io.EOF) {
		return tool.Result{}, fmt.Errorf("read %s: %w", a.Path, err)
	}
	if mime := sniffMedia(head); mime != "" {
		return o.readMedia(r, info, a.Path, mime)
	}
	if what := sniffBinary(head); what != "" {
		return tool.Result{}, fmt.Errorf("%s is %s of %d bytes, not text: look at it with a program in the shell", a.Path, what, info.Size())
	}
	o.track(p, f, info)
	lines := lineReader{r: r, first: max(a.Offset, 1), limit: readLines}
	if a.Limit > 0 {
		lines.limit = a.Limit
	}
	if err := lines.run(); err != nil {
		return tool.Result{}, fmt.Errorf("read %s: %w", a.Path, err)
	}
	text, cut := lines.text(a.Path)
	return tool.Result{Text: text, Truncated: cut, Source: p.abs}, nil
}

// track notes that the session has seen the file. Where the file is not too
// large its whole content counts, not the part that was asked for.
func (o Options) track(p place, f *os.File, info fs.FileInfo) {
	var hash uint64
	if info.Size() <= hashBytes {
		hash = o.Tracker.hash(io.NewSectionReader(f, 0, info.Size()))
	}
	o.Tracker.saw(p.abs, info, hash)
}

func (o Options) readMedia(r io.Reader, info fs.FileInfo, path, mime string) (tool.Result, error) {
	limit, kind := int64(imageBytes), message.KindImage
	if mime == "application/pdf" {
		limit, kind = pdfBytes, message.KindFile
	}
	if info.Size() > limit {
		return tool.Result{}, fmt.Errorf("%s (%s) has %d bytes, more than the %d that can be handed to the model: make it smaller first",
			path, mime, info.Size(), limit)
	}
	data, err := io.ReadAll(io.LimitReader(r, limit))
	if err != nil {
		return tool.Result{}, fmt.Errorf("read %s: %w", path, err)
	}
	return tool.Result{
		Text: fmt.Sprintf("%s: %s, %d bytes", path, mime, len(data)),
		Media: []message.Part{{Kind: kind, Media: &message.Media{
			MIME: mime, Data: base64.StdEncoding.EncodeToString(data), Name: filepath.Base(path),
		}}},
	}, nil
}

// lineReader numbers the lines of a file from first on, as many as limit and
// readBytes allow, and counts all others.
type lineReader struct {
	r            *bufio.Reader
	first, limit int
	out          bytes.Buffer
	number       int // of the line that is being read, and in the end of all
	shown        int
	full         bool
}

func (l *lineReader) run() error {
	for {
		line, long, err := l.next()
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(line) > 0 {
			l.number++
			l.take(line, long)
		}
		if err != nil {
			return nil
		}
	}
}

// next returns the next line with its end, cut to readLineBytes, and how many
// bytes were cut off.
func (l *lineReader) next() (line []byte, cut int, err error) {
	for {
		part, err := l.r.ReadSlice('\n')
		if room := readLineBytes - len(line); len(part) > room {
			line = append(line, part[:room]...)
			cut += len(part) - room
		} else if line == nil && err == nil {
			return part, 0, nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, cut, err
		}
	}
}

func (l *lineReader) take(line []byte, cut int) {
	if l.number < l.first || l.full || l.shown == l.limit {
		return
	}
	if l.number == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	line = bytes.TrimRight(line, "\r\n")
	if l.out.Len()+len(line)+16 > readBytes {
		l.full = true
		return
	}
	l.out.WriteString(strconv.Itoa(l.number))
	l.out.WriteByte('\t')
	if cut > 1 {
		fmt.Fprintf(&l.out, "%s … [%d more bytes in this line]\n", wholeRunes(line), cut)
	} else {
		l.out.Write(line)
		l.out.WriteByte('\n')
	}
	l.shown++
}

// wholeRunes takes a character that is cut off at the end of line away.
func wholeRunes(line []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(line); n++ {
		if tail := line[len(line)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return line[:len(line)-n]
			}
			break
		}
	}
	return line
}

// text returns the numbered lines with a note on what was left out.
func (l *lineReader) text(path string) (string, bool) {
	switch {
	case l.number == 0:
		return path + " is empty.", false
	case l.first > l.number:
		return fmt.Sprintf("%s has only %d lines.", path, l.number), false
	}
	last := l.first + l.shown - 1
	if last < l.number {
		fmt.Fprintf(&l.out, "[lines %d to %d of %d; go on with offset %d]\n", l.first, last, l.number, last+1)
	}
	return l.out.String(), l.first > 1 || last < l.number
}
