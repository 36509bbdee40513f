package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rondo-engine/rondo/message"
)

// What stands behind the name of a snapshot's file while it is replaced.
const (
	temp = ".tmp"
	old  = ".old"
)

// page is what the head of a file is padded to, so that it can grow a little
// without moving the messages behind it.
const page = 1024

// piece is about how much of the messages is encoded before it is written.
const piece = 16 << 10

// writer writes the file of a session.
//
// The file that a new one replaces is kept as the next temporary file. It holds
// all messages but those of the last two snapshots, so that writing costs what
// has come since, not what there is: only the head and the end are written anew.
type writer struct {
	file string
	head []byte
	buf  []byte // encoded messages on their way
	now  copied // what stands under the file's name
	last copied // what stands under the temporary name
}

// copied is a file that this writer wrote.
type copied struct {
	info       os.FileInfo // nil for none
	head, body int         // how many bytes the head and the messages take
	msgs       []*message.Message
}

// begins reports whether what the file holds is the beginning of msgs.
func (c *copied) begins(msgs []*message.Message) bool {
	n := len(c.msgs)
	return n <= len(msgs) && (n == 0 || c.msgs[n-1] == msgs[n-1])
}

// Write implements Writer.
func (w *writer) Write(ctx context.Context, s *Snapshot) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.Version, s.Session.Messages = Version, len(s.Messages)
	if n := len(s.Messages); n > 0 {
		s.LastMessage = s.Messages[n-1].ID
	}
	if w.head, err = appendHead(w.head[:0], s); err == nil {
		w.pad()
		err = w.replace(s.Messages)
	}
	if err != nil {
		w.last = copied{}
		return fmt.Errorf("write snapshot of session %s: %w", s.Session.ID, err)
	}
	return nil
}

// Close implements Writer.
func (w *writer) Close() error {
	if w.last.info == nil {
		return nil
	}
	w.last = copied{}
	return os.Remove(w.file + temp)
}

// pad brings head to the length that it had before, or to more pages.
func (w *writer) pad() {
	room := (len(w.head) + page) / page * page
	if w.last.head > len(w.head) {
		room = w.last.head
	}
	w.head = append(w.head, bytes.Repeat([]byte{' '}, room-len(w.head))...)
}

// replace puts a new file in place of the old one and makes that durable. The
// old one becomes the next temporary file, if the system lets it.
func (w *writer) replace(msgs []*message.Message) error {
	next, err := w.writeTemp(msgs)
	if err != nil {
		return err
	}
	kept := w.now.info != nil && (os.Link(w.file, w.file+old) == nil || relink(w.file, w.file+old))
	if err := os.Rename(w.file+temp, w.file); err != nil {
		return err
	}
	w.last = copied{}
	if kept && os.Rename(w.file+old, w.file+temp) == nil {
		w.last = w.now
	}
	w.now = next
	return syncDir(filepath.Dir(w.file))
}

// relink is os.Link where a process that was killed left the new name behind.
func relink(from, to string) bool { return os.Remove(to) == nil && os.Link(from, to) == nil }

// writeTemp brings the temporary file to hold what is to be written and syncs
// it. What it holds already stays.
func (w *writer) writeTemp(msgs []*message.Message) (copied, error) {
	f, n, body, err := w.openTemp(msgs)
	if err != nil {
		return copied{}, err
	}
	c := copied{head: len(w.head), msgs: msgs}
	_, err = f.WriteAt(w.head, 0)
	if err == nil {
		c.body, err = w.writeBody(f, msgs, n, body)
	}
	if err == nil {
		err = f.Sync()
	}
	info, statErr := f.Stat()
	if err = errors.Join(err, statErr, f.Close()); err != nil {
		return copied{}, errors.Join(err, os.Remove(f.Name()))
	}
	c.info = info
	return c, nil
}

// writeBody writes the messages from the nth on, of which those before take body
// bytes, and what ends the file. It returns how many bytes all of them take.
func (w *writer) writeBody(f *os.File, msgs []*message.Message, n, body int) (int, error) {
	w.buf = w.buf[:0]
	for i, m := range msgs[n:] {
		if n+i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.buf = message.AppendJSON(append(w.buf, "\n  "...), m)
		if len(w.buf) < piece {
			continue
		}
		if _, err := f.WriteAt(w.buf, int64(len(w.head)+body)); err != nil {
			return 0, err
		}
		body += len(w.buf)
		w.buf = w.buf[:0]
	}
	all := body + len(w.buf)
	_, err := f.WriteAt(append(w.buf, end...), int64(len(w.head)+body))
	if cap(w.buf) > 4*piece { // one message was large
		w.buf = nil
	}
	return all, err
}

// openTemp opens the temporary file, which holds the first n of msgs, in body
// bytes.
func (w *writer) openTemp(msgs []*message.Message) (f *os.File, n, body int, err error) {
	if f, err = w.openLast(msgs); f != nil || err != nil {
		return f, len(w.last.msgs), w.last.body, err
	}
	const begin = os.O_CREATE | os.O_TRUNC | os.O_WRONLY
	f, err = os.OpenFile(w.file+temp, begin, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(w.file), 0o700); err != nil {
			return nil, 0, 0, err
		}
		f, err = os.OpenFile(w.file+temp, begin, 0o600)
	}
	return f, 0, 0, err
}

// openLast opens the temporary file if it is the one that this writer left, has
// the right place for the head and holds the beginning of msgs. Otherwise it
// returns nil.
func (w *writer) openLast(msgs []*message.Message) (*os.File, error) {
	l := &w.last
	if l.info == nil || l.head != len(w.head) || !l.begins(msgs) {
		return nil, nil
	}
	f, err := os.OpenFile(w.file+temp, os.O_WRONLY, 0)
	if err != nil {
		return nil, nil // another is made
	}
	info, err := f.Stat()
	if err == nil && untouched(info, l.info) && info.Size() == int64(l.head+l.body+len(end)) {
		return f, nil
	}
	return nil, f.Close()
}

// untouched reports whether a file is the one that it was and as it was. A new
// file may get the number of one that was removed.
func untouched(now, then os.FileInfo) bool {
	return os.SameFile(now, then) && now.ModTime().Equal(then.ModTime())
}
