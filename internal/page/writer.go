package page

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// writer puts pieces of Markdown together: it joins white space, and writes
// line ends, indents and opening marks only when something follows.
type writer struct {
	out []byte
	// breaks are the line ends that come before what follows, space a blank.
	breaks int
	space  bool
	// opened are marks that come before what follows.
	opened []string
	// indents stand before each line; the first of one once.
	indents []indent
	// flat counts what keeps text on one line, such as headings; cell is that
	// of a table.
	flat   int
	cell   bool
	linked bool // in a link
	begun  bool // something stands on the line
}

type indent struct {
	first, rest string
	used        bool
}

// lines asks for n line ends before what follows; 2 make an empty line.
func (w *writer) lines(n int) {
	if w.flat > 0 {
		w.space = w.space || w.begun
		return
	}
	if k := len(w.indents); k > 0 && !w.indents[k-1].used {
		n = min(n, 1)
	}
	if len(w.out) > 0 {
		w.breaks = max(w.breaks, n)
	}
	w.space = false
}

// text writes text with its white space joined.
func (w *writer) text(s string) {
	for s != "" {
		i := strings.IndexFunc(s, isBlank)
		if i < 0 {
			i = len(s)
		}
		if i > 0 {
			w.raw(w.escaped(s[:i]))
		}
		if s = s[i:]; s == "" {
			return
		}
		w.space = true
		s = strings.TrimLeftFunc(s, isBlank)
	}
}

// isBlank is white space and what has no width, which only hides things.
func isBlank(r rune) bool {
	return r < utf8.RuneSelf && isSpace(byte(r)) || r == '\u00a0' || r == '\u200b' || r == '\ufeff' || r > 0xff && unicode.IsSpace(r)
}

func (w *writer) escaped(s string) string {
	if w.cell {
		return strings.ReplaceAll(s, "|", `\|`)
	}
	return s
}

// raw writes s behind all that is due before it.
func (w *writer) raw(s string) {
	w.due()
	w.out = append(w.out, s...)
	w.begun = true
}

// marker writes the mark of a line, which text follows.
func (w *writer) marker(s string) {
	opened := w.opened
	w.opened = nil
	w.raw(s)
	w.opened, w.begun, w.space = opened, false, false
}

// due writes line ends, indents, blank and marks that come before what follows.
func (w *writer) due() {
	if w.breaks > 0 {
		for ; w.breaks > 1; w.breaks-- {
			w.out = append(w.out, '\n')
			w.out = append(w.out, strings.TrimRight(w.prefix(), " ")...)
		}
		w.out = append(w.out, '\n')
		w.breaks, w.begun = 0, false
		w.out = append(w.out, w.prefix()...)
		w.firsts()
	} else if len(w.out) == 0 {
		w.firsts()
	} else if w.space && w.begun {
		w.out = append(w.out, ' ')
	}
	w.space = false
	for _, mark := range w.opened {
		w.out = append(w.out, mark...)
		w.begun = true
	}
	w.opened = w.opened[:0]
}

// prefix is what stands before a line by the indents that have begun.
func (w *writer) prefix() string {
	var b strings.Builder
	for i := range w.indents {
		if w.indents[i].used {
			b.WriteString(w.indents[i].rest)
		}
	}
	return b.String()
}

// firsts writes the first prefix of indents that begin on this line.
func (w *writer) firsts() {
	for i := range w.indents {
		if in := &w.indents[i]; !in.used {
			w.out = append(w.out, in.first...)
			in.used = true
		}
	}
}

// indent puts first before the line that follows and rest before those after.
func (w *writer) indent(first, rest string) {
	if len(w.out) > 0 {
		w.breaks = max(w.breaks, 1)
	}
	w.indents = append(w.indents, indent{first: first, rest: rest})
}

func (w *writer) outdent() { w.indents = w.indents[:len(w.indents)-1] }

// newline ends the line in a block of code.
func (w *writer) newline() {
	w.out = append(w.out, '\n')
	w.out = append(w.out, w.prefix()...)
}

// verbatim writes s as it is.
func (w *writer) verbatim(s string) {
	w.out = append(w.out, s...)
	w.begun = true
}

// open asks for a mark before the next text.
func (w *writer) open(mark string) { w.opened = append(w.opened, mark) }

// close writes a mark behind the last text, unless nothing came since open.
func (w *writer) close(mark string) {
	if n := len(w.opened); n > 0 {
		w.opened = w.opened[:n-1]
		return
	}
	w.out = append(w.out, mark...)
}
