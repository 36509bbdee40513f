package store

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
)

// shortArgument is the length in bytes up to which the arguments of calls are
// searched: names of files and patterns, not what is written to files.
const shortArgument = 200

// SearchText is what of m a Searcher looks through: the text of user and
// assistant messages, behind that the short strings in the arguments of calls
// such as names of files, and nothing of other messages.
func SearchText(m *message.Message) string {
	if m.Role != message.User && m.Role != message.Assistant {
		return ""
	}
	text := m.Text()
	if !m.HasCalls() {
		return text
	}
	var b strings.Builder
	b.WriteString(text)
	for i := range m.Parts {
		if c := m.Parts[i].Call; c != nil {
			appendArguments(&b, c.Arguments)
		}
	}
	return strings.TrimSpace(b.String())
}

// appendArguments appends a line with the short strings among the values of a
// JSON text.
func appendArguments(b *strings.Builder, arguments string) {
	if !strings.Contains(arguments, `:"`) && !strings.Contains(arguments, `: "`) && !strings.Contains(arguments, `["`) {
		return
	}
	dec := jsontext.NewDecoder(strings.NewReader(arguments), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	sep := "\n"
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			return
		}
		if tok.Kind() != '"' {
			continue
		}
		if kind, n := dec.StackIndex(dec.StackDepth()); kind == '{' && n%2 == 1 {
			continue
		}
		if s := tok.String(); s != "" && len(s) <= shortArgument {
			b.WriteString(sep + s)
			sep = " "
		}
	}
}
