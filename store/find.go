package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The values of Session.Relation.
const (
	Compression = "compression"
	Delegate    = "delegate"
)

// Last is the reference that stands for the session used most recently.
const Last = "last"

// DamagedError says that records of a session could not be read. What could be
// read comes with it.
type DamagedError struct {
	Session string
	// Seqs are the places of the lost messages in the session, from 0.
	Seqs []int
	// Err is why the first of them could not be read.
	Err error
}

// Error says how much is lost, and why.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("session %s: %d damaged messages left out, the first is number %d: %v", e.Session, len(e.Seqs), e.Seqs[0], e.Err)
}

// Unwrap returns why the first message could not be read.
func (e *DamagedError) Unwrap() error { return e.Err }

// Choose picks the session that ref means out of candidates, which hold at
// least each session whose ID begins with ref or whose title is ref but for
// case. In this order count: the ID, a prefix that only one ID has, the exact
// title, the title in any case. It is for implementations of Find, as is how:
// byTitle reports that the title decided.
func Choose(ref string, candidates []Session) (chosen Session, byTitle bool, err error) {
	var prefix, exact, folded []Session
	for _, s := range candidates {
		switch {
		case ref == "":
		case s.ID == ref:
			return s, false, nil
		case strings.HasPrefix(s.ID, ref):
			prefix = with(prefix, s)
		}
		switch {
		case s.Title == "" || ref == "":
		case s.Title == ref:
			exact = with(exact, s)
		case strings.EqualFold(s.Title, ref):
			folded = with(folded, s)
		}
	}
	if len(prefix) == 1 {
		return prefix[0], false, nil
	}
	for _, m := range [][]Session{exact, folded} {
		if len(m) == 1 {
			return m[0], true, nil
		}
	}
	for _, s := range folded {
		prefix = with(prefix, s)
	}
	if len(prefix) > 0 {
		return Session{}, false, &AmbiguousError{Ref: ref, Matches: prefix}
	}
	return Session{}, false, fmt.Errorf("%q: %w: list them to see which there are", ref, ErrNotFound)
}

// with is list with s, unless it is there.
func with(list []Session, s Session) []Session {
	if slices.ContainsFunc(list, func(have Session) bool { return have.ID == s.ID }) {
		return list
	}
	return append(list, s)
}

// FreeTitle returns title, or the next of "title #2", "title #3" and so on that
// is not taken. It asks about a number of titles that is logarithmic in how many
// there are.
func FreeTitle(title string, taken func(string) (bool, error)) (string, error) {
	base, n := title, 1
	if i := strings.LastIndex(title, " #"); i > 0 {
		if k, err := strconv.Atoi(title[i+2:]); err == nil && k > 1 {
			base, n = title[:i], k
		}
	}
	used, err := taken(title)
	if err != nil || !used {
		return title, err
	}
	numbered := func(k int) string { return base + " #" + strconv.Itoa(k) }
	// Numbers are given in order, so that the first free one is found between
	// one that is taken and one that is not.
	low, high := n, n+1
	for {
		if used, err = taken(numbered(high)); err != nil {
			return "", err
		}
		if !used {
			break
		}
		low, high = high, 2*high-n
	}
	for low+1 < high {
		k := low + (high-low)/2
		if used, err = taken(numbered(k)); err != nil {
			return "", err
		}
		if used {
			low = k
		} else {
			high = k
		}
	}
	return numbered(high), nil
}
