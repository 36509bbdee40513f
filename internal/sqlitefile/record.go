package sqlitefile

import (
	"errors"
	"math"
)

// varint reads a number of one to nine bytes.
func varint(b []byte) (v int64, rest []byte, ok bool) {
	for i := range min(len(b), 8) {
		v = v<<7 | int64(b[i]&0x7f)
		if b[i] < 0x80 {
			return v, b[i+1:], true
		}
	}
	if len(b) < 9 {
		return 0, nil, false
	}
	return v<<8 | int64(b[8]), b[9:], true
}

// maxFields is more than any row has that this package is for.
const maxFields = 100

var errRecord = errors.New("the row's fields do not fit together")

// fields decodes a record.
func fields(record []byte) ([]any, error) {
	size, types, ok := varint(record)
	if !ok || size < 1 || size > int64(len(record)) {
		return nil, errRecord
	}
	types = types[:len(types)-(len(record)-int(size))]
	body := record[size:]
	var all []any
	for len(types) > 0 {
		var t int64
		if t, types, ok = varint(types); !ok || len(all) == maxFields {
			return nil, errRecord
		}
		n := width(t)
		if n < 0 || n > int64(len(body)) {
			return nil, errRecord
		}
		all = append(all, field(t, body[:n]))
		body = body[n:]
	}
	if len(body) > 0 {
		return nil, errRecord
	}
	return all, nil
}

// width is the length in bytes of a field of type t; -1 if there is none.
func width(t int64) int64 {
	switch {
	case t >= 12:
		return (t - 12) / 2
	case t < 0, t == 10, t == 11:
		return -1
	case t == 5:
		return 6
	case t == 6, t == 7:
		return 8
	case t == 8, t == 9:
		return 0
	}
	return t
}

func field(t int64, b []byte) any {
	switch {
	case t == 0:
		return nil
	case t == 8, t == 9:
		return t - 8
	case t >= 12 && t%2 == 0:
		return append([]byte(nil), b...)
	case t >= 12:
		return string(b)
	}
	v := int64(int8(b[0]))
	for _, c := range b[1:] {
		v = v<<8 | int64(c)
	}
	if t == 7 {
		return math.Float64frombits(uint64(v))
	}
	return v
}
