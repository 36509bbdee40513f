// Package sqlitefile reads the rows of an SQLite file without SQLite, for files
// that are too damaged for it.
//
// It takes each page for itself and follows no tree: a page that cannot be read
// hides no other. Which table a row belongs to must be told from its fields.
// The format is described at sqlite.org/fileformat2.html.
package sqlitefile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// File is an SQLite file with its write-ahead log.
type File struct {
	db, log io.ReaderAt
	// logged is where in the log the newest content of a page is.
	logged map[uint32]int64
	pages  uint32

	pageSize, usable int
	moved            bool // pages have entries in pointer maps
	free             map[uint32]bool

	// UserVersion is what the file says of its schema; 0 if its head cannot
	// be read.
	UserVersion int
	// HeadDamaged says that the head of the file cannot be read, FreeDamaged
	// that the list of its free pages cannot: rows that were deleted may be
	// read again then. Skipped counts records of the log that cannot be read,
	// but for those of its end, which no commit followed.
	HeadDamaged, FreeDamaged bool
	Skipped                  int
}

// Sizes of a file whose head cannot be read, and of the head.
const (
	defaultPage = 4096
	headSize    = 100
)

const magic = "SQLite format 3\x00"

// Open reads the head of a file and all of its log. size and logSize are in
// bytes.
func Open(db io.ReaderAt, size int64, log io.ReaderAt, logSize int64) (*File, error) {
	f := &File{db: db, log: log, pageSize: defaultPage, logged: map[uint32]int64{}, free: map[uint32]bool{}}
	head := make([]byte, headSize)
	if err := readAt(db, head, 0); err != nil {
		return nil, err
	}
	known := f.takePageSize(head)
	if err := f.readLog(logSize, known); err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	if f.pages == 0 { // no commit in the log says it
		f.pages = uint32((size + int64(f.pageSize) - 1) / int64(f.pageSize))
	}
	first, err := f.page(1)
	if err != nil {
		return nil, err
	}
	if f.HeadDamaged = !f.takePageSize(first); !f.HeadDamaged {
		f.UserVersion = int(binary.BigEndian.Uint32(first[60:]))
		f.moved = binary.BigEndian.Uint32(first[52:]) != 0
	}
	return f, f.readFree(first)
}

// takePageSize takes the size of the pages from the head, if that is one.
func (f *File) takePageSize(head []byte) bool {
	size := int(binary.BigEndian.Uint16(head[16:]))
	if size == 1 {
		size = 1 << 16
	}
	if string(head[:len(magic)]) != magic || size < 512 || size&(size-1) != 0 {
		f.usable = f.pageSize
		return false
	}
	f.pageSize, f.usable = size, size-int(head[20])
	return true
}

// readFree finds out which pages are free: what they hold was deleted.
func (f *File) readFree(first []byte) error {
	if f.HeadDamaged {
		f.FreeDamaged = true
		return nil
	}
	left := binary.BigEndian.Uint32(first[36:])
	for next := binary.BigEndian.Uint32(first[32:]); next != 0; {
		if next > f.pages || f.free[next] || left == 0 {
			f.FreeDamaged = true
			return nil
		}
		f.free[next] = true
		left--
		trunk, err := f.page(next)
		if err != nil {
			return err
		}
		n := binary.BigEndian.Uint32(trunk[4:])
		if n > left || int64(n) > int64(f.usable/4-2) {
			f.FreeDamaged = true
			return nil
		}
		for i := range n {
			f.free[binary.BigEndian.Uint32(trunk[8+4*i:])] = true
		}
		left -= n
		next = binary.BigEndian.Uint32(trunk)
	}
	return nil
}

// page reads page n, counted from 1, as the last commit left it. What lies
// behind the end of the file is zero.
func (f *File) page(n uint32) ([]byte, error) {
	data := make([]byte, f.pageSize)
	if at, ok := f.logged[n]; ok {
		return data, readAt(f.log, data, at)
	}
	return data, readAt(f.db, data, int64(n-1)*int64(f.pageSize))
}

// isMap reports whether page n says where other pages were moved.
func (f *File) isMap(n uint32) bool {
	every := uint32(f.usable/5 + 1)
	return f.moved && n >= 2 && (n-2)%every == 0
}

// readAt fills data from at on, with zeros behind the end.
func readAt(r io.ReaderAt, data []byte, at int64) error {
	n, err := r.ReadAt(data, at)
	if errors.Is(err, io.EOF) {
		clear(data[n:])
		return nil
	}
	return err
}
