package web

import (
	"context"
	_ "embed" // for the text of the tool
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/tool"
)

//go:embed fetch.md
var fetchText string

type fetchArgs struct {
	URL    string `json:"url"`
	Start  int    `json:"start,omitzero" jsonschema:"where to go on, as the last piece said"`
	Limit  int    `json:"limit,omitzero" jsonschema:"bytes of text, 40000 by default"`
	Raw    bool   `json:"raw,omitzero" jsonschema:"the HTML itself"`
	Method string `json:"method,omitzero" enum:"GET,HEAD"`
}

// pieceBytes is how much text comes at once; it stays below the limit of a
// result, so that it is not cut a second time.
const pieceBytes = 40_000

func fetchTool(f *fetcher) *tool.Tool {
	return tool.Must(tool.New(tool.Tool{
		Name: "web_fetch", Description: strings.TrimSpace(fetchText), Toolset: Toolset, ReadOnly: true, Untrusted: true,
		Hidden: f.Closed != "", Timeout: 2 * f.Timeout,
	}, func(ctx context.Context, _ tool.Call, a fetchArgs) (tool.Result, error) {
		if a.Method == http.MethodHead {
			return f.head(ctx, a.URL)
		}
		return f.fetch(ctx, a)
	}))
}

// head returns the status line and the headers.
func (f *fetcher) head(ctx context.Context, address string) (tool.Result, error) {
	got, err := f.get(ctx, http.MethodHead, address)
	if err != nil {
		return tool.Result{}, err
	}
	lines := []string{got.heading("")}
	for name, values := range got.header {
		lines = append(lines, name+": "+strings.Join(values, ", "))
	}
	slices.Sort(lines[1:])
	return tool.Result{Text: strings.Join(lines, "\n"), Status: got.outcome()}, nil
}

// fetch returns a piece of the text, or an image or document.
func (f *fetcher) fetch(ctx context.Context, a fetchArgs) (tool.Result, error) {
	key := fmt.Sprint(a.Raw, " ", a.URL)
	if a.Start > 0 {
		if got, d, ok := f.recent.get(key, f.Now()); ok {
			return got.piece(d, a), nil
		}
	}
	got, err := f.get(ctx, http.MethodGet, a.URL)
	if err != nil {
		return tool.Result{}, err
	}
	if part := got.media(); part != nil {
		return got.shown(*part)
	}
	d, err := got.document(a.Raw, false)
	if err != nil {
		return tool.Result{}, err
	}
	if len(d.text) > pieceBytes {
		f.recent.put(key, f.Now(), got, d)
	}
	return got.piece(d, a), nil
}

// shown hands over an image or a document.
func (f *found) shown(part message.Part) (tool.Result, error) {
	if f.note != "" {
		return tool.Result{}, fmt.Errorf("%s (%s) cannot be shown: %s", f.url.Redacted(), f.kind, f.note)
	}
	return tool.Result{
		Text: f.heading("") + fmt.Sprintf("\n%s, %d bytes", f.kind, len(f.body)), Media: []message.Part{part}, Status: f.outcome(),
	}, nil
}

// piece returns the part of a text that was asked for, with what was found out
// about it in front and how to go on behind.
func (f *found) piece(d document, a fetchArgs) tool.Result {
	limit := a.Limit
	if limit <= 0 || limit > pieceBytes {
		limit = pieceBytes
	}
	start := runeStart(d.text, min(max(a.Start, 0), len(d.text)))
	end := len(d.text)
	if end-start > limit {
		end = runeStart(d.text, start+limit)
		if i := strings.LastIndexByte(d.text[start:end], '\n'); i > limit/2 {
			end = start + i + 1
		}
		if end == start { // one character is longer than the limit
			_, n := utf8.DecodeRuneInString(d.text[start:])
			end += n
		}
	}
	text := f.heading(d.title) + "\n\n" + d.text[start:end]
	switch {
	case d.text == "":
		text = f.heading(d.title) + "\n\n(there is no text)"
	case start == len(d.text):
		text = f.heading(d.title) + fmt.Sprintf("\n\n(the text has only %d bytes)", len(d.text))
	case end < len(d.text):
		text = strings.TrimSuffix(text, "\n") + fmt.Sprintf("\n\n[bytes %d to %d of %d; go on with start %d]", start, end, len(d.text), end)
	}
	if !d.whole && end == len(d.text) {
		text += "\n\n[this is not all of it: " + f.incomplete() + "]"
	}
	return tool.Result{Text: text, Status: f.outcome(), Truncated: start > 0 || end < len(d.text) || !d.whole}
}

func (f *found) incomplete() string {
	if f.note != "" {
		return f.note
	}
	return "the page has more elements than are read"
}

// runeStart returns i, or the place before it where a character begins.
func runeStart(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

// heading says in the first lines of a result what was found where.
func (f *found) heading(title string) string {
	text := f.url.Redacted()
	if asked, err := parse(f.asked); err == nil && asked.String() != f.url.String() {
		text += " (redirected from " + asked.Redacted() + ")"
	}
	if f.code != http.StatusOK {
		text += "\n" + f.status
	}
	if title != "" {
		text += "\nTitle: " + title
	}
	return text
}

// outcome is that of a tool call.
func (f *found) outcome() message.Status {
	if f.code >= 400 {
		return message.StatusError
	}
	return message.StatusOK
}
