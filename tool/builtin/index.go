package builtin

import (
	"bytes"
	"strings"
)

// byFrequency has the printable characters from about the rarest in source code
// to the commonest.
const byFrequency = "~^@`?$Q!ZJKXYVWq%|HGB#zUMjDFOL&Pk9NE87+CR6ASI35T;<4'\\w[]>2xv\"y{}*bg:h1/mu-=0,_.fp()dcslioarnte "

// foldBlock is how far indexFold looks ahead for each of the two cases of a
// letter.
const foldBlock = 16 << 10

// indexFold returns where needle, ASCII in lower case, begins in data without
// regard to the case of ASCII letters; -1 if it does not occur. It looks for the
// rarest byte of needle, which is at at, and compares there.
func indexFold(data, needle []byte, at int) int {
	lower := needle[at]
	upper := lower
	if 'a' <= lower && lower <= 'z' {
		upper -= 'a' - 'A'
	}
	last := len(data) - len(needle) // where it can begin at the latest
	for block := 0; block <= last; block += foldBlock {
		part := data[block+at : min(block+foldBlock, last+1)+at]
		for pos := 0; ; pos++ {
			i := indexEither(part[pos:], lower, upper)
			if i < 0 {
				break
			}
			pos += i
			if start := block + pos; equalFold(data[start:start+len(needle)], needle) {
				return start
			}
		}
	}
	return -1
}

// rarest returns the position of the byte in needle that is the least common.
func rarest(needle []byte) int {
	best, at := len(byFrequency), 0
	for i, c := range needle {
		if rank := strings.IndexByte(byFrequency, c); rank < best {
			best, at = rank, i
		}
	}
	return at
}

// missesMost is how many places may look like the needle by its rarest byte alone
// before another way is taken: its bytes are common here.
const missesMost = 64

// indexRare is bytes.Index for a needle whose rarest byte is at at. It looks for
// that byte first, which is quicker where it is rare.
func indexRare(data, needle []byte, at int) int {
	last := len(data) - len(needle)
	for pos, misses := 0, 0; pos <= last; pos++ {
		i := bytes.IndexByte(data[pos+at:last+at+1], needle[at])
		if i < 0 {
			return -1
		}
		if pos += i; bytes.HasPrefix(data[pos:], needle) {
			return pos
		}
		if misses++; misses > missesMost && pos < misses*128 {
			if i = bytes.Index(data[pos+1:], needle); i >= 0 {
				i += pos + 1
			}
			return i
		}
	}
	return -1
}

func indexEither(data []byte, a, b byte) int {
	i := bytes.IndexByte(data, a)
	if a == b {
		return i
	}
	if i >= 0 {
		data = data[:i]
	}
	if j := bytes.IndexByte(data, b); j >= 0 {
		return j
	}
	return i
}

// equalFold compares data with needle, which is in lower case.
func equalFold(data, needle []byte) bool {
	for i, c := range data {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != needle[i] {
			return false
		}
	}
	return true
}
