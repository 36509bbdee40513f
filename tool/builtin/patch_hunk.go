package builtin

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// place finds where a hunk belongs and notes what it changes there. It returns
// the line and the level at which it was found.
func (p *patchText) place(h *hunk) (at, level int, err error) {
	old := h.old()
	if len(old) == 0 {
		if at, err = p.insertion(h); err != nil {
			return 0, 0, err
		}
		p.take(p.splices(h, at, asItStands))
		return at, asItStands, nil
	}
	taken := false
	for level := range levels {
		var free []int
		for _, at := range p.find(old, level) {
			if p.overlaps(p.splices(h, at, level)) {
				taken = true
				continue
			}
			free = append(free, at)
		}
		if len(free) == 0 {
			continue
		}
		if at, err = p.choose(h, free, len(old)); err != nil {
			return 0, 0, err
		}
		p.take(p.splices(h, at, level))
		return at, level, nil
	}
	if taken {
		return 0, 0, errors.New("it changes lines that another hunk of the patch changes already")
	}
	return 0, 0, p.notFound(h, old)
}

func (p *patchText) take(all []splice) {
	p.changes = append(p.changes, all...)
	if n := len(all); n > 0 {
		p.cursor = all[n-1].end
	}
}

// choose picks one of several places: the one at the end of the file if the hunk
// says so, the only one behind the hunk before, the one below the anchors, the
// one in the line that a diff names.
func (p *patchText) choose(h *hunk, found []int, size int) (int, error) {
	if h.end {
		for _, at := range found {
			if at+size == len(p.lines) {
				return at, nil
			}
		}
	}
	var behind []int
	for _, at := range found {
		if at >= p.cursor {
			behind = append(behind, at)
		}
	}
	if len(behind) > 0 {
		found = behind
	}
	if len(found) == 1 {
		return found[0], nil
	}
	if below := p.below(h.anchors, found); len(below) > 0 {
		found = below
	}
	for _, at := range found {
		if len(found) == 1 || h.number > 0 && at == h.number-1 {
			return at, nil
		}
	}
	return 0, fmt.Errorf("its lines occur %d times, in %s: add lines around them, or a line @@ with the function or class that they are in",
		len(found), listLines(found))
}

// below returns those of the places that come first below the anchors; more than
// one where the anchors occur more than once.
func (p *patchText) below(anchors []string, found []int) []int {
	var first []int
	for _, from := range p.anchored(anchors) {
		for _, at := range found {
			if at >= from {
				if n := len(first); n == 0 || first[n-1] != at {
					first = append(first, at)
				}
				break
			}
		}
	}
	return first
}

// anchored returns the lines of the last anchor, each below those before.
func (p *patchText) anchored(anchors []string) []int {
	at := []int{}
	for i, anchor := range anchors {
		lines := p.anchorLines(anchor)
		if i == 0 {
			at = lines
			continue
		}
		at = p.belowEach(at, lines)
	}
	return at
}

// belowEach returns the first of lines below each of outer.
func (p *patchText) belowEach(outer, lines []int) []int {
	var at []int
	for _, from := range outer {
		for _, line := range lines {
			if line > from {
				if n := len(at); n == 0 || at[n-1] != line {
					at = append(at, line)
				}
				break
			}
		}
	}
	return at
}

// anchorLines returns the lines that are an anchor, or else begin with it, or
// else hold it.
func (p *patchText) anchorLines(anchor string) []int {
	anchor = lineForm(anchor, withoutIndent)
	for _, fits := range []func(line string) bool{
		func(line string) bool { return line == anchor },
		func(line string) bool { return strings.HasPrefix(line, anchor) },
		func(line string) bool { return strings.Contains(line, anchor) },
	} {
		var found []int
		for i, line := range p.form(withoutIndent) {
			if fits(line) {
				found = append(found, i)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// insertion returns where a hunk that only adds lines puts them: below its
// anchor, behind the line that a diff names, or at the end of the file.
func (p *patchText) insertion(h *hunk) (int, error) {
	switch {
	case len(h.anchors) > 0 && !h.end:
		at := p.anchored(h.anchors)
		anchor := h.anchors[len(h.anchors)-1]
		switch len(at) {
		case 0:
			return 0, fmt.Errorf("the line %q after @@ was not found in the file", shortLine(anchor))
		case 1:
			return at[0] + 1, nil
		}
		return 0, fmt.Errorf("the line %q after @@ occurs %d times, in %s: add lines that stay around the new ones", shortLine(anchor), len(at), listLines(at))
	case h.exact && h.number < len(p.lines):
		return h.number, nil
	}
	return len(p.lines), nil
}

// notFound shows the hunk and the place in the file that is most like it.
func (p *patchText) notFound(h *hunk, old []string) error {
	if p.isDone(h) {
		return errors.New("its old lines were not found, but the new ones are there: the change seems to be made already")
	}
	at, equal := p.nearest(old)
	if at < 0 {
		return fmt.Errorf("its lines were not found, and nothing like them: read the file again and copy the lines from it.%s", expected(old))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "its lines were not found.%s\nThe place most like them begins in line %d, %d of %d lines are the same (* marks those that are not):", expected(old), at+1, equal, len(old))
	shown := min(len(old), nearLines)
	for i := range shown {
		mark := " "
		if at+i >= len(p.lines) {
			break
		}
		if p.form(withoutIndent)[at+i] != lineForm(old[i], withoutIndent) {
			mark = "*"
		}
		fmt.Fprintf(&b, "\n%s%d\t%s", mark, at+i+1, shortLine(p.lines[at+i].text))
	}
	return errors.New(b.String())
}

// nearLines bounds the lines that are shown of a hunk and of a place like it,
// nearMost the work to find that.
const (
	nearLines = 12
	nearMost  = 5_000_000
)

// expected shows the lines that a hunk looks for.
func expected(old []string) string {
	var b strings.Builder
	b.WriteString(" The patch expects:")
	for _, line := range old[:min(len(old), nearLines)] {
		b.WriteString("\n  " + shortLine(line))
	}
	if more := len(old) - nearLines; more > 0 {
		fmt.Fprintf(&b, "\n  … (%d more lines)", more)
	}
	return b.String()
}

// isDone reports whether the file has the lines that the hunk makes.
func (p *patchText) isDone(h *hunk) bool {
	var after []string
	added := false
	for _, l := range h.lines {
		if l.op != '-' {
			after = append(after, l.text)
			added = added || l.op == '+' && strings.TrimSpace(l.text) != ""
		}
	}
	return added && len(p.find(after, withoutTrailing)) > 0
}

// nearest returns where most of the lines are the same, and how many: lines with
// something in them count. Where none are, it is the line most like the first;
// at is -1 if there is nothing like it either.
func (p *patchText) nearest(old []string) (at, equal int) {
	want := make([]string, len(old))
	for i, line := range old {
		want[i] = lineForm(line, withoutIndent)
	}
	at = -1
	have := p.form(withoutIndent)
	have = have[:min(len(have), nearMost/len(old))]
	for i := range have {
		n := 0
		for j, line := range want[:min(len(want), len(have)-i)] {
			if line != "" && have[i+j] == line {
				n++
			}
		}
		if n > equal {
			at, equal = i, n
		}
	}
	first, best := firstLine(strings.Join(old, "\n")), 59
	for i, line := range have[:min(len(have), 50_000)] {
		if equal > 0 {
			break
		}
		if score := likeness(first, line); score > best {
			at, best = i, score
		}
	}
	return at, equal
}

// listLines names lines, which are counted from 0.
func listLines(lines []int) string {
	var numbers []string
	for _, n := range lines[:min(len(lines), 10)] {
		numbers = append(numbers, strconv.Itoa(n+1))
	}
	if len(lines) > 10 {
		numbers = append(numbers, "…")
	}
	return "lines " + strings.Join(numbers, ", ")
}
