package sqlitefile

import "encoding/binary"

// Sizes of the log's head and of that of each of its records, and the number
// that a log begins with; its last bit says that sums are of big-endian words.
const (
	logHead    = 32
	recordHead = 24
	logMagic   = 0x377f0682
)

// sum is the checksum of a log. Each record's goes on from that of the one
// before.
type sum [2]uint32

func (s sum) of(data []byte, order binary.ByteOrder) sum {
	for ; len(data) >= 8; data = data[8:] {
		s[0] += order.Uint32(data) + s[1]
		s[1] += order.Uint32(data[4:]) + s[0]
	}
	return s
}

func sumAt(data []byte) sum {
	return sum{binary.BigEndian.Uint32(data), binary.BigEndian.Uint32(data[4:])}
}

// readLog finds the newest committed content of each page in the log. SQLite
// ends at the first record that is damaged; since a record tells the sum that
// the next one goes on from, those behind it can be checked as well.
func (f *File) readLog(size int64, pageKnown bool) error {
	head := make([]byte, logHead)
	if err := readAt(f.log, head, 0); err != nil || size < logHead+recordHead {
		return err
	}
	var order binary.ByteOrder = binary.LittleEndian
	number := binary.BigEndian.Uint32(head)
	if number&1 == 1 {
		order = binary.BigEndian
	}
	whole := number&^1 == logMagic && sum{}.of(head[:24], order) == sumAt(head[24:])
	if p := int(binary.BigEndian.Uint32(head[8:])); whole && !pageKnown && p >= 512 && p <= 1<<16 && p&(p-1) == 0 {
		f.pageSize, f.usable = p, p
	}
	salt, last := string(head[16:24]), sumAt(head[24:])
	if !whole {
		f.Skipped++
		order = binary.LittleEndian
	}
	record := make([]byte, recordHead+f.pageSize)
	pending, skipped := map[uint32]int64{}, 0
	for at := int64(logHead); at+int64(len(record)) <= size; at += int64(len(record)) {
		if err := readAt(f.log, record, at); err != nil {
			return err
		}
		if !whole && at == logHead { // the first record vouches for the next
			salt, last = string(record[8:16]), sumAt(record[16:])
			continue
		}
		got := last.of(record[:8], order).of(record[recordHead:], order)
		last = sumAt(record[16:])
		if string(record[8:16]) != salt {
			continue // of an older log
		}
		if got != last {
			skipped++
			continue
		}
		pending[binary.BigEndian.Uint32(record)] = at + recordHead
		if pages := binary.BigEndian.Uint32(record[4:]); pages != 0 { // a commit
			f.pages = pages
			for n, at := range pending {
				f.logged[n] = at
			}
			clear(pending)
			f.Skipped, skipped = f.Skipped+skipped, 0
		}
	}
	return nil
}
