package message

import "slices"

// What a hook adds to a request stands behind the last message of that request
// and stays there, so that the next request begins with the same bytes. It is
// no part of what was said: Text leaves it out, and so does the JSON form of the
// message that carries it. There, the message that answers the request holds it,
// from where Reinject brings it back.

// Inject returns a copy of m with text behind its content that is sent with it.
func (m *Message) Inject(text string) *Message {
	c := *m
	c.Parts = append(slices.Clip(m.Parts), Part{Kind: KindText, Text: text, Injected: true})
	return &c
}

// InjectedText returns what was injected into m; empty if nothing was.
func (m *Message) InjectedText() string {
	text := ""
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Injected {
			text += p.Text
		}
	}
	return text
}

// Clean returns m without what was injected, m itself if nothing was.
func (m *Message) Clean() *Message {
	injected := func(p Part) bool { return p.Injected }
	if !slices.ContainsFunc(m.Parts, injected) {
		return m
	}
	c := *m
	c.Parts = slices.DeleteFunc(slices.Clone(m.Parts), injected)
	return &c
}

// Reinject returns h with what was injected into its requests where it was, as
// far as the answers tell. It is for histories that come from their JSON form.
func Reinject(h History) History {
	msgs := h.msgs
	for i := 1; i < len(msgs); i++ {
		m, before := h.msgs[i], msgs[i-1]
		if m.Injected == "" || before.Role != User && before.Role != Tool || before.InjectedText() != "" {
			continue
		}
		if len(msgs) > 0 && &msgs[0] == &h.msgs[0] {
			msgs = slices.Clone(msgs)
		}
		msgs[i-1] = before.Inject(m.Injected)
	}
	return History{msgs: msgs}
}
