package anthropic

import (
	"strings"

	"github.com/rondo-engine/rondo/message"
)

// cacheMark is what a marked block ends with, before its closing brace.
const cacheMark = `,"cache_control":{"type":"ephemeral"}`

// The API takes four marks in tools, system prompt and messages together. The
// engine sets one on the system prompt, or on the last tool if there is none,
// and one on each of the last three messages.
const (
	maxMarks        = 4
	maxMessageMarks = 3
)

// markBudget returns how many marks are left after those that the profile's
// extra members set: they come first.
func (e *encoder) markBudget() int {
	if e.profile.NoCacheMarks {
		return 0
	}
	left := maxMarks
	for name, value := range e.profile.Extra {
		left -= strings.Count(value, `"cache_control"`)
		if name == "cache_control" {
			left--
		}
	}
	return max(left, 0)
}

// appendHistory appends the encoded history to pieces, cut where the marks go.
func (e *encoder) appendHistory(pieces [][]byte, history []byte, h *head) [][]byte {
	budget := e.markBudget()
	if h.marked {
		budget--
	}
	var at []int // where marks go, the last first
	for i := e.cache.Units() - 1; i >= 0 && len(at) < min(budget, maxMessageMarks); i-- {
		if start, end := e.cache.Span(i); start < end && e.markable(e.cache.Messages(i)) {
			at = append(at, end-len("}]}"))
		}
	}
	from := 0
	for i := len(at) - 1; i >= 0; i-- {
		pieces = append(pieces, history[from:at[i]], []byte(cacheMark))
		from = at[i]
	}
	return append(pieces, history[from:])
}

// markable reports whether the last block of a unit may carry a mark. One of
// thinking may not, and of blocks that only the server knows it is not sure.
func (e *encoder) markable(msgs []*message.Message) bool {
	m := msgs[len(msgs)-1]
	if m.Role == message.Tool {
		return true
	}
	for i := len(m.Parts) - 1; i >= 0; i-- {
		switch p := &m.Parts[i]; p.Kind {
		case message.KindReasoning:
			if _, ok := e.signature(p); ok {
				return false
			}
		case message.KindOpaque:
			if e.sendsOpaque(p) {
				return false
			}
		case message.KindText:
			if strings.TrimSpace(p.Text) != "" {
				return true
			}
		default:
			return true
		}
	}
	return true // the note that stands for no content
}
