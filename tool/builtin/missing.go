package builtin

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// missing says that there is no file at p, and what there is instead: names
// like it in its directory, or the nearest directory that exists.
func (o Options) missing(p place, path string) error {
	dir := filepath.Dir(p.rel)
	entries, err := readNames(p, dir)
	if err != nil {
		for dir != "." && err != nil {
			dir = filepath.Dir(dir)
			_, err = p.root.Stat(dir)
		}
		return fmt.Errorf("%s does not exist; the nearest directory that does is %s",
			path, o.Workspace.show(filepath.Join(strings.TrimSuffix(p.abs, p.rel), dir)))
	}
	names := similar(filepath.Base(p.rel), entries)
	if len(names) == 0 {
		return fmt.Errorf("%s does not exist, and nothing with a name like it in its directory", path)
	}
	for i, name := range names {
		names[i] = filepath.ToSlash(filepath.Join(filepath.Dir(path), name))
	}
	return fmt.Errorf("%s does not exist; did you mean %s?", path, strings.Join(names, " or "))
}

func readNames(p place, dir string) ([]string, error) {
	entries, err := fs.ReadDir(p.root.FS(), filepath.ToSlash(dir))
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

// similar returns up to three of names that are like name, the likest first.
func similar(name string, names []string) []string {
	type scored struct {
		name  string
		score int
	}
	var found []scored
	for _, other := range names {
		if s := likeness(strings.ToLower(name), strings.ToLower(other)); s >= 50 {
			found = append(found, scored{other, s})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return b.score - a.score })
	var best []string
	for _, f := range found[:min(len(found), 3)] {
		best = append(best, f.name)
	}
	return best
}

// likeness compares two strings by the pairs of bytes that they share (the Dice
// coefficient), from 0 to 100.
func likeness(a, b string) int {
	if a == b {
		return 100
	}
	if len(a) < 2 || len(b) < 2 {
		return 0
	}
	pairs := make(map[[2]byte]int, len(a))
	for i := range len(a) - 1 {
		pairs[[2]byte{a[i], a[i+1]}]++
	}
	shared := 0
	for i := range len(b) - 1 {
		pair := [2]byte{b[i], b[i+1]}
		if pairs[pair] > 0 {
			pairs[pair]--
			shared++
		}
	}
	return 200 * shared / (len(a) + len(b) - 2)
}
