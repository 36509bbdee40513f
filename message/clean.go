package message

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// clean drops what cannot be sent and makes all text valid UTF-8.
func (r *repair) clean(msgs []*Message) []entry {
	out := make([]entry, 0, len(msgs))
	for i, m := range msgs {
		if m == nil {
			r.note(RuleEmpty, i, "There was no message; it was left out.")
			continue
		}
		if !knownRole(m.Role) {
			r.note(RuleRole, i, "The role \""+strings.ToValidUTF8(string(m.Role), "\uFFFD")+"\" is unknown; the message was dropped.")
			continue
		}
		e := entry{m, i}
		if !fitting(m) {
			r.note(RulePart, i, "A part was without content or does not belong into a "+string(m.Role)+" message; it was dropped.")
			e = e.with(func(m *Message) {
				m.Parts = slices.DeleteFunc(m.Parts, func(p Part) bool { return !fits(m.Role, &p) })
			})
		}
		if empty(e.Message) {
			r.note(RuleEmpty, i, "The "+string(m.Role)+" message has no content that can be sent; it was dropped.")
			continue
		}
		if !valid(e.Message) {
			r.note(RuleEncoding, i, "Text was not valid UTF-8; U+FFFD took the place of what is not.")
			e = e.with(mend)
		}
		out = append(out, e)
	}
	return out
}

func knownRole(role Role) bool {
	return role == System || role == User || role == Assistant || role == Tool
}

func fitting(m *Message) bool {
	for i := range m.Parts {
		if !fits(m.Role, &m.Parts[i]) {
			return false
		}
	}
	return true
}

// fits reports whether p has content and may stand in a message of role.
func fits(role Role, p *Part) bool {
	switch p.Kind {
	case KindText:
		return true
	case KindReasoning:
		return role == Assistant
	case KindToolCall:
		return role == Assistant && p.Call != nil
	case KindImage, KindFile:
		return role != System && p.Media != nil && (p.Media.Data != "" || p.Media.URL != "")
	case KindOpaque:
		return role != System && p.State != nil
	}
	return false
}

// empty reports whether nothing of m could be sent. A result may be empty.
func empty(m *Message) bool {
	if m.Role == Tool {
		return false
	}
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case KindText:
			if strings.TrimSpace(p.Text) != "" {
				return false
			}
		case KindReasoning:
			if p.State != nil {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// texts calls f with each string of m that is sent.
func texts(m *Message, f func(*string)) {
	f(&m.ToolCallID)
	f(&m.ToolName)
	for i := range m.Parts {
		p := &m.Parts[i]
		f(&p.Text)
		if c := p.Call; c != nil {
			f(&c.ID)
			f(&c.Name)
			f(&c.Arguments)
		}
		if d := p.Media; d != nil {
			f(&d.MIME)
			f(&d.Data)
			f(&d.URL)
			f(&d.Name)
		}
		if s := p.State; s != nil {
			f(&s.Kind)
			f(&s.Data)
		}
	}
}

func valid(m *Message) bool {
	ok := true
	texts(m, func(s *string) { ok = ok && utf8.ValidString(*s) })
	return ok
}

// mend makes the texts of m valid, in copies of what its parts point to.
func mend(m *Message) {
	for i := range m.Parts {
		p := &m.Parts[i]
		p.Call, p.Media, p.State = clone(p.Call), clone(p.Media), clone(p.State)
	}
	texts(m, func(s *string) { *s = strings.ToValidUTF8(*s, "\uFFFD") })
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}
