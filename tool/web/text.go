package web

import (
	"encoding/base64"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/rondo-engine/rondo/internal/page"
	"github.com/rondo-engine/rondo/message"
)

// document is the text of what was found.
type document struct {
	title, text string
	// whole is false where the text is not that of the whole body.
	whole bool
}

// document returns the text of what was found: a page as Markdown, or with raw
// as its source; anything else as it is. With article only what a person would
// read on a page is returned, if that can be told.
func (f *found) document(raw, article bool) (document, error) {
	if !isHTML(f.kind) && !isText(f.kind, f.body) {
		return document{}, fmt.Errorf("%s is %s of %d bytes, not text: fetch it with a program in the shell if it is needed", f.url.Redacted(), f.kind, len(f.body))
	}
	d := document{text: decode(f.body, f.header.Get("Content-Type")), whole: f.note == ""}
	if !isHTML(f.kind) || raw {
		d.text = plain(strings.ReplaceAll(d.text, "\r\n", "\n"))
		return d, nil
	}
	p := page.Parse(d.text, f.url)
	d.title, d.whole = plain(p.Title), d.whole && p.Whole
	found := false
	if article {
		d.text, found = p.Article()
	}
	if !found {
		d.text = p.Markdown()
	}
	d.text = plain(d.text)
	return d, nil
}

// media returns an image or document as part of a message; nil for other things.
func (f *found) media() *message.Part {
	if !isMedia(f.kind) {
		return nil
	}
	kind := message.KindImage
	if f.kind == pdf {
		kind = message.KindFile
	}
	name := path.Base(f.url.Path)
	if name == "." || name == "/" {
		name = ""
	}
	return &message.Part{Kind: kind, Media: &message.Media{MIME: f.kind, Data: base64.StdEncoding.EncodeToString(f.body), Name: name}}
}

// plain takes out characters that nobody sees, by which a text could say
// something to a model that a person does not read: tags (U+E0000), and what
// turns the direction of writing round.
func plain(text string) string {
	if !strings.ContainsFunc(text, hides) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if hides(r) {
			return -1
		}
		return r
	}, text)
}

func hides(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x2069 || r >= 0xe0000 && r <= 0xe007f
}

// recent keeps the last documents in memory, so that one can be read on without
// being fetched again.
type recent struct {
	mu   sync.Mutex
	kept []kept
}

type kept struct {
	key  string
	at   time.Time
	got  *found
	text document
}

// How many documents are kept, and for how long.
const (
	keepDocuments = 4
	keepFor       = 10 * time.Minute
)

func (r *recent) get(key string, now time.Time) (*found, document, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.kept {
		if k.key == key && now.Sub(k.at) < keepFor {
			return k.got, k.text, true
		}
	}
	return nil, document{}, false
}

func (r *recent) put(key string, now time.Time, got *found, text document) {
	head := *got
	head.body = nil
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.kept
	r.kept = []kept{{key, now, &head, text}}
	for _, k := range old {
		if k.key != key && len(r.kept) < keepDocuments {
			r.kept = append(r.kept, k)
		}
	}
}
