package builtin

import "bytes"

// byFrequency has the letters from the rarest in source code to the commonest.
const byFrequency = "zqjxkwvyhgbmpufdlcsionatre"

// foldBlock is how far indexFold looks ahead for each of the two cases of a
// letter.
const foldBlock = 16 << 10

// indexFold returns where needle, ASCII in lower case, begins in data without
// regard to the case of ASCII letters; -1 if it does not occur. It looks for the
// rarest byte of needle and compares there.
func indexFold(data, needle []byte) int {
	at := rarest(needle)
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

// rarest returns the position of the byte in needle that is the least common:
// anything but a letter, or else the rarest letter.
func rarest(needle []byte) int {
	best, at := len(byFrequency), 0
	for i, c := range needle {
		if rank := bytes.IndexByte([]byte(byFrequency), c); rank < best {
			best, at = rank, i
		}
	}
	return at
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
