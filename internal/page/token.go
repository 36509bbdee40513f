package page

import (
	"html"
	"strings"
)

// token is a piece of an HTML text: text alone, or a tag.
type token struct {
	// text is set for text, with its entities resolved.
	text string
	// name is that of a tag, in lower case; end tells a tag that closes.
	name  string
	end   bool
	attrs []attr
}

// attr is an attribute; its name is in lower case.
type attr struct{ name, value string }

// scanner takes an HTML text apart, the way browsers do with all that is
// malformed: it never fails, and each byte is looked at a bounded number of
// times. Comments and declarations are passed over.
type scanner struct {
	rest string
	// raw is the element whose content is text up to its end tag.
	raw string
}

// next returns the next token. It reports whether there was one.
func (s *scanner) next() (token, bool) {
	for s.rest != "" {
		if s.raw != "" {
			if t, ok := s.rawText(); ok {
				return t, true
			}
			continue
		}
		i := markup(s.rest)
		if i > 0 {
			text := s.rest[:i]
			s.rest = s.rest[i:]
			return token{text: html.UnescapeString(text)}, true
		}
		if s.rest[1] == '!' || s.rest[1] == '?' {
			s.skip()
			continue
		}
		if t := s.tag(); t.name != "" {
			if !t.end && isRaw(t.name) {
				s.raw = t.name
			}
			return t, true
		}
	}
	return token{}, false
}

// markup returns where the first markup of text begins, its length if there is
// none: < counts only before a letter, /, ! and ?.
func markup(text string) int {
	for i := 0; ; i++ {
		at := strings.IndexByte(text[i:], '<')
		if at < 0 || i+at+1 >= len(text) {
			return len(text)
		}
		i += at
		if c := text[i+1]; isLetter(c) || c == '/' || c == '!' || c == '?' {
			return i
		}
	}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// skip passes over a comment, a declaration or a processing instruction.
func (s *scanner) skip() {
	end := ">"
	if strings.HasPrefix(s.rest, "<!--") {
		end = "-->"
		if strings.HasPrefix(s.rest, "<!-->") || strings.HasPrefix(s.rest, "<!--->") {
			end = ">"
		}
	} else if strings.HasPrefix(s.rest, "<![CDATA[") {
		end = "]]>"
	}
	if i := strings.Index(s.rest, end); i >= 0 {
		s.rest = s.rest[i+len(end):]
		return
	}
	s.rest = ""
}

// rawText returns the content of the element raw; its end tag follows.
func (s *scanner) rawText() (token, bool) {
	end := len(s.rest)
	for i := 0; i < len(s.rest); i++ {
		at := strings.Index(s.rest[i:], "</")
		if at < 0 {
			break
		}
		i += at
		name := s.rest[i+2:]
		if len(name) >= len(s.raw) && strings.EqualFold(name[:len(s.raw)], s.raw) && (len(name) == len(s.raw) || !isLetter(name[len(s.raw)])) {
			end = i
			break
		}
	}
	text, kind := s.rest[:end], s.raw
	s.rest, s.raw = s.rest[end:], ""
	if text == "" {
		return token{}, false
	}
	if kind == "title" || kind == "textarea" {
		text = html.UnescapeString(text)
	}
	return token{text: text}, true
}

// isRaw reports whether the content of an element is text, whatever it looks
// like.
func isRaw(name string) bool {
	switch name {
	case "script", "style", "title", "textarea", "iframe", "noembed", "noframes", "xmp":
		return true
	}
	return false
}

// tag reads the tag that s.rest begins with. Its name is empty for </> and the
// like, which are passed over.
func (s *scanner) tag() token {
	t := token{end: s.rest[1] == '/'}
	i := 1
	if t.end {
		i = 2
	}
	start := i
	for i < len(s.rest) && !isSpace(s.rest[i]) && s.rest[i] != '>' && s.rest[i] != '/' {
		i++
	}
	if start < len(s.rest) && isLetter(s.rest[start]) {
		t.name = strings.ToLower(s.rest[start:i])
	}
	for i < len(s.rest) && s.rest[i] != '>' {
		var a attr
		a, i = attribute(s.rest, i)
		if a.name != "" && !t.end && len(t.attrs) < maxAttrs {
			t.attrs = append(t.attrs, a)
		}
	}
	s.rest = s.rest[min(i+1, len(s.rest)):]
	return t
}

// maxAttrs is how many attributes of a tag count.
const maxAttrs = 100

// attribute reads the attribute at text[i:] and returns where what follows
// begins, beyond i.
func attribute(text string, i int) (attr, int) {
	for i < len(text) && (isSpace(text[i]) || text[i] == '/') {
		i++
	}
	start := i
	for i < len(text) && !isSpace(text[i]) && text[i] != '=' && text[i] != '>' && text[i] != '/' {
		i++
	}
	a := attr{name: strings.ToLower(text[start:i])}
	at := i
	for at < len(text) && isSpace(text[at]) {
		at++
	}
	if at >= len(text) || text[at] != '=' {
		return a, i
	}
	for at++; at < len(text) && isSpace(text[at]); {
		at++
	}
	if at >= len(text) {
		return a, at
	}
	if q := text[at]; q == '"' || q == '\'' {
		value, _, found := strings.Cut(text[at+1:], string(q))
		a.value = html.UnescapeString(value)
		at += 1 + len(value)
		if found {
			at++
		}
		return a, at
	}
	start = at
	for at < len(text) && !isSpace(text[at]) && text[at] != '>' {
		at++
	}
	a.value = html.UnescapeString(text[start:at])
	return a, at
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }
