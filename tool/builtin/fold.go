package builtin

import (
	"strings"
	"unicode/utf8"
)

// view is a text in a simpler form, with the way back: at[i] is where in the
// original byte i of text comes from, and the last element is its end.
type view struct {
	text string
	at   []int32
}

// findExact finds old in content without regard to how lines end.
func findExact(content, old string) []region {
	old = strings.ReplaceAll(old, "\r\n", "\n")
	switch strings.Count(content, "\r\n") {
	case 0:
		return occurrences(content, old)
	case strings.Count(content, "\n"):
		return occurrences(content, strings.ReplaceAll(old, "\n", "\r\n"))
	}
	return newView(content, exactForm).find(old)
}

// findFolded finds old without regard to trailing white space and to variants
// of quotes, dashes, spaces and composed characters.
func findFolded(content, old string) []region {
	old = newView(old, foldedForm).text
	if strings.TrimSpace(old) == "" {
		return nil
	}
	return newView(content, foldedForm).find(old)
}

// findLines finds the whole lines of old without regard to white space at their
// starts and ends.
func findLines(content, old string) []region {
	want := foldedLines(strings.TrimSuffix(strings.ReplaceAll(old, "\r\n", "\n"), "\n"))
	if strings.Join(want, "") == "" {
		return nil
	}
	var starts []int // of each line, and the end of the text
	for start := 0; start < len(content); {
		starts = append(starts, start)
		n := strings.IndexByte(content[start:], '\n')
		if n < 0 {
			break
		}
		start += n + 1
	}
	have := foldedLines(strings.TrimSuffix(content, "\n"))
	starts = append(starts, len(content))
	var found []region
	for i := 0; i+len(want) <= len(have); i++ {
		if !equalLines(have[i:], want) {
			continue
		}
		end := starts[i+len(want)]
		if !strings.HasSuffix(old, "\n") {
			end = starts[i] + len(strings.TrimRight(content[starts[i]:end], "\r\n"))
		}
		found = append(found, region{starts[i], end})
		i += len(want) - 1
	}
	return found
}

func equalLines(have, want []string) bool {
	for i, line := range want {
		if have[i] != line {
			return false
		}
	}
	return true
}

func foldedLines(text string) []string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(newView(line, foldedForm).text)
	}
	return lines
}

// find returns where in the original old occurs.
func (v view) find(old string) []region {
	found := occurrences(v.text, old)
	for i, r := range found {
		found[i] = region{int(v.at[r.start]), int(v.at[r.end])}
	}
	return found
}

// occurrences finds old in text; they do not overlap.
func occurrences(text, old string) []region {
	var found []region
	for start := 0; ; {
		i := strings.Index(text[start:], old)
		if i < 0 {
			return found
		}
		start += i
		found = append(found, region{start, start + len(old)})
		start += len(old)
	}
}

// form says how a view is made: what stands at the start of text, in how many
// bytes, and what it becomes.
type form func(text string) (size int, becomes string)

func newView(text string, f form) view {
	var b strings.Builder
	b.Grow(len(text))
	at := make([]int32, 0, len(text)+1)
	for i := 0; i < len(text); {
		size, becomes := f(text[i:])
		b.WriteString(becomes)
		for range len(becomes) {
			at = append(at, int32(i))
		}
		i += size
	}
	return view{text: b.String(), at: append(at, int32(len(text)))}
}

// exactForm makes all line ends newlines.
func exactForm(text string) (int, string) {
	if strings.HasPrefix(text, "\r\n") {
		return 2, "\n"
	}
	return 1, text[:1]
}

// foldedForm makes one of what is easily written in several ways.
func foldedForm(text string) (int, string) {
	if c := text[0]; c == ' ' || c == '\t' || c == '\r' {
		n := len(text) - len(strings.TrimLeft(text, " \t\r"))
		if n == len(text) || text[n] == '\n' {
			return n, ""
		}
		return 1, text[:1]
	}
	r, n := utf8.DecodeRuneInString(text)
	if r < utf8.RuneSelf && (len(text) == 1 || text[1] < utf8.RuneSelf) {
		return 1, text[:1]
	}
	if plain, ok := plainForm(r); ok {
		return n, plain
	}
	if mark, size := utf8.DecodeRuneInString(text[n:]); size > 0 {
		if composed := compose(r, mark); composed != 0 {
			return n + size, string(composed)
		}
	}
	return n, text[:n]
}

// plainForm returns the plain form of typographic characters; those without
// width have none.
func plainForm(r rune) (string, bool) {
	switch r {
	case '‘', '’', '‚', '‛', '′':
		return "'", true
	case '“', '”', '„', '‟', '″':
		return `"`, true
	case '‐', '‑', '‒', '–', '—', '―', '−':
		return "-", true
	case '…':
		return "...", true
	case '\u00a0', '\u2002', '\u2003', '\u2007', '\u2009', '\u200a', '\u202f', '\u3000':
		return " ", true
	case '\u200b', '\u200c', '\u200d', '\ufeff':
		return "", true
	}
	return "", false
}

// latinComposed lists characters with the letter and the combining mark that they
// are made of, in the order of letter and mark: the Latin letters of the
// Unicode block Latin-1.
const latinComposed = "ÀA\u0300ÁA\u0301ÂA\u0302ÃA\u0303ÄA\u0308ÅA\u030aÇC\u0327ÈE\u0300ÉE\u0301ÊE\u0302ËE\u0308" +
	"ÌI\u0300ÍI\u0301ÎI\u0302ÏI\u0308ÑN\u0303ÒO\u0300ÓO\u0301ÔO\u0302ÕO\u0303ÖO\u0308ÙU\u0300ÚU\u0301ÛU\u0302ÜU\u0308ÝY\u0301" +
	"àa\u0300áa\u0301âa\u0302ãa\u0303äa\u0308åa\u030açc\u0327èe\u0300ée\u0301êe\u0302ëe\u0308" +
	"ìi\u0300íi\u0301îi\u0302ïi\u0308ñn\u0303òo\u0300óo\u0301ôo\u0302õo\u0303öo\u0308ùu\u0300úu\u0301ûu\u0302üu\u0308ýy\u0301ÿy\u0308"

// voiced are the kana that take a voiced sound mark; the character with the
// mark follows them in Unicode, that with the semi-voiced one two behind.
const voiced = "うかきくけこさしすせそたちつてとはひふへほウカキクケコサシスセソタチツテトハヒフヘホ"

// compose returns the character that a letter and a combining mark make
// together (NFC, for Latin-1 letters and kana), 0 if it knows of none.
func compose(letter, mark rune) rune {
	switch {
	case mark == '\u3099' && (letter == 'う' || letter == 'ウ'):
		return letter + 'ゔ' - 'う'
	case mark == '\u3099' && strings.ContainsRune(voiced, letter):
		return letter + 1
	case mark == '\u309a' && strings.ContainsRune("はひふへほハヒフヘホ", letter):
		return letter + 2
	case mark >= '\u0300' && mark < '\u0370':
		pair := string(letter) + string(mark)
		if i := strings.Index(latinComposed, pair); i > 0 {
			r, _ := utf8.DecodeLastRuneInString(latinComposed[:i])
			return r
		}
	}
	return 0
}
