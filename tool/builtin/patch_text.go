package builtin

import (
	"slices"
	"strings"
)

// textLine is a line of a file and how it ends: "\n", "\r\n", or "" at the end.
type textLine struct{ text, end string }

// splitLines takes a text apart into its lines.
func splitLines(text string) []textLine {
	lines := make([]textLine, 0, strings.Count(text, "\n")+1)
	for line := range strings.Lines(text) {
		l := textLine{text: line}
		if body, ok := strings.CutSuffix(line, "\n"); ok {
			l = textLine{body, "\n"}
			if body, ok := strings.CutSuffix(body, "\r"); ok {
				l = textLine{body, "\r\n"}
			}
		}
		lines = append(lines, l)
	}
	return lines
}

// The levels at which lines are compared, from strict to tolerant, as those of
// edit_file.
const (
	asItStands = iota
	withoutTrailing
	withoutIndent
	levels
)

// levelNote says what was not compared.
func levelNote(level int) string {
	return [levels]string{"", " (matched but for trailing white space or typographic characters)", " (matched but for indentation)"}[level]
}

// lineForm returns a line in the form in which a level compares it.
func lineForm(line string, level int) string {
	switch level {
	case withoutTrailing:
		return newView(line, foldedForm).text
	case withoutIndent:
		return strings.TrimSpace(newView(line, foldedForm).text)
	}
	return line
}

// patchText is a file that hunks are placed in.
type patchText struct {
	lines   []textLine
	forms   [levels][]string // the lines as each level compares them, once needed
	changes []splice
	cursor  int // behind the last hunk that was placed
}

// splice is a run of lines that goes, and the lines that come in its place.
type splice struct {
	start, end int
	added      []textLine
	exact      bool
}

func (p *patchText) form(level int) []string {
	if p.forms[level] == nil {
		p.forms[level] = make([]string, len(p.lines))
		for i, l := range p.lines {
			p.forms[level][i] = lineForm(l.text, level)
		}
	}
	return p.forms[level]
}

// find returns where want stands in the file, at a level.
func (p *patchText) find(want []string, level int) []int {
	have := p.form(level)
	folded := make([]string, len(want))
	for i, line := range want {
		folded[i] = lineForm(line, level)
	}
	if level > asItStands && strings.Join(folded, "") == "" {
		return nil // blank lines are everywhere
	}
	var found []int
	for i := 0; i+len(want) <= len(have); i++ {
		if have[i] == folded[0] && slices.Equal(have[i:i+len(want)], folded) {
			found = append(found, i)
		}
	}
	return found
}

// splices returns what a hunk that stands at a line changes.
func (p *patchText) splices(h *hunk, at, level int) []splice {
	var all []splice
	line, open := at, false
	for _, l := range h.lines {
		if l.op == ' ' {
			line, open = line+1, false
			continue
		}
		if !open {
			all, open = append(all, splice{start: line, end: line, exact: h.exact}), true
		}
		s := &all[len(all)-1]
		if l.op == '-' {
			line++
			s.end = line
			continue
		}
		end := "\n"
		if l.bare {
			end = ""
		}
		s.added = append(s.added, textLine{l.text, end})
	}
	if level == withoutIndent {
		p.reindent(h, at, all)
	}
	return all
}

// reindent gives the new lines the indentation that the file has where the hunk
// has theirs: known from the lines that were found, or else from the longest part
// of it that is.
func (p *patchText) reindent(h *hunk, at int, all []splice) {
	known := map[string]string{}
	for i, line := range h.old() {
		if strings.TrimSpace(line) != "" {
			known[indentation(line)] = indentation(p.lines[at+i].text)
		}
	}
	for _, s := range all {
		for i, l := range s.added {
			own := indentation(l.text)
			for n := len(own); n >= 0; n-- {
				if to, ok := known[own[:n]]; ok {
					s.added[i].text = to + l.text[n:]
					break
				}
			}
		}
	}
}

// overlaps reports whether any of all changes what another hunk changes already.
func (p *patchText) overlaps(all []splice) bool {
	for _, s := range all {
		for _, other := range p.changes {
			if s.start < other.end && other.start < s.end {
				return true
			}
		}
	}
	return false
}

// String returns the file with all splices made.
func (p *patchText) String() string {
	changes := slices.Clone(p.changes)
	slices.SortStableFunc(changes, func(a, b splice) int { return a.start - b.start })
	out := make([]textLine, 0, len(p.lines))
	next, last := 0, splice{start: -1}
	for _, s := range changes {
		out = append(out, p.lines[next:s.start]...)
		for _, l := range s.added {
			if l.end != "" && p.endsInCRLF(s.start) {
				l.end = "\r\n"
			}
			out = append(out, l)
		}
		next = s.end
		last = s
	}
	ownEnd := next < len(p.lines)
	out = append(out, p.lines[next:]...)
	if len(out) == 0 {
		return ""
	}
	if end := &out[len(out)-1]; !ownEnd && !last.exact && len(p.lines) > 0 && p.lines[len(p.lines)-1].end == "" {
		end.end = "" // the file had no newline at its end, and keeps none
	}
	var b strings.Builder
	for i, l := range out {
		if i < len(out)-1 && l.end == "" {
			l.end = "\n"
			if p.endsInCRLF(i) {
				l.end = "\r\n"
			}
		}
		b.WriteString(l.text)
		b.WriteString(l.end)
	}
	return b.String()
}

// endsInCRLF reports whether lines end in CR LF around a line: it, or else the
// one before.
func (p *patchText) endsInCRLF(line int) bool {
	for _, i := range []int{line, line - 1} {
		if i >= 0 && i < len(p.lines) && p.lines[i].end != "" {
			return p.lines[i].end == "\r\n"
		}
	}
	return false
}
