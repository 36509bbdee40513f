package builtin

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ignores are the rules of one .gitignore file (gitignore(5)) with those of the
// directories above. A nil *ignores ignores nothing.
type ignores struct {
	above *ignores
	dir   string // of the rules, relative to the start of the walk
	rules []ignoreRule
	// prefix is where the walk starts below the directory of the rules, with
	// a slash at its end; "" for rules that were found on the way.
	prefix string

	// names and endings have the number of the last rule that is a plain
	// name, or a * with a plain ending such as .o.
	names, dirNames, endings map[string]int
	others                   []int // the numbers of all other rules
}

// ignoreRule is one line of the file.
type ignoreRule struct {
	pattern string
	keep    bool // the line begins with !
	dirOnly bool
	rooted  bool // pattern is matched with the whole path below dir
}

// parseIgnores reads the rules of a .gitignore file in dir.
func parseIgnores(above *ignores, dir, text string) *ignores {
	ig := &ignores{above: above, dir: dir, names: map[string]int{}, dirNames: map[string]int{}, endings: map[string]int{}}
	for line := range strings.Lines(text) {
		if rule, ok := parseRule(strings.TrimRight(line, "\r\n")); ok {
			ig.add(rule)
		}
	}
	return ig
}

func parseRule(line string) (r ignoreRule, ok bool) {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return r, false
	}
	line, r.keep = strings.CutPrefix(line, "!")
	line, r.dirOnly = strings.CutSuffix(line, "/")
	if r.rooted = strings.Contains(line, "/"); r.rooted {
		line = strings.TrimPrefix(line, "/")
	}
	if rest, found := strings.CutPrefix(line, "**/"); found && !strings.Contains(rest, "/") {
		line, r.rooted = rest, false
	}
	r.pattern = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(line)
	return r, line != "" && doublestar.ValidatePattern(r.pattern)
}

func (ig *ignores) add(r ignoreRule) {
	n := len(ig.rules)
	ig.rules = append(ig.rules, r)
	ending, star := strings.CutPrefix(r.pattern, "*.")
	switch {
	case r.rooted || r.dirOnly && star:
		ig.others = append(ig.others, n)
	case isPlain(r.pattern) && r.dirOnly:
		ig.dirNames[r.pattern] = n
	case isPlain(r.pattern):
		ig.names[r.pattern] = n
	case star && isPlain(ending) && !strings.Contains(ending, "."):
		ig.endings["."+ending] = n
	default:
		ig.others = append(ig.others, n)
	}
}

func isPlain(pattern string) bool { return !strings.ContainsAny(pattern, `*?[\`) }

// ignored reports whether the file or directory name at rel, both relative to
// the start of the walk, is ignored.
func (ig *ignores) ignored(rel, name string, isDir bool) bool {
	for ; ig != nil; ig = ig.above {
		if n := ig.last(rel, name, isDir); n >= 0 {
			return !ig.rules[n].keep
		}
	}
	return false
}

// last returns the number of the last rule that matches, -1 for none.
func (ig *ignores) last(rel, name string, isDir bool) int {
	n := -1
	if i, ok := ig.names[name]; ok {
		n = i
	}
	if i, ok := ig.endings[path.Ext(name)]; ok {
		n = max(n, i)
	}
	if isDir {
		if i, ok := ig.dirNames[name]; ok {
			n = max(n, i)
		}
	}
	for i := len(ig.others) - 1; i >= 0 && ig.others[i] > n; i-- {
		r := &ig.rules[ig.others[i]]
		if r.dirOnly && !isDir {
			continue
		}
		subject := name
		if r.rooted {
			subject = ig.relative(rel)
		}
		if doublestar.MatchUnvalidated(r.pattern, subject) {
			return ig.others[i]
		}
	}
	return n
}

// relative returns rel as a path below the directory of the rules.
func (ig *ignores) relative(rel string) string {
	if ig.dir == "" {
		return ig.prefix + rel
	}
	if below, ok := strings.CutPrefix(rel, ig.dir+"/"); ok {
		return below
	}
	return rel
}

// ignoresAbove returns the rules that hold at dir: those of the directories
// above it up to the top of its repository, or up to top where it has none.
func ignoresAbove(dir, top string) *ignores {
	end := repository(dir)
	if end == "" {
		end = top
	}
	if _, inside := below(end, dir); !inside {
		return nil
	}
	var chain []string
	for at := dir; at != end; {
		at = filepath.Dir(at)
		chain = append(chain, at)
	}
	ig := excludes(end, dir)
	for _, at := range slices.Backward(chain) {
		if text, err := os.ReadFile(filepath.Join(at, ".gitignore")); err == nil {
			rel, _ := below(at, dir)
			ig = parseIgnores(ig, "", string(text)).from(filepath.ToSlash(rel) + "/")
		}
	}
	return ig
}

// excludes returns the rules of a repository that are not part of it.
func excludes(repo, dir string) *ignores {
	text, err := os.ReadFile(filepath.Join(repo, ".git", "info", "exclude"))
	if err != nil {
		return nil
	}
	prefix := ""
	if rel, _ := below(repo, dir); rel != "." {
		prefix = filepath.ToSlash(rel) + "/"
	}
	return parseIgnores(nil, "", string(text)).from(prefix)
}

// repository returns the top of the Git repository that dir is in, "" for none.
func repository(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// from makes the rules those of a directory above the start of the walk, which
// is at prefix below it.
func (ig *ignores) from(prefix string) *ignores {
	if ig != nil {
		ig.prefix = prefix
	}
	return ig
}
