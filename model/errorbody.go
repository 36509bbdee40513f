package model

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// said is what a provider said in the body of an error.
type said struct {
	// codes are its codes, types and reasons, messages its words, in order
	// of weight.
	codes, messages []string
	// status is the HTTP status that it names, 0 for none.
	status int
	// window is a context window that it names, 0 for none.
	window int
	// waits are the values of members that name a wait, by folded name.
	waits map[string]any
	// header are header fields that a gateway passes on.
	header map[string][]string
}

const (
	maxNesting = 8   // of the objects and of JSON in text that are looked into
	maxWords   = 300 // characters of a message that a person is shown
)

// readBody reads an error body of any form.
func readBody(body []byte) *said {
	s := &said{waits: map[string]any{}, header: map[string][]string{}}
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\uFEFF")))
	switch {
	case len(body) == 0:
	case body[0] == '<':
		s.message(pageTitle(string(body)))
	case isEventStream(body):
		for line := range strings.Lines(string(body)) {
			if data, ok := strings.CutPrefix(line, "data:"); ok && strings.Contains(data, `"error"`) {
				s.parse(data, maxNesting)
			}
		}
	case !s.parse(string(body), maxNesting):
		s.phrase(string(body), maxNesting)
	}
	return s
}

func isEventStream(body []byte) bool {
	return bytes.HasPrefix(body, []byte("data:")) || bytes.HasPrefix(body, []byte("event:")) || bytes.Contains(body, []byte("\ndata:"))
}

// pageTitle returns what can be told of an HTML page.
func pageTitle(page string) string {
	const tag = "<title>"
	for i := 0; i+len(tag) <= len(page); i++ {
		if page[i] != '<' || !strings.EqualFold(page[i:i+len(tag)], tag) {
			continue
		}
		if title, _, ok := strings.Cut(page[i+len(tag):], "<"); ok && strings.TrimSpace(title) != "" {
			return "an HTML page: " + title
		}
		break
	}
	return "an HTML page instead of an error"
}

// parse reads text as JSON and reports whether it is.
func (s *said) parse(text string, depth int) bool {
	var v any
	if err := json.Unmarshal([]byte(text), &v, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return false
	}
	s.value(v, depth)
	return true
}

func (s *said) value(v any, depth int) {
	if depth == 0 {
		return
	}
	switch v := v.(type) {
	case string:
		s.phrase(v, depth-1)
	case []any:
		for _, e := range v {
			s.value(e, depth-1)
		}
	case map[string]any:
		s.object(v, depth-1)
	}
}

// phrase takes a message, or the JSON that it is or ends in.
func (s *said) phrase(text string, depth int) {
	start, end := strings.IndexAny(text, "{["), strings.LastIndexAny(text, "}]")
	if depth > 0 && start >= 0 && end > start {
		n := len(s.messages)
		if s.parse(text[start:end+1], depth) && len(s.messages) > n {
			return
		}
	}
	s.message(text)
}

// message takes note of a message, on one line and without control characters,
// which would reach a person's terminal.
func (s *said) message(text string) {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if text = strings.Join(strings.Fields(text), " "); text != "" {
		s.messages = append(s.messages, text)
	}
}

// object reads an error object, or what stands around one.
func (s *said) object(m map[string]any, depth int) {
	for _, key := range []string{"code", "type", "status", "reason", "error_type", "error_code", "errorCode", "__type", "status_code"} {
		s.code(m[key])
	}
	for _, key := range []string{"message", "Message", "msg", "errorMessage", "error_description", "description", "title"} {
		if text, ok := m[key].(string); ok {
			s.phrase(text, depth)
		}
	}
	for _, key := range []string{"n_ctx", "max_model_len", "context_length", "max_context_length"} {
		if n, ok := m[key].(float64); ok && s.window == 0 {
			s.window = int(n)
		}
	}
	for key, v := range m {
		if name := foldCode(key); isWait[name] {
			s.waits[name] = v
		}
	}
	if header, ok := m["headers"].(map[string]any); ok {
		for name, v := range header {
			if value, ok := v.(string); ok {
				s.header[name] = []string{value}
			}
		}
	}
	for _, key := range []string{"error", "errors", "detail", "details", "metadata", "raw", "innererror", "response", "incomplete_details", "cause", "body"} {
		s.value(m[key], depth)
	}
}

// code takes a code, which may be the number of an HTTP status.
func (s *said) code(v any) {
	switch v := v.(type) {
	case float64:
		s.number(int(v))
	case string:
		if n, err := strconv.Atoi(v); err == nil {
			s.number(n)
		} else if v != "error" && v != "" {
			s.codes = append(s.codes, v[strings.LastIndexByte(v, '#')+1:]) // AWS puts a name space before
		}
	}
}

func (s *said) number(n int) {
	if n >= 400 && n < 600 && s.status == 0 {
		s.status = n
	}
}

// silent reports whether the body said nothing.
func (s *said) silent() bool { return len(s.messages) == 0 && len(s.codes) == 0 && s.status == 0 }

// text is all of its words.
func (s *said) text() string { return strings.Join(s.messages, "\n") }

// summary is what a person is shown: the first message that tells something.
func (s *said) summary() string {
	text := ""
	for _, m := range s.messages {
		if text = m; !strings.EqualFold(strings.TrimRight(m, "."), "provider returned error") {
			break
		}
	}
	if text == "" && len(s.codes) > 0 {
		text = s.codes[0]
	}
	if text == "" {
		return "the provider gave no reason"
	}
	return shorten(text, maxWords)
}

// shorten cuts text after n characters.
func shorten(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n]) + "…"
}
