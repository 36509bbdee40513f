package builtin

import (
	"errors"
	"fmt"
	"strings"
)

// section is what a patch says of one file.
type section struct {
	kind sectionKind
	path string
	// target is the new path of a file that is moved; empty for none.
	target string
	// content is what an added file holds.
	content string
	hunks   []hunk
}

type sectionKind uint8

const (
	addSection sectionKind = iota
	updateSection
	deleteSection
)

// hunk is one change of a file: lines to find, and what becomes of them.
type hunk struct {
	at int // the line of the patch that it begins in
	// anchors are lines of the file above the place, the outer one first.
	anchors []string
	lines   []hunkLine
	// number is the line that a unified diff says it begins in, 0 where that
	// is not said.
	number int
	// end says that it stands at the end of the file.
	end bool
	// exact says that it tells whether the file's last line has an end.
	exact bool
}

// hunkLine is a line of a hunk. op is ' ' for a line that stays, '-' for one that
// goes, '+' for a new one; bare is a last line without an end.
type hunkLine struct {
	op   byte
	text string
	bare bool
}

// old returns the lines that a hunk finds in the file.
func (h *hunk) old() []string {
	var old []string
	for _, l := range h.lines {
		if l.op != '+' {
			old = append(old, l.text)
		}
	}
	return old
}

// The marks of the patch envelope.
const (
	beginMark  = "*** Begin Patch"
	endMark    = "*** End Patch"
	addMark    = "*** Add File: "
	deleteMark = "*** Delete File: "
	updateMark = "*** Update File: "
	moveMark   = "*** Move to: "
	eofMark    = "*** End of File"
)

// parsePatch reads a patch in either of its forms: the envelope that begins with
// *** Begin Patch, or a unified diff as git makes it.
func parsePatch(text string) ([]section, error) {
	p := &patchParser{lines: patchLines(text)}
	var err error
	if p.isEnvelope() {
		err = p.envelope()
	} else {
		err = p.diffs()
	}
	if err != nil {
		return nil, err
	}
	if len(p.sections) == 0 {
		return nil, errors.New("the patch changes nothing: it needs a line such as *** Update File: PATH between *** Begin Patch and *** End Patch, or a unified diff")
	}
	for _, s := range p.sections {
		if strings.TrimSpace(s.path) == "" {
			return nil, errors.New("a section of the patch names no file")
		}
	}
	return p.sections, nil
}

// patchParser goes through a patch line by line.
type patchParser struct {
	lines    []string
	n        int // lines that were read
	sections []section
}

// patchLines returns the lines of a patch without what models like to put around
// it: a code fence, or a here-document for the shell.
func patchLines(text string) []string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, beginMark) {
			lines = lines[i:]
			for end := len(lines) - 1; end > 0; end-- {
				if strings.TrimSpace(lines[end]) == endMark {
					return lines[:end+1]
				}
			}
			break
		}
	}
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	if len(lines) > 1 && strings.HasPrefix(lines[0], "```") {
		lines = lines[1:]
	}
	for len(lines) > 0 && (lines[len(lines)-1] == "" || lines[len(lines)-1] == "```") {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func (p *patchParser) isEnvelope() bool {
	return len(p.lines) > 0 && strings.HasPrefix(p.lines[0], "*** ") && !p.isDiffHeader(0)
}

func (p *patchParser) more() bool { return p.n < len(p.lines) }

func (p *patchParser) peek() string { return p.lines[p.n] }

// errorf says what is wrong with the line that is next.
func (p *patchParser) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d of the patch: "+format, append([]any{p.n + 1}, args...)...)
}

// envelope reads the form that begins with *** Begin Patch.
func (p *patchParser) envelope() error {
	begun := strings.TrimSpace(p.peek()) == beginMark
	if begun {
		p.n++
	}
	for p.more() {
		line := strings.TrimRight(p.peek(), " \t")
		var err error
		if path, ok := strings.CutPrefix(line, addMark); ok {
			p.add(path)
		} else if path, ok := strings.CutPrefix(line, deleteMark); ok {
			p.n++
			p.sections = append(p.sections, section{kind: deleteSection, path: strings.TrimSpace(path)})
		} else if path, ok := strings.CutPrefix(line, updateMark); ok {
			err = p.update(path)
		} else if strings.TrimSpace(line) == endMark {
			return nil
		} else if line == "" {
			p.n++
		} else {
			err = p.errorf("%q is none of %s, %s, %s and %s", shortLine(line), strings.TrimSpace(addMark), strings.TrimSpace(deleteMark), strings.TrimSpace(updateMark), endMark)
		}
		if err != nil {
			return err
		}
	}
	if begun {
		return fmt.Errorf("the patch does not end with %s: it may have been cut off, so nothing was changed. Send it again, in parts if it is long", endMark)
	}
	return nil
}

// add reads the lines of a new file.
func (p *patchParser) add(path string) {
	p.n++
	var b strings.Builder
	blank := 0
	for ; p.more(); p.n++ {
		text, ok := strings.CutPrefix(p.peek(), "+")
		if !ok {
			if text != "" {
				break
			}
			blank++ // it counts if the file goes on after it
			continue
		}
		b.WriteString(strings.Repeat("\n", blank) + text + "\n")
		blank = 0
	}
	p.sections = append(p.sections, section{kind: addSection, path: strings.TrimSpace(path), content: b.String()})
}

// update reads the hunks of a file.
func (p *patchParser) update(path string) error {
	p.n++
	s := section{kind: updateSection, path: strings.TrimSpace(path)}
	if p.more() {
		if target, ok := strings.CutPrefix(p.peek(), moveMark); ok {
			s.target = strings.TrimSpace(target)
			p.n++
		}
	}
	for p.more() && (!strings.HasPrefix(p.peek(), "*** ") || p.peek() == eofMark) {
		h, err := p.envelopeHunk()
		if err != nil {
			return err
		}
		if len(h.lines) > 0 {
			s.hunks = append(s.hunks, h)
		}
	}
	if len(s.hunks) == 0 && s.target == "" {
		return p.errorf("there are no changes for %s", s.path)
	}
	p.sections = append(p.sections, s)
	return nil
}

// envelopeHunk reads the @@ lines of a hunk, if it has any, and its lines.
func (p *patchParser) envelopeHunk() (hunk, error) {
	h := hunk{at: p.n + 1}
	for ; p.more() && strings.HasPrefix(p.peek(), "@@"); p.n++ {
		number, anchor := hunkHeader(p.peek())
		if h.number = number; anchor != "" && number == 0 {
			h.anchors = append(h.anchors, anchor)
		}
	}
	for ; p.more(); p.n++ {
		line := p.peek()
		switch {
		case strings.TrimRight(line, " ") == eofMark:
			h.end = true
			p.n++
			return h.trimmed(), nil
		case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "*** "):
			return h.trimmed(), nil
		case line == "":
			h.lines = append(h.lines, hunkLine{op: ' '})
		case line[0] == ' ' || line[0] == '-' || line[0] == '+':
			h.lines = append(h.lines, hunkLine{op: line[0], text: line[1:]})
		case line[0] == '\\':
		case line[0] == '\t': // the space before was forgotten
			h.lines = append(h.lines, hunkLine{op: ' ', text: line})
		default:
			return h, p.errorf("%q must begin with a space (a line that stays), - (one that goes) or + (a new one)", shortLine(line))
		}
	}
	return h.trimmed(), nil
}

// trimmed takes away wholly empty lines at the end of a hunk, which stand there
// for the looks.
func (h hunk) trimmed() hunk {
	for n := len(h.lines); n > 0 && h.lines[n-1] == (hunkLine{op: ' '}); n-- {
		h.lines = h.lines[:n-1]
	}
	return h
}

// hunkHeader reads a line that begins with @@: what it says of the line numbers,
// and the rest.
func hunkHeader(line string) (number int, rest string) {
	rest = strings.TrimSpace(strings.TrimLeft(line, "@"))
	r, ok := parseRanges(line)
	if !ok {
		return 0, strings.TrimSpace(strings.TrimSuffix(rest, "@@"))
	}
	return r.oldStart, r.heading
}

func shortLine(line string) string {
	if len(line) > 80 {
		return string(wholeRunes([]byte(line[:80]))) + "…"
	}
	return line
}
