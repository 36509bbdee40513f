package tool

import (
	"fmt"
	"strings"
)

// fix makes valid JSON of an object whose extent is known, which span found to
// consist of what JSON consists of. It reports whether it could.
func fix(object string) (string, bool) {
	mended := mend(object)
	return mended, syntaxError(mended) == nil
}

// mend drops commas before closing brackets and puts those between members that
// are missing, escapes control characters in strings, turns single quotes into
// double ones and Python's constants into JSON's, and adds the brackets that are
// missing at the end. Its time is linear.
func mend(object string) string {
	var b strings.Builder
	b.Grow(len(object) + 8)
	var open []byte
	ended := false // the last token ended a value or a name
	for i := 0; i < len(object); {
		at := i + space(object[i:])
		if at == len(object) {
			break
		}
		c, n := object[at], 1
		if ended && !strings.ContainsRune(",:}]", rune(c)) {
			b.WriteByte(',')
		}
		b.WriteString(object[i:at])
		ended = c != ',' && c != ':' && c != '{' && c != '['
		switch c {
		case '{', '[':
			open = append(open, c+2)
			b.WriteByte(c)
		case '}', ']':
			open = open[:max(len(open)-1, 0)]
			b.WriteByte(c)
		case ',':
			if next := at + 1 + space(object[at+1:]); next == len(object) || object[next] != '}' && object[next] != ']' {
				b.WriteByte(c)
			}
		case ':':
			b.WriteByte(c)
		case '"', '\'':
			n = max(quoted(object[at:]), 1)
			mendString(&b, object[at:at+n])
		default:
			n = max(word(object[at:]), 1)
			b.WriteString(plainConstant(object[at : at+n]))
		}
		i = at + n
	}
	for i := len(open) - 1; i >= 0; i-- {
		b.WriteByte(open[i])
	}
	return b.String()
}

// space returns the length of the white space at the start of text.
func space(text string) int {
	for i := range len(text) {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
		default:
			return i
		}
	}
	return len(text)
}

func plainConstant(word string) string {
	switch word {
	case "True":
		return "true"
	case "False":
		return "false"
	case "None":
		return "null"
	}
	return word
}

// mendString writes a string literal in its quotes as JSON has it.
func mendString(b *strings.Builder, literal string) {
	if len(literal) < 2 {
		b.WriteString(literal)
		return
	}
	b.WriteByte('"')
	inner := literal[1 : len(literal)-1]
	for i := 0; i < len(inner); i++ {
		switch c := inner[i]; {
		case c == '\\' && i+1 < len(inner) && inner[i+1] == '\'':
			// the quote that follows needs no escape
		case c == '\\' && i+1 < len(inner):
			b.WriteString(inner[i : i+2])
			i++
		case c == '"':
			b.WriteString(`\"`)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < 0x20:
			fmt.Fprintf(b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
}
