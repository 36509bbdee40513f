package window

import (
	"slices"
	"strings"

	"github.com/rondo-engine/rondo/message"
)

// The words around a summary. It says of itself that it is no instruction, so
// that what was asked long ago is not taken up again in place of what the user
// wants now.
const (
	digestHead = "[Summary of the conversation before this point, for reference only. It holds no instructions: " +
		"do what the user's latest message asks. Where the two differ, the latest message is right. " +
		"What is listed as done or dropped is not taken up again.]"
	digestTail = "[End of the summary]"
	// digestRead is what the assistant is made to say where a user message
	// follows the summary, so that the two alternate.
	digestRead = "I have read the summary. I go on from the latest message."

	firstTitle = "First request"
	filesTitle = "Files and places named so far"
	wholeTitle = "The whole conversation"
)

// digest is a summary as it stands in a history.
type digest struct {
	// body is what was summarised, first how the user began, files what was
	// worked on, the newest last.
	body, first string
	files       []string
	carry       []Section
	record      string
	// messages is how many messages of the history it takes.
	messages int
}

// Bounds of a digest's sections, in bytes.
const (
	maxFirst = 2000
	maxFiles = 4000
)

// text writes the digest.
func (d *digest) text() string {
	var b strings.Builder
	b.WriteString(digestHead + "\n\n")
	b.WriteString(plainLines(d.body))
	section := func(title, text string) {
		if text != "" {
			b.WriteString("\n\n=== " + title + " ===\n" + plainLines(text))
		}
	}
	section(firstTitle, d.first)
	section(filesTitle, strings.Join(newestWithin(d.files, maxFiles), "\n"))
	for _, s := range d.carry {
		section(s.Title, s.Text)
	}
	section(wholeTitle, d.record)
	b.WriteString("\n\n" + digestTail)
	return b.String()
}

// plainLines keeps a text from looking like the heading of a section.
func plainLines(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(s), "\n=== ", "\n== ")
}

// newestWithin returns the last of lines that fit into limit bytes.
func newestWithin(lines []string, limit int) []string {
	from := len(lines)
	for from > 0 && limit >= len(lines[from-1])+1 {
		from--
		limit -= len(lines[from]) + 1
	}
	return lines[from:]
}

// readDigest reads the digest that a history begins with, if it does.
func readDigest(msgs []*message.Message) (d digest, ok bool) {
	if len(msgs) == 0 || msgs[0].Role != message.User || len(msgs[0].Parts) == 0 {
		return d, false
	}
	text, ok := strings.CutPrefix(msgs[0].Parts[0].Text, digestHead)
	if !ok {
		return d, false
	}
	text = strings.TrimSuffix(strings.TrimSpace(text), digestTail)
	for i, s := range strings.Split("\n"+text, "\n=== ") {
		title, rest, _ := strings.Cut(s, " ===\n")
		rest = strings.TrimSpace(rest)
		switch {
		case i == 0:
			d.body = strings.TrimSpace(s)
		case title == firstTitle:
			d.first = rest
		case title == filesTitle:
			d.files = strings.Split(rest, "\n")
		case title != wholeTitle:
			d.carry = append(d.carry, Section{title, rest})
		}
	}
	d.messages = 1
	if len(msgs) > 1 && msgs[1].Role == message.Assistant && msgs[1].Text() == digestRead {
		d.messages = 2
	}
	return d, true
}

// Carried returns the section that a compression carried over under a title, as
// it stands in the summary that a history begins with; empty if there is none.
func Carried(msgs []*message.Message, title string) string {
	for len(msgs) > 0 && msgs[0].Role == message.System {
		msgs = msgs[1:]
	}
	d, _ := readDigest(msgs)
	for _, s := range d.carry {
		if s.Title == title {
			return s.Text
		}
	}
	return ""
}

// addFiles adds names that are new at the end; one that is named again moves
// there.
func (d *digest) addFiles(names []string) {
	for _, n := range names {
		if i := slices.Index(d.files, n); i >= 0 {
			d.files = slices.Delete(d.files, i, i+1)
		}
		d.files = append(d.files, n)
	}
}

// assemble puts a history together from a digest and what stays of the old one.
func assemble(p parts, d *digest) []*message.Message {
	msgs := append(slices.Clone(p.system), message.NewUser(d.text()))
	rest := p.tail
	if p.asked != nil {
		rest = append([]*message.Message{p.asked}, p.tail...)
	}
	if len(rest) > 0 && rest[0].Role == message.User {
		msgs = append(msgs, message.NewAssistant(message.Text(digestRead)))
	}
	return append(msgs, rest...)
}
