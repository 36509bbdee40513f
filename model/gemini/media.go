package gemini

import (
	"path"
	"strings"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model/wire"
)

// appendMedia appends an image or a document, or a note where it cannot be shown.
func (e *encoder) appendMedia(dst []byte, p *message.Part) []byte {
	m := p.Media
	if parsed := message.ParseMedia(m.URL); parsed.Data != "" {
		parsed.Name = m.Name
		m = parsed
	}
	image := p.Kind == message.KindImage || strings.HasPrefix(m.MIME, "image/")
	switch kind := inlineType(m.MIME); {
	case image && e.profile.NoImages:
	case m.URL != "":
		return appendFile(dst, m, image)
	case kind != "":
		return appendInline(dst, kind, m.Data)
	}
	name := strings.TrimSpace(m.Name + " " + m.MIME)
	if name == "" {
		name = "a file"
	}
	return appendText(dst, "("+name+" is left out: the model cannot read it)")
}

func appendInline(dst []byte, mime, data string) []byte {
	dst = wire.AppendString(append(dst, `{"inlineData":{"mimeType":`...), mime)
	return append(wire.AppendString(append(dst, `,"data":`...), data), "}},"...)
}

// appendFile refers to a file, with its type as far as that can be told.
func appendFile(dst []byte, m *message.Media, image bool) []byte {
	mime := m.MIME
	if mime == "" {
		mime = typeByName(m.URL, image)
	}
	dst = append(dst, `{"fileData":{`...)
	if mime != "" {
		dst = append(wire.AppendString(append(dst, `"mimeType":`...), mime), ',')
	}
	return append(wire.AppendString(append(dst, `"fileUri":`...), m.URL), "}},"...)
}

// typeByName guesses the media type of what is at an address, "" for unknown.
func typeByName(address string, image bool) string {
	address, _, _ = strings.Cut(address, "?")
	switch strings.ToLower(path.Ext(address)) {
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".webp":
		return "image/webp"
	case ".gif":
		return "image/gif"
	case ".pdf":
		return "application/pdf"
	}
	if image {
		return "image/jpeg"
	}
	return ""
}

// inlineType returns the type under which the API takes media by value, "" for
// one that it does not take.
func inlineType(mime string) string {
	mime, _, _ = strings.Cut(strings.ToLower(mime), ";")
	switch class, _, _ := strings.Cut(mime, "/"); class {
	case "image", "audio", "video", "text":
		return mime
	}
	switch mime {
	case "application/pdf":
		return mime
	case "application/json", "application/xml", "application/yaml", "application/toml", "application/javascript":
		return "text/plain"
	}
	if strings.HasSuffix(mime, "+json") || strings.HasSuffix(mime, "+xml") {
		return "text/plain"
	}
	return ""
}
