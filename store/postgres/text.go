package postgres

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A text of PostgreSQL holds neither NUL nor what is no UTF-8, which the texts
// of a session may: titles, directories, prompts. escape writes the bytes of
// these as the last 256 code points, which have no meaning, and those of such
// code points, too.
const firstEscape = unicode.MaxRune - 0xff

// escape makes s a text that PostgreSQL takes; unescape gives s back.
func escape(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		if r != 0 && r < firstEscape && (r != utf8.RuneError || size > 1) {
			b.WriteRune(r)
			continue
		}
		for _, c := range []byte(s[i : i+size]) {
			b.WriteRune(firstEscape + rune(c))
		}
	}
	return b.String()
}

// escaped is the first byte of the code points that are written for bytes; no
// others but their neighbours in the last plane have it.
const escaped = 0xf4

func plain(s string) bool {
	return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 && strings.IndexByte(s, escaped) < 0
}

func unescape(s string) string {
	if strings.IndexByte(s, escaped) < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for _, r := range s {
		if r >= firstEscape {
			b = append(b, byte(r-firstEscape))
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	return string(b)
}

// lower is how texts and what is searched in them are compared, whatever the
// locale of the database.
func lower(s string) string { return strings.Map(unicode.ToLower, s) }

// foldKey is the same for two strings that are equal but for case, as
// strings.EqualFold has it.
func foldKey(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s)
}
