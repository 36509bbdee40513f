package config

import (
	"fmt"
	"reflect"
	"strings"
)

// unknownKey says that t has no key of that name, and which may be meant.
func unknownKey(name string, t reflect.Type) error {
	var siblings []string
	for _, f := range fieldsOf(t) {
		siblings = append(siblings, f.name)
	}
	hint := didYouMean(name, siblings)
	if hint == "" {
		hint = elsewhere(name)
	}
	if hint == "" {
		hint = ": it is one of " + strings.Join(siblings, ", ")
	}
	return fmt.Errorf("unknown key %q%s", name, hint)
}

// elsewhere finds a key of that name in another place.
func elsewhere(name string) string {
	for _, path := range allPaths(reflect.TypeFor[Config](), "") {
		if path == name || strings.HasSuffix(path, "."+name) {
			return ": did you mean " + path + "?"
		}
	}
	return ""
}

// didYouMean suggests the nearest of names, if one is near.
func didYouMean(name string, names []string) string {
	best, least := "", 3
	for _, n := range names {
		if d := distance(strings.ToLower(name), n); d < least && d < len(n) {
			best, least = n, d
		}
	}
	if best == "" {
		return ""
	}
	return ": did you mean " + best + "?"
}

// distance counts the letters to add, drop, change or swap with their
// neighbour to make b of a.
func distance(a, b string) int {
	older, old := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range old {
		old[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(old[j+1]+1, row[j]+1, old[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
		older, old = old, row
	}
	return old[len(b)]
}
