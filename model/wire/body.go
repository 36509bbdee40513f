package wire

import "io"

// body reads pieces one after the other. The pieces are not changed.
type body struct {
	pieces [][]byte
	offset int // in the first piece
}

func (b *body) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && len(b.pieces) > 0 {
		k := copy(p[n:], b.pieces[0][b.offset:])
		n += k
		b.offset += k
		if b.offset == len(b.pieces[0]) {
			b.pieces, b.offset = b.pieces[1:], 0
		}
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// take takes all that is left out of b, at most n bytes, as pieces of its own
// slice.
func (b *body) take(n int64) [][]byte {
	var out [][]byte
	for n > 0 && len(b.pieces) > 0 {
		p := b.pieces[0][b.offset:]
		if int64(len(p)) > n {
			b.offset += int(n)
			return append(out, p[:n])
		}
		n -= int64(len(p))
		b.pieces, b.offset = b.pieces[1:], 0
		if len(p) > 0 {
			out = append(out, p)
		}
	}
	return out
}

func (b *body) Close() error { return nil }

func size(pieces [][]byte) int64 {
	n := int64(0)
	for _, p := range pieces {
		n += int64(len(p))
	}
	return n
}
