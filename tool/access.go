package tool

import (
	stdjson "encoding/json"
	"strings"
)

// Conflict reports whether two calls disturb each other, so that the later one
// must wait for the earlier: one of them is exclusive, or one writes what the
// other reads or writes.
func Conflict(a, b Access) bool {
	return a.Exclusive || b.Exclusive ||
		overlap(a.Writes, b.Writes) || overlap(a.Writes, b.Reads) || overlap(a.Reads, b.Writes)
}

// nothing reports whether such a call disturbs no other.
func (a Access) nothing() bool { return !a.Exclusive && len(a.Reads) == 0 && len(a.Writes) == 0 }

func overlap(a, b []string) bool {
	for _, x := range a {
		for _, y := range b {
			if x == y || within(x, y) || within(y, x) {
				return true
			}
		}
	}
	return false
}

// within reports whether key is the directory of prefix or stands below it.
func within(key, prefix string) bool {
	if !strings.HasSuffix(prefix, "/") {
		return false
	}
	return strings.HasPrefix(key, prefix) || key == strings.TrimSuffix(prefix, "/")
}

// access returns what a call of t touches. A call whose Access function panics
// runs alone; its arguments then fail in Run, where the error is reported.
func (t *Tool) access(args stdjson.RawMessage) (a Access) {
	defer func() {
		if recover() != nil {
			a = Access{Exclusive: true}
		}
	}()
	switch {
	case t.Interactive:
		return Access{Exclusive: true}
	case t.Access != nil:
		return t.Access(args)
	}
	return Access{Exclusive: !t.ReadOnly}
}
