package window

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
)

const (
	// worthShrinking is the length in bytes from which on a result is shrunk.
	worthShrinking = 300
	// longArgument is the length in bytes from which on a string in the
	// arguments of an old call is cut.
	longArgument = 400
	// shrunkMark begins a result that was shrunk.
	shrunkMark = "[An old result, shrunk: "
)

// spiller saves the whole of a result and returns where; see View.Spill.
type spiller = func(call *message.ToolCall, text string) (path string, err error)

// shrink returns msgs with the results of tools made one line each: what, where
// and how much. What cannot be read elsewhere is saved by spill, which may be
// nil. Messages that stay as they are stay the same pointers.
func shrink(msgs []*message.Message, spill spiller) []*message.Message {
	out := make([]*message.Message, len(msgs))
	calls := map[string]*message.ToolCall{}
	for i, m := range msgs {
		out[i] = m
		switch m.Role {
		case message.Assistant:
			for _, c := range m.Calls() {
				calls[c.ID] = c
			}
			out[i] = shrinkCalls(m)
		case message.Tool:
			out[i] = shrinkResult(m, calls[m.ToolCallID], spill)
		}
	}
	return out
}

// shrinkResult returns a line in place of a result.
func shrinkResult(m *message.Message, c *message.ToolCall, spill spiller) *message.Message {
	text := m.Text()
	media := 0
	for i := range m.Parts {
		if m.Parts[i].Media != nil {
			media++
		}
	}
	if strings.HasPrefix(text, shrunkMark) {
		return firstLine(m, text)
	}
	if media == 0 && len(text) <= worthShrinking {
		return m
	}
	if c == nil {
		c = &message.ToolCall{ID: m.ToolCallID, Name: m.ToolName, Arguments: "{}"}
	}
	status := m.Status
	if status == "" {
		status = message.StatusOK
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s %s: %s, %d lines, %d characters", shrunkMark, c.Name, OneLine(c.Arguments, 120), status,
		strings.Count(text, "\n")+1, utf8.RuneCountInString(text))
	if media > 0 {
		fmt.Fprintf(&b, " and %d images or files", media)
	}
	b.WriteString(whereabouts(c, text, spill))
	b.WriteByte(']')
	return saying(m, b.String())
}

// saying returns a copy of m with another text. What was injected stays: what is
// sent must be what the answer to it says.
func saying(m *message.Message, text string) *message.Message {
	c := *m
	c.ID = ""
	c.Parts = []message.Part{message.Text(text)}
	if injected := m.InjectedText(); injected != "" {
		return c.Inject(injected)
	}
	return &c
}

// firstLine returns m with nothing but the first line of its text.
func firstLine(m *message.Message, text string) *message.Message {
	line, _, more := strings.Cut(text, "\n")
	if !more {
		return m
	}
	return saying(m, line)
}

// wholeIn is how a result that was cut names the file that has all of it.
const wholeIn = "; the whole is in "

// whereabouts says where the whole of a result can be read.
func whereabouts(c *message.ToolCall, text string, spill spiller) string {
	if _, after, ok := strings.Cut(text, wholeIn); ok {
		if path, _, ok := strings.Cut(after, "]"); ok {
			return wholeIn + path
		}
	}
	if spill == nil || text == "" {
		return ""
	}
	path, err := spill(c, text)
	if err != nil {
		return "; saving the whole failed: " + err.Error()
	}
	return wholeIn + path
}

// shrinkCalls returns m with long strings in the arguments of its calls cut.
func shrinkCalls(m *message.Message) *message.Message {
	short := m
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Call == nil || len(p.Call.Arguments) <= longArgument {
			continue
		}
		arguments, ok := cutStrings(p.Call.Arguments)
		if !ok {
			continue
		}
		if short == m {
			c := *m
			c.ID = ""
			c.Parts = append([]message.Part(nil), m.Parts...)
			short = &c
		}
		call := *p.Call
		call.Arguments = arguments
		short.Parts[i].Call = &call
	}
	return short
}

// cutStrings cuts the long strings in a JSON text. It reports whether there were
// any.
func cutStrings(text string) (string, bool) {
	var out strings.Builder
	dec := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	enc := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	cut := false
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			break
		}
		if tok.Kind() == '"' {
			if s := tok.String(); len(s) > longArgument {
				cut = true
				tok = jsontext.String(fmt.Sprintf("%s… [%d characters, cut]", OneLine(s, 80), utf8.RuneCountInString(s)))
			}
		}
		if enc.WriteToken(tok) != nil {
			return "", false
		}
		if dec.StackDepth() == 0 {
			return strings.TrimSpace(out.String()), cut
		}
	}
	return "", false
}

// OneLine returns the first n bytes of s, whole characters, on one line.
func OneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// squeeze cuts the results in msgs so that they take about limit bytes together;
// each may keep its even share.
func squeeze(msgs []*message.Message, limit int, spill spiller) []*message.Message {
	results := 0
	for _, m := range msgs {
		if m.Role == message.Tool {
			results++
		}
	}
	if results == 0 {
		return msgs
	}
	share := max(limit/results, 2*worthShrinking)
	out := make([]*message.Message, len(msgs))
	calls := map[string]*message.ToolCall{}
	for i, m := range msgs {
		for _, c := range m.Calls() {
			calls[c.ID] = c
		}
		out[i] = m
		if text := m.Text(); m.Role == message.Tool && len(text) > share {
			line := shrinkResult(m, calls[m.ToolCallID], spill)
			line.Parts[0].Text += "\n" + headTail(text, share-len(line.Parts[0].Text))
			out[i] = line
		}
	}
	return out
}

// headTail keeps about limit bytes of text, from its head and its tail.
func headTail(text string, limit int) string {
	if limit = max(limit, 100); len(text) <= limit {
		return text
	}
	head, tail := limit*7/10, len(text)-limit*3/10
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[… %d bytes …]\n%s", text[:head], tail-head, text[tail:])
}
