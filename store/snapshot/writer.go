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

// spare is how much memory a writer may keep that it does not need just now.
const spare = 64 << 10

// writer writes the file of a session.
//
// The file that a new one replaces is kept as the next temporary file. It holds
// all messages but those of the last two snapshots, so that writing costs what
// has come since, not what there is: only the head and the end are written anew.
// For the same reason the writer remembers no more of the messages in their
// encoded form, the body, than one of the two files lacks.
type writer struct {
	file string
	head []byte
	body []byte             // the encoded messages, from byte base on
	base int                // how many bytes of the body both files hold
	done []*message.Message // the messages of the body
	gen  int                // counts the bodies that were begun
	now  copied             // what stands under the file's name
	last copied             // what stands under the temporary name
}

// copied is a file that this writer wrote.
type copied struct {
	info       os.FileInfo // nil for none
	gen        int
	head, body int // how many bytes of each it holds, of the body from its beginning
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
		w.encode(s.Messages)
		err = w.replace()
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

// encode brings the body to hold msgs.
func (w *writer) encode(msgs []*message.Message) {
	n := len(w.done)
	if n > len(msgs) || n > 0 && w.done[n-1] != msgs[n-1] {
		w.begin()
	}
	for i, m := range msgs[len(w.done):] {
		if len(w.done)+i > 0 {
			w.body = append(w.body, ',')
		}
		w.body = message.AppendJSON(append(w.body, "\n  "...), m)
	}
	w.done = msgs
}

// begin begins a new body. What files hold of the last one is of no use for it.
func (w *writer) begin() {
	w.body, w.base, w.done = w.body[:0], 0, nil
	w.gen++
}

// forget drops the part of the body that both files hold.
func (w *writer) forget() {
	if w.last.info == nil || w.last.gen != w.gen {
		return
	}
	rest := w.body[w.last.body-w.base:]
	if cap(w.body) > spare && cap(w.body)/4 > len(rest) {
		w.body = nil
	}
	w.body = append(w.body[:0], rest...)
	w.base = w.last.body
}

// replace puts a new file in place of the old one and makes that durable. The
// old one becomes the next temporary file, if the system lets it.
func (w *writer) replace() error {
	next, err := w.writeTemp()
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
	w.forget()
	return syncDir(filepath.Dir(w.file))
}

// relink is os.Link where a process that was killed left the new name behind.
func relink(from, to string) bool { return os.Remove(to) == nil && os.Link(from, to) == nil }

// writeTemp brings the temporary file to hold what is to be written and syncs
// it. What it holds already stays.
func (w *writer) writeTemp() (copied, error) {
	f, have, err := w.openTemp()
	if err != nil {
		return copied{}, err
	}
	if have < w.base { // the file is begun, and the writer does not remember all
		msgs := w.done
		w.begin()
		w.encode(msgs)
	}
	_, err = f.WriteAt(w.head, 0)
	if err == nil {
		_, err = f.WriteAt(append(w.body[have-w.base:], end...), int64(len(w.head)+have))
	}
	if err == nil {
		err = f.Sync()
	}
	info, statErr := f.Stat()
	if err = errors.Join(err, statErr, f.Close()); err != nil {
		return copied{}, errors.Join(err, os.Remove(f.Name()))
	}
	return copied{info, w.gen, len(w.head), w.base + len(w.body)}, nil
}

// openTemp opens the temporary file. have is how much of the body it holds.
func (w *writer) openTemp() (f *os.File, have int, err error) {
	if l := w.last; l.info != nil && l.gen == w.gen && l.head == len(w.head) {
		f, err := os.OpenFile(w.file+temp, os.O_WRONLY, 0)
		if err == nil {
			info, err := f.Stat()
			if err == nil && os.SameFile(info, l.info) && info.Size() == int64(l.head+l.body+len(end)) {
				return f, l.body, nil
			}
			if err := f.Close(); err != nil {
				return nil, 0, err
			}
		}
	}
	f, err = os.OpenFile(w.file+temp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(w.file), 0o700); err != nil {
			return nil, 0, err
		}
		f, err = os.OpenFile(w.file+temp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	}
	return f, 0, err
}
