package store

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rondo-engine/rondo/message"
)

// Searcher is a Store that finds messages by what was said in them.
type Searcher interface {
	// Search returns messages of users and assistants whose text holds every
	// term of query (see Terms), whatever its case. The newest session comes
	// first, and in it the newest message. Tool output is not searched.
	Search(ctx context.Context, query string, o SearchOptions) ([]Hit, error)
}

// SearchOptions narrow a search.
type SearchOptions struct {
	// Limit bounds the number of hits; 0 stands for 20.
	Limit int
	// Workspace and Session restrict to one directory and one session when set.
	Workspace, Session string
}

// DefaultSearchLimit is the number of hits when SearchOptions name none.
const DefaultSearchLimit = 20

// Hit is a message that a search found.
type Hit struct {
	// Session and Title name the session, MessageID and Seq the message in
	// it; Seq counts from 0.
	Session, Title, MessageID string
	Seq                       int
	Role                      message.Role
	// Snippet is the text around the first match, on one line; the match
	// itself is Snippet[Start:End].
	Snippet    string
	Start, End int
}

// Terms splits a query into what must occur: words, and phrases in double
// quotes.
func Terms(query string) []string {
	var terms []string
	for i, piece := range strings.Split(query, `"`) {
		if i%2 == 0 {
			terms = append(terms, strings.Fields(piece)...)
		} else if p := strings.TrimSpace(piece); p != "" {
			terms = append(terms, p)
		}
	}
	return terms
}

// snippetSide is how many bytes a snippet shows at most on each side of a match.
const snippetSide = 80

// SetSnippet cuts the snippet of h out of text around the first of terms that
// occurs in it.
func (h *Hit) SetSnippet(text string, terms []string) {
	start, end := 0, 0
	for _, t := range terms {
		if i, j := foldIndex(text, t); i >= 0 {
			start, end = i, j
			break
		}
	}
	from, to := max(0, start-snippetSide), min(len(text), end+snippetSide)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	head, tail := "", ""
	if from > 0 {
		head = "…"
	}
	if to < len(text) {
		tail = "…"
	}
	h.Snippet = head + oneLine(text[from:to]) + tail
	h.Start, h.End = len(head)+start-from, len(head)+end-from
}

// oneLine puts a space for each control character, which keeps the length.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}

// foldIndex finds the first place where term occurs in s, whatever its case,
// and where it ends; -1 when there is none.
func foldIndex(s, term string) (start, end int) {
	if i := strings.Index(s, term); i >= 0 {
		return i, i + len(term)
	}
	for i := range s {
		if n := foldPrefix(s[i:], term); n > 0 {
			return i, i + n
		}
	}
	return -1, -1
}

// foldPrefix returns the length of the start of s that equals term but for
// case, or 0.
func foldPrefix(s, term string) int {
	n := 0
	for _, want := range term {
		got, size := utf8.DecodeRuneInString(s[n:])
		if size == 0 || got != want && unicode.ToLower(got) != unicode.ToLower(want) {
			return 0
		}
		n += size
	}
	return n
}
