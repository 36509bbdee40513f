package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// systemSecrets are hidden from commands that run as root; others cannot read
// them anyway.
func systemSecrets() []string {
	if os.Geteuid() != 0 {
		return nil
	}
	return []string{"/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/dev"}
}

// devices are those that every program may need; no others can be opened.
func devices() []string {
	return []string{
		"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/fd",
	}
}

// resolved follows the links of paths, and adds where they lead to.
func resolved(paths []string) []string {
	var all []string
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			continue
		}
		p = filepath.Clean(p)
		if r, err := filepath.EvalSymlinks(p); err == nil {
			p = r
		}
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// readable lists the largest trees that hold nothing hidden. Landlock can only
// allow, so what is hidden is what no rule covers. Links are left out: a rule
// would be for what they lead to.
func readable(hidden []string) []string { return without("/", hidden) }

// without lists dir, if it holds nothing hidden, else the entries of it that do
// not.
func without(dir string, hidden []string) []string {
	holds := false
	for _, h := range hidden {
		if h == dir || strings.HasPrefix(dir, h+"/") {
			return nil
		}
		holds = holds || dir == "/" || strings.HasPrefix(h, dir+"/")
	}
	if !holds {
		return []string{dir}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var all []string
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 {
			all = append(all, without(filepath.Join(dir, e.Name()), hidden)...)
		}
	}
	return all
}

// withoutHidden takes out of writable trees what is hidden in them. A tree that
// lies in a hidden one is writable all the same: whoever named it meant it.
func withoutHidden(trees, hidden []string) []string {
	var all []string
	for _, t := range trees {
		inside := slices.DeleteFunc(slices.Clone(hidden), func(h string) bool { return !strings.HasPrefix(h, strings.TrimSuffix(t, "/")+"/") })
		if len(inside) == 0 {
			all = append(all, t)
			continue
		}
		all = append(all, without(t, inside)...)
	}
	return all
}
