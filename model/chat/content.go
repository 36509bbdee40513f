package chat

import (
	"slices"
	"strings"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// noOutput is the content of a result without any: some refuse an empty one.
const noOutput = "[no output]"

// item is a piece of content: text, or media.
type item struct {
	text  string
	media *message.Media
	image bool
}

// items returns the content of m as the endpoint takes it. With moved, media
// that cannot stand in m is appended to it and a note put in its place.
func (e *encoder) items(m *message.Message, moved *[]item) []item {
	var items []item
	for i := range m.Parts {
		p := &m.Parts[i]
		switch {
		case p.Kind == message.KindText && p.Text != "":
			items = append(items, item{text: p.Text})
		case p.Media != nil:
			items = append(items, e.media(p, m.Role, moved))
		}
	}
	if len(items) == 0 {
		items = append(items, item{text: noOutput})
	}
	return items
}

func (e *encoder) media(p *message.Part, role message.Role, moved *[]item) item {
	it := item{media: p.Media, image: p.Kind == message.KindImage}
	name := string(p.Kind)
	if p.Media.Name != "" {
		name += " " + p.Media.Name
	}
	switch {
	case it.image && e.profile.NoImages:
		return item{text: "[" + name + " left out: this model takes no images]"}
	case !it.image && p.Media.Data == "" && !strings.HasPrefix(p.Media.URL, "data:"):
		return item{text: "[" + name + ": " + p.Media.URL + "]"} // files go by value only
	case role != message.Tool || !e.profile.NoToolImages:
		return it
	case refusesUserAfterResults(e.profile):
		return item{text: "[" + name + " left out: this model takes only text from tools]"}
	}
	*moved = append(*moved, it)
	return item{text: "[" + name + ": see below]"}
}

// refusesUserAfterResults reports whether a user message may not follow the
// results of tools.
func refusesUserAfterResults(p *model.Profile) bool { return p.ToolIDAlphabet == alphabetMistral }

// withNote returns items with a note behind the last text.
func withNote(items []item, note string) []item {
	if note == "" {
		return items
	}
	return append(slices.Clip(items), item{text: note})
}

// appendContent appends items: as one string when they are only text, which all
// servers take, and as an array otherwise, or when the end is to be marked.
func appendContent(dst []byte, items []item, mark bool) []byte {
	if !mark && !slices.ContainsFunc(items, func(it item) bool { return it.media != nil }) {
		return wire.AppendString(dst, joinTexts(items))
	}
	sep := byte('[')
	for i := range items {
		dst = append(dst, sep)
		dst = appendItem(dst, &items[i])
		if mark && i == len(items)-1 {
			dst = append(dst, cacheMark...)
		}
		dst = append(dst, '}')
		sep = ','
	}
	return append(dst, ']')
}

func joinTexts(items []item) string {
	if len(items) == 1 {
		return items[0].text
	}
	texts := make([]string, len(items))
	for i := range items {
		texts[i] = items[i].text
	}
	return strings.Join(texts, "\n\n")
}

// appendItem appends a content part without its closing brace.
func appendItem(dst []byte, it *item) []byte {
	switch {
	case it.media == nil:
		dst = append(dst, `{"type":"text","text":`...)
		return wire.AppendString(dst, it.text)
	case it.image:
		dst = append(dst, `{"type":"image_url","image_url":{"url":`...)
		return append(appendURL(dst, it.media), '}')
	}
	dst = append(dst, `{"type":"file","file":{`...)
	if it.media.Name != "" {
		dst = append(dst, `"filename":`...)
		dst = append(wire.AppendString(dst, it.media.Name), ',')
	}
	dst = append(dst, `"file_data":`...)
	return append(appendURL(dst, it.media), '}')
}

// appendURL appends where m is found: its address, or itself as a data URL.
func appendURL(dst []byte, m *message.Media) []byte {
	if m.URL != "" {
		return wire.AppendString(dst, m.URL)
	}
	return wire.AppendString(dst, "data:"+m.MIME+";base64,"+m.Data)
}
