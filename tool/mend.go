package tool

import (
	"fmt"
	"strings"

	"github.com/kaptinlin/jsonrepair"
)

// maxRepair bounds what is given to the repair library, whose time grows with
// the square of the length.
const maxRepair = 64 << 10

// fix makes valid JSON of an object whose extent is known. What models get
// wrong most is mended here, in one pass; the rest is left to a library.
func fix(object string) (string, bool) {
	if mended := mend(object); syntaxError(mended) == nil {
		return mended, true
	}
	if len(object) > maxRepair {
		return "", false
	}
	fixed, err := jsonrepair.Repair(object)
	if err != nil || syntaxError(fixed) != nil {
		return "", false
	}
	fixed = strings.TrimSpace(fixed)
	return fixed, fixed != ""
}

// mend drops commas before closing brackets, escapes control characters in
// strings, turns single quotes into double ones and Python's constants into
// JSON's, and adds the brackets that are missing at the end.
func mend(object string) string {
	var b strings.Builder
	b.Grow(len(object) + 8)
	var open []byte
	for i := 0; i < len(object); {
		c := object[i]
		n := 1
		switch c {
		case '{':
			open = append(open, '}')
		case '[':
			open = append(open, ']')
		case '}', ']':
			open = open[:max(len(open)-1, 0)]
		case ',':
			if rest := strings.TrimLeft(object[i+1:min(len(object), i+64)], " \t\r\n"); rest != "" && (rest[0] == '}' || rest[0] == ']') {
				i++
				continue
			}
		case '"', '\'':
			n = max(quoted(object[i:]), 1)
			mendString(&b, object[i:i+n])
			i += n
			continue
		case 'T', 'F', 'N', 't', 'f', 'n':
			n = max(word(object[i:]), 1)
		}
		b.WriteString(plainConstant(object[i : i+n]))
		i += n
	}
	for i := len(open) - 1; i >= 0; i-- {
		b.WriteByte(open[i])
	}
	return b.String()
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
