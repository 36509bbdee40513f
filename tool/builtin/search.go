package builtin

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// searchBytes bounds the files that are searched.
const searchBytes = 32 << 20

// query is what is looked for.
type query struct {
	re *regexp.Regexp
	// needles are such that every matching line holds one of them; none if
	// no such are known. Where folded is set they are in lower case and held
	// without regard to the case of ASCII letters.
	needles [][]byte
	rare    []int // where the rarest byte of each is
	folded  bool
	longest int // bytes of the longest needle
	// musts are further texts that every matching line holds.
	musts [][]byte
	// literal says that every line with the needle matches.
	literal bool
	filter  func(rel, name string) bool
	around  int  // lines of context
	count   bool // the lines are not wanted
	first   bool // one match in a file is enough
	limit   int  // lines to keep of a file
}

func newQuery(a grepArgs) (*query, error) {
	flags := syntax.Perl &^ syntax.OneLine
	expr := a.Pattern
	if a.IgnoreCase {
		expr = "(?i)" + expr
	}
	parsed, err := syntax.Parse(expr, flags)
	if err != nil {
		return nil, fmt.Errorf("the pattern is not a valid regular expression: %w (RE2 syntax; escape ( [ { . * + ? with a backslash to mean them)", err)
	}
	re, err := regexp.Compile("(?m:" + expr + ")")
	if err != nil {
		return nil, fmt.Errorf("the pattern is not a valid regular expression: %w", err)
	}
	q := &query{re: re, around: max(0, min(a.Context, grepContext)), first: a.Mode == "files", count: a.Mode == "files" || a.Mode == "count", limit: a.Limit}
	parsed = parsed.Simplify()
	q.setNeedles(required(parsed))
	q.musts = literalsOf(parsed, nil)
	q.literal = parsed.Op == syntax.OpLiteral && len(q.needles) == 1 && !q.folded
	if a.Glob != "" {
		if q.filter, err = fileFilter(a.Glob, true); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// setNeedles takes over literals if they can be looked for as bytes.
func (q *query) setNeedles(literals []literal) {
	for _, l := range literals {
		q.folded = q.folded || l.folded
	}
	for _, l := range literals {
		text := l.text
		if q.folded {
			text = strings.ToLower(text)
		}
		if text == "" || strings.Contains(text, "\n") || q.folded && !isASCII(text) {
			q.needles = nil
			return
		}
		q.needles = append(q.needles, []byte(text))
		q.rare = append(q.rare, rarest([]byte(text)))
		q.longest = max(q.longest, len(text))
	}
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// literal is a text that a match holds.
type literal struct {
	text   string
	folded bool
}

// maxNeedles bounds how many alternatives are looked for one by one.
const maxNeedles = 8

// required returns literals such that every match of re holds one of them; nil
// if it knows of none.
func required(re *syntax.Regexp) []literal {
	switch re.Op {
	case syntax.OpLiteral:
		return []literal{{string(re.Rune), re.Flags&syntax.FoldCase != 0}}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []literal
		for _, sub := range re.Sub {
			if l := required(sub); shortest(l) > shortest(best) {
				best = l
			}
		}
		return best
	case syntax.OpAlternate:
		var all []literal
		for _, sub := range re.Sub {
			l := required(sub)
			if l == nil || len(all)+len(l) > maxNeedles {
				return nil
			}
			all = append(all, l...)
		}
		return all
	}
	return nil
}

// literalsOf adds the texts that stand in every match of re, one behind the other,
// to all.
func literalsOf(re *syntax.Regexp, all [][]byte) [][]byte {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 && len(re.Rune) > 1 {
			all = append(all, []byte(string(re.Rune)))
		}
	case syntax.OpCapture, syntax.OpConcat, syntax.OpPlus:
		for _, sub := range re.Sub {
			all = literalsOf(sub, all)
		}
	}
	return all
}

// matches reports whether a line, without its end, matches.
func (q *query) matches(line []byte) bool {
	if q.literal {
		return true
	}
	for _, must := range q.musts {
		if !bytes.Contains(line, must) {
			return false
		}
	}
	return q.re.Match(line)
}

func shortest(literals []literal) int {
	n := 0
	for i, l := range literals {
		if i == 0 || len(l.text) < n {
			n = len(l.text)
		}
	}
	return n
}

// fileMatches are the matching lines of a file.
type fileMatches struct {
	path  string
	count int
	lines []foundLine
}

// foundLine is a line of a file that matches, or stands near one that does.
type foundLine struct {
	number int
	text   string
	match  bool
}

// searcher searches files one after the other, with buffers of its own.
type searcher struct {
	q       *query
	buf     []byte
	certain bool // in this file only lines with a needle can match
	found   []fileMatches
	skipped int
}

func newSearcher(q *query) *searcher { return &searcher{q: q, buf: make([]byte, 64<<10)} }

// file searches the file at abs, which is shown as path. Files that cannot be
// read and binary files have no matches.
func (s *searcher) file(abs, path string) {
	n, tooLarge := s.load(abs)
	if tooLarge {
		s.skipped++
		return
	}
	data := s.buf[:n]
	s.certain = len(s.q.needles) > 0 && !(s.q.folded && hasOddCase(data))
	if first := s.nextNeedle(data, 0); first >= 0 {
		if m := s.lines(data, first); m.count > 0 {
			m.path = path
			s.found = append(s.found, m)
		}
	}
}

// hasOddCase reports whether data holds one of the two characters that are not
// ASCII but have an ASCII letter as their other case.
func hasOddCase(data []byte) bool {
	return bytes.Contains(data, []byte("\u212a")) || bytes.Contains(data, []byte("\u017f"))
}

// nextNeedle returns where from pos on a line may match, -1 for nowhere.
func (s *searcher) nextNeedle(data []byte, pos int) int {
	if !s.certain {
		return pos
	}
	next, end := -1, len(data)
	for n, needle := range s.q.needles {
		if pos >= end {
			break
		}
		if i := s.q.index(data[pos:end], needle, s.q.rare[n]); i >= 0 {
			next = pos + i
			end = min(next+s.q.longest, len(data)) // only an earlier one is of interest
		}
	}
	return next
}

// index returns where needle, whose rarest byte is at rare, begins in data; -1 if
// it does not occur.
func (q *query) index(data, needle []byte, rare int) int {
	if q.folded {
		return indexFold(data, needle, rare)
	}
	return indexRare(data, needle, rare)
}

// lines collects the lines of data that match, from the first candidate on.
func (s *searcher) lines(data []byte, pos int) fileMatches {
	var m fileMatches
	at := lineCounter{data: data}
	// With needles pos is in a candidate already. Where lines end in CR LF,
	// $ is not at the end of a line: then every line is a candidate.
	every := s.certain || bytes.IndexByte(data, '\r') >= 0
	shown := 0 // the end of what was taken as context or match
	for pos >= 0 && pos < len(data) {
		if !every {
			if pos = s.candidate(data, pos); pos < 0 {
				break
			}
		}
		start := bytes.LastIndexByte(data[:pos], '\n') + 1
		end := lineEnd(data, pos)
		if s.q.matches(trimCR(data[start:end])) {
			m.count++
			if s.q.first {
				return m
			}
			if !s.q.count && m.count <= s.q.limit {
				shown = s.take(&m, &at, shown, start, end)
			}
		}
		if pos = end + 1; pos < len(data) {
			pos = s.nextNeedle(data, pos)
		}
	}
	return m
}

// candidate returns a position in the next line from pos on that may match, -1
// if there is none.
func (s *searcher) candidate(data []byte, pos int) int {
	loc := s.q.re.FindIndex(data[pos:])
	if loc == nil {
		return -1
	}
	if pos += loc[0]; pos == len(data) && pos > 0 && data[pos-1] == '\n' {
		return -1 // there is no line behind the last newline
	}
	return pos
}

// take adds the line from start to end and its context to m. shown is the end
// of what is in m already; take returns the new one.
func (s *searcher) take(m *fileMatches, at *lineCounter, shown, start, end int) int {
	data := at.data
	from := start
	for range s.q.around {
		if from <= shown || from == 0 {
			break
		}
		from = bytes.LastIndexByte(data[:from-1], '\n') + 1
	}
	for from = max(from, min(shown, start)); from < start; {
		e := lineEnd(data, from)
		m.lines = append(m.lines, at.line(from, e, false))
		from = e + 1
	}
	if start < shown { // it was taken as context of an earlier match
		number := at.number(start)
		for i := len(m.lines) - 1; i >= 0 && m.lines[i].number >= number; i-- {
			if m.lines[i].number == number {
				m.lines[i].match = true
			}
		}
	} else {
		m.lines = append(m.lines, at.line(start, end, true))
		shown = end + 1
	}
	for n, from := 0, end+1; n < s.q.around && from < len(data); n++ {
		e := lineEnd(data, from)
		if from >= shown {
			m.lines = append(m.lines, at.line(from, e, false))
			shown = e + 1
		}
		from = e + 1
	}
	return shown
}

// lineEnd returns where the line that pos stands in ends.
func lineEnd(data []byte, pos int) int {
	if i := bytes.IndexByte(data[pos:], '\n'); i >= 0 {
		return pos + i
	}
	return len(data)
}

func trimCR(line []byte) []byte { return bytes.TrimSuffix(line, []byte("\r")) }

// lineCounter numbers lines; it is quick when asked in ascending order.
type lineCounter struct {
	data   []byte
	offset int
	lines  int // newlines before offset
}

func (c *lineCounter) number(offset int) int {
	if offset < c.offset {
		c.lines -= bytes.Count(c.data[offset:c.offset], []byte("\n"))
	} else {
		c.lines += bytes.Count(c.data[c.offset:offset], []byte("\n"))
	}
	c.offset = offset
	return c.lines + 1
}

func (c *lineCounter) line(start, end int, match bool) foundLine {
	line := trimCR(c.data[start:end])
	if len(line) > grepLineShow {
		line = append(wholeRunes(line[:grepLineShow:grepLineShow]), " …"...)
	}
	return foundLine{number: c.number(start), text: string(line), match: match}
}
