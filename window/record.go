package window

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
)

// maxRecord is how long a summary made without a model may be, in bytes.
const maxRecord = 8000

// record makes a summary of what is old without a model: what the user said,
// the calls that failed or changed something by name, and the last words of the
// assistant.
func record(p parts, hide func(string) string) string {
	var users, said []string
	calls := map[string]int{}
	failed := 0
	for _, m := range p.old {
		switch m.Role {
		case message.User:
			users = append(users, "- "+OneLine(m.Text(), 400))
		case message.Assistant:
			if text := m.Text(); text != "" {
				said = append(said, "- "+OneLine(text, 300))
			}
			for _, c := range m.Calls() {
				calls[c.Name]++
			}
		case message.Tool:
			if orOK(m.Status) != message.StatusOK {
				failed++
			}
		}
	}
	var b strings.Builder
	b.WriteString("(Made from the record: no model could be had to write it.)\n")
	if p.earlier.body != "" {
		b.WriteString("\n## Before\n" + headTail(p.earlier.body, maxRecord*3/8))
	}
	list := func(title string, lines []string, limit int) {
		if lines = newestWithin(lines, limit); len(lines) > 0 {
			b.WriteString("\n## " + title + "\n" + strings.Join(lines, "\n"))
		}
	}
	list("The user said", users, maxRecord*2/8)
	list("The assistant said", said, maxRecord*2/8)
	if len(calls) > 0 {
		var names []string
		for name, n := range calls {
			names = append(names, fmt.Sprintf("%s %d times", name, n))
		}
		slices.Sort(names)
		fmt.Fprintf(&b, "\n## Tools called\n%s; %d calls failed", strings.Join(names, ", "), failed)
	}
	return hide(headTail(b.String(), maxRecord))
}

// isPlace reports whether an argument of this name tells where a call works.
func isPlace(name string) bool {
	switch name {
	case "path", "file", "file_path", "filename", "paths", "files", "dir", "directory", "url", "uri":
		return true
	}
	return false
}

// places returns the files and other places that the calls in msgs name, in
// order.
func places(msgs []*message.Message) []string {
	var all []string
	for _, m := range msgs {
		for _, c := range m.Calls() {
			all = append(all, callPlaces(c.Arguments)...)
		}
	}
	return all
}

func callPlaces(arguments string) []string {
	var found []string
	dec := jsontext.NewDecoder(strings.NewReader(arguments), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	name := ""
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			return found
		}
		if tok.Kind() != '"' {
			continue
		}
		kind, n := dec.StackIndex(dec.StackDepth())
		s := tok.String()
		switch {
		case kind == '{' && n%2 == 1:
			name = s
		case isPlace(name) && s != "" && len(s) <= 300:
			found = append(found, OneLine(s, 300))
		}
	}
}
