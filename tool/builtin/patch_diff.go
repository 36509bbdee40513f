package builtin

import (
	"strconv"
	"strings"
)

// ranges are the numbers of a hunk's header in a unified diff.
type ranges struct {
	oldStart, oldLines, newLines int
	heading                      string
}

// parseRanges reads @@ -12,3 +12,4 @@ heading.
func parseRanges(line string) (r ranges, ok bool) {
	rest, ok := strings.CutPrefix(line, "@@ -")
	if !ok {
		return r, false
	}
	numbers, heading, ok := strings.Cut(rest, " @@")
	oldRange, newRange, both := strings.Cut(numbers, " +")
	if !ok || !both {
		return r, false
	}
	if r.oldStart, r.oldLines, ok = parseRange(oldRange); !ok {
		return r, false
	}
	_, r.newLines, ok = parseRange(newRange)
	r.heading = strings.TrimSpace(heading)
	return r, ok
}

func parseRange(text string) (start, lines int, ok bool) {
	first, count, counted := strings.Cut(text, ",")
	start, err := strconv.Atoi(first)
	if err != nil || start < 0 {
		return 0, 0, false
	}
	if !counted {
		return start, 1, true
	}
	lines, err = strconv.Atoi(count)
	return start, lines, err == nil && lines >= 0
}

// isDiffHeader reports whether the two lines from n on name the two sides of a
// unified diff.
func (p *patchParser) isDiffHeader(n int) bool {
	return n+1 < len(p.lines) && strings.HasPrefix(p.lines[n], "--- ") && strings.HasPrefix(p.lines[n+1], "+++ ")
}

// gitDiff is what the lines say that git puts before a file's diff.
type gitDiff struct {
	before, after  string // of the line diff --git, where they are known
	added, deleted bool
	from, to       string // of a rename
}

// diffs reads a unified diff of one or more files, as diff -u and git make it.
// Text between the files is skipped.
func (p *patchParser) diffs() error {
	var g gitDiff
	for p.more() {
		line := p.peek()
		switch {
		case strings.HasPrefix(line, "diff --git "):
			p.finish(g)
			g = gitDiff{}
			g.before, g.after = gitNames(strings.TrimPrefix(line, "diff --git "))
		case strings.HasPrefix(line, "new file mode "):
			g.added = true
		case strings.HasPrefix(line, "deleted file mode "):
			g.deleted = true
		case strings.HasPrefix(line, "rename from "):
			g.from = unquoted(strings.TrimPrefix(line, "rename from "))
		case strings.HasPrefix(line, "rename to "):
			g.to = unquoted(strings.TrimPrefix(line, "rename to "))
		case strings.HasPrefix(line, "GIT binary patch"), strings.HasPrefix(line, "Binary files ") && strings.HasSuffix(line, " differ"):
			return p.errorf("the patch changes a binary file, which cannot be done with it")
		case p.isDiffHeader(p.n):
			if err := p.fileDiff(g); err != nil {
				return err
			}
			g = gitDiff{}
			continue
		case strings.HasPrefix(line, "@@ -"):
			return p.errorf("this hunk has no file: the lines --- a/PATH and +++ b/PATH must stand before it")
		}
		p.n++
	}
	p.finish(g)
	return nil
}

// finish adds what git says of a file that has no hunks: an empty one that is
// added or deleted, or one that is only moved.
func (p *patchParser) finish(g gitDiff) {
	switch {
	case g.from != "" && g.to != "":
		p.sections = append(p.sections, section{kind: updateSection, path: g.from, target: g.to})
	case g.added && g.after != "":
		p.sections = append(p.sections, section{kind: addSection, path: g.after})
	case g.deleted && g.before != "":
		p.sections = append(p.sections, section{kind: deleteSection, path: g.before})
	}
}

// fileDiff reads the lines --- and +++ and the hunks below them.
func (p *patchParser) fileDiff(g gitDiff) error {
	before := diffName(p.lines[p.n], "--- ")
	after := diffName(p.lines[p.n+1], "+++ ")
	p.n += 2
	s := section{kind: updateSection}
	if (strings.HasPrefix(before, "a/") || before == nullFile) && (strings.HasPrefix(after, "b/") || after == nullFile) {
		before, after = strings.TrimPrefix(before, "a/"), strings.TrimPrefix(after, "b/")
	}
	switch {
	case before == nullFile:
		s.kind, s.path = addSection, after
	case after == nullFile:
		s.kind, s.path = deleteSection, before
	case g.from != "" && g.to != "":
		s.path, s.target = g.from, g.to
	default:
		s.path = after
	}
	for p.more() && strings.HasPrefix(p.peek(), "@@") {
		h, err := p.diffHunk()
		if err != nil {
			return err
		}
		s.hunks = append(s.hunks, h)
	}
	if s.kind == addSection {
		s.content, s.hunks = addedContent(s.hunks), nil
	}
	if s.kind == updateSection && len(s.hunks) == 0 && s.target == "" {
		return p.errorf("there are no changes for %s: a hunk must begin with @@", s.path)
	}
	p.sections = append(p.sections, s)
	return nil
}

// diffHunk reads a hunk. What its header says of the number of lines is believed
// only where it helps: models count badly.
func (p *patchParser) diffHunk() (hunk, error) {
	h := hunk{at: p.n + 1, exact: true}
	r, ok := parseRanges(p.peek())
	if h.number = r.oldStart; !ok {
		if _, anchor := hunkHeader(p.peek()); anchor != "" {
			h.anchors = []string{anchor}
		}
	}
	p.n++
	for ; p.more(); p.n++ {
		line := p.peek()
		due := r.oldLines > 0 || r.newLines > 0
		switch {
		case strings.HasPrefix(line, `\`):
			if n := len(h.lines); n > 0 {
				h.lines[n-1].bare = true
			}
			continue
		case p.isDiffHeader(p.n) && (!due || p.n+2 < len(p.lines) && strings.HasPrefix(p.lines[p.n+2], "@@ -")),
			line == "" && !due, strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "diff --git "), line == "-- " && !due:
			return h, nil
		case line == "":
			line = " "
		case line[0] != ' ' && line[0] != '-' && line[0] != '+':
			if !due {
				return h, nil
			}
			return h, p.errorf("%q must begin with a space, - or +", shortLine(line))
		}
		h.lines = append(h.lines, hunkLine{op: line[0], text: line[1:]})
		if line[0] != '+' {
			r.oldLines--
		}
		if line[0] != '-' {
			r.newLines--
		}
	}
	return h, nil
}

// addedContent is what the hunks of a new file hold.
func addedContent(hunks []hunk) string {
	var b strings.Builder
	for _, h := range hunks {
		for _, l := range h.lines {
			if l.op == '-' {
				continue
			}
			b.WriteString(l.text)
			if !l.bare {
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

// nullFile stands for the side of a diff that does not exist.
const nullFile = "/dev/null"

// diffName is the name in a line that begins with mark; what follows a tab is a
// time.
func diffName(line, mark string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(line, mark), "\t")
	return unquoted(strings.TrimRight(name, " "))
}

// unquoted takes off the quotes that git puts around unusual names.
func unquoted(name string) string {
	if strings.HasPrefix(name, `"`) {
		if plain, err := strconv.Unquote(name); err == nil {
			return plain
		}
	}
	return name
}

// gitNames are the two names of a line diff --git, without a/ and b/. Where a
// name has spaces they are known only if both are the same.
func gitNames(text string) (before, after string) {
	before, after, ok := strings.Cut(text, " b/")
	if half := (len(text) - 1) / 2; len(text)%2 == 1 && text[half] == ' ' && strings.TrimPrefix(text[:half], "a/") == strings.TrimPrefix(text[half+1:], "b/") {
		before, after, ok = text[:half], strings.TrimPrefix(text[half+1:], "b/"), true
	}
	if !ok {
		return "", ""
	}
	return strings.TrimPrefix(before, "a/"), after
}
