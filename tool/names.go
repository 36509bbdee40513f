package tool

import (
	"strings"
	"unicode"
)

// nearest returns the one of names that is meant by a name which is written a
// little wrong, or "" where there is none or it is not clear which.
func nearest(wrong string, names []string) string {
	want := plainName(wrong)
	if want == "" {
		return ""
	}
	if name := only(names, func(name string) bool { return plainName(name) == want }); name != "" {
		return name
	}
	if len(want) < 5 {
		return ""
	}
	for distance := 1; distance <= 2; distance++ {
		near := func(name string) bool { return editDistance(want, plainName(name)) <= distance }
		if name := only(names, near); name != "" {
			return name
		}
	}
	return ""
}

// only returns the single name that passes.
func only(names []string, pass func(string) bool) string {
	found := ""
	for _, name := range names {
		if !pass(name) {
			continue
		}
		if found != "" {
			return ""
		}
		found = name
	}
	return found
}

// plainName brings a name into snake case and takes off what models put around
// it: a namespace, a _tool at its end, the start of a call's arguments.
func plainName(name string) string {
	if i := strings.IndexAny(name, "\"'<({"); i >= 0 {
		name = name[:i]
	}
	for _, prefix := range []string{"functions.", "default_api.", "default_api:", "tools."} {
		name = strings.TrimPrefix(name, prefix)
	}
	var b strings.Builder
	prev := rune('_')
	for _, r := range strings.TrimSpace(name) {
		switch {
		case r == '-' || r == ' ' || r == '.':
			r = '_'
		case unicode.IsUpper(r):
			if prev != '_' && !unicode.IsUpper(prev) {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(r))
		prev = r
	}
	plain := b.String()
	for range 2 {
		plain = strings.TrimSuffix(strings.TrimSuffix(plain, "_tool"), "_")
	}
	return plain
}

// editDistance counts the insertions, deletions and substitutions of bytes that
// make b of a.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
