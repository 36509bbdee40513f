package sqlitefile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
)

// Row is a row of a table, or an entry of an index.
type Row struct {
	Page uint32
	// Key is the number of a table's row. Index says that it has none: it is
	// an entry of an index, or the row of a table without such numbers.
	Key   int64
	Index bool
	// Fields are nil, int64, float64, string or []byte.
	Fields []any
}

// DamagedError says that a row could not be read.
type DamagedError struct {
	Page uint32
	Err  error
}

// Error says on which page.
func (e *DamagedError) Error() string { return fmt.Sprintf("page %d: %v", e.Page, e.Err) }

// Unwrap returns why the row could not be read.
func (e *DamagedError) Unwrap() error { return e.Err }

// The kinds of pages that hold rows.
const (
	tableLeaf  = 0x0d
	indexLeaf  = 0x0a
	indexInner = 0x02
)

// Rows yields what can be read, in the order of the pages. A *DamagedError
// tells of a row that cannot be, and more rows may follow; any other error is
// the disk's and the last.
func (f *File) Rows() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for n := uint32(1); n <= f.pages && n != 0; n++ {
			if f.free[n] || f.isMap(n) {
				continue
			}
			data, err := f.page(n)
			if err != nil {
				yield(Row{}, err)
				return
			}
			if !f.rowsOf(n, data, yield) {
				return
			}
		}
	}
}

// rowsOf yields the rows of a page, and reports whether more are wanted.
func (f *File) rowsOf(n uint32, data []byte, yield func(Row, error) bool) bool {
	at := 0
	if n == 1 && !f.HeadDamaged {
		at = headSize
	}
	kind, cells := data[at], int(binary.BigEndian.Uint16(data[at+3:]))
	pointers := at + 8
	switch kind {
	case tableLeaf, indexLeaf:
	case indexInner:
		pointers += 4
	default:
		return true
	}
	if pointers+2*cells > f.usable {
		return true // no page of rows after all
	}
	for i := range cells {
		row, err := f.row(kind, data, int(binary.BigEndian.Uint16(data[pointers+2*i:])))
		if err != nil {
			err = &DamagedError{Page: n, Err: err}
		}
		row.Page = n
		if !yield(row, err) {
			return false
		}
	}
	return true
}

// errCut says that something ends too early.
var errCut = errors.New("the row is cut off")

// row reads the row that begins at a place of a page.
func (f *File) row(kind byte, data []byte, at int) (row Row, err error) {
	if at > f.usable {
		return row, errCut
	}
	rest := data[at:f.usable]
	if kind == indexInner {
		if len(rest) < 4 {
			return row, errCut
		}
		rest = rest[4:]
	}
	size, rest, ok := varint(rest)
	if ok && kind == tableLeaf {
		row.Key, rest, ok = varint(rest)
	}
	if !ok || size < 1 || size > int64(f.pages)*int64(f.pageSize) {
		return row, errCut
	}
	row.Index = kind != tableLeaf
	payload, err := f.payload(rest, int(size), row.Index)
	if err != nil {
		return row, err
	}
	row.Fields, err = fields(payload)
	return row, err
}

// payload gathers the bytes of a row of which a page holds the first.
func (f *File) payload(here []byte, size int, index bool) ([]byte, error) {
	most := f.usable - 35
	least := (f.usable-12)*32/255 - 23
	if index {
		most = (f.usable-12)*64/255 - 23
	}
	local := size
	if size > most {
		if local = least + (size-least)%(f.usable-4); local > most {
			local = least
		}
	}
	if local == size {
		if len(here) < size {
			return nil, errCut
		}
		return here[:size], nil
	}
	if len(here) < local+4 {
		return nil, errCut
	}
	payload := append(make([]byte, 0, size), here[:local]...)
	next := binary.BigEndian.Uint32(here[local:])
	for len(payload) < size {
		if next == 0 || next > f.pages || f.free[next] {
			return nil, errCut
		}
		data, err := f.page(next)
		if err != nil {
			return nil, err
		}
		payload = append(payload, data[4:4+min(f.usable-4, size-len(payload))]...)
		next = binary.BigEndian.Uint32(data)
	}
	if next != 0 {
		return nil, errors.New("the row does not end where it should")
	}
	return payload, nil
}
