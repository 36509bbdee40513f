package message

import (
	"fmt"
	"math"
	"slices"
)

// gatherSystem leaves system messages at the start and moves the text of later
// ones into a user message: the one before, the one behind, or else the
// nearest, so that nothing comes between calls and their results.
func (r *repair) gatherSystem(in []entry) []entry {
	out := make([]entry, 0, len(in))
	var waiting []entry // for the next user message
	user, started := -1, false
	for i, e := range in {
		switch {
		case e.Role != System:
			if e.Role == User {
				e = prepend(waiting, e)
				waiting, user = nil, len(out)
			}
			out, started = append(out, e), true
		case !started:
			out = append(out, e)
		default:
			r.note(RuleSystem, e.at, "A system message stands only at the start; its text moved into the nearest user message.")
			e = e.with(func(m *Message) { m.Role = User })
			if user < 0 || user < len(out)-1 && nextRole(in[i+1:]) == User {
				waiting = append(waiting, e)
			} else {
				out[user] = join([]entry{out[user], e})
			}
		}
	}
	if len(waiting) > 0 {
		out = append(out, join(waiting))
	}
	return out
}

func prepend(waiting []entry, e entry) entry {
	if len(waiting) == 0 {
		return e
	}
	joined := join(append(waiting, e))
	joined.at = e.at
	return joined
}

// nextRole returns the role of the first message that is not a system message.
func nextRole(in []entry) Role {
	for _, e := range in {
		if e.Role != System {
			return e.Role
		}
	}
	return ""
}

// join makes one message of several of the same role, with a blank line between
// their texts.
func join(run []entry) entry {
	if len(run) == 1 {
		return run[0]
	}
	return run[0].with(func(m *Message) {
		for _, e := range run[1:] {
			m.Parts = joinParts(m.Parts, e.Parts)
			m.Time = e.Time
			if e.Origin != m.Origin {
				m.Origin = Origin{}
			}
		}
	})
}

// joinParts appends b to a. Where the last text of a would run into the first
// of b, the two become one with a blank line between, or, with other parts
// between them or state on them, the blank line goes to the end of one.
func joinParts(a, b []Part) []Part {
	isText := func(p Part) bool { return p.Kind == KindText && p.Text != "" && !p.Injected }
	first := slices.IndexFunc(b, isText)
	last := len(a) - 1
	for last >= 0 && !isText(a[last]) {
		last--
	}
	start := len(a)
	a = append(a, b...)
	if first < 0 || last < 0 || slices.ContainsFunc(a[last+1:start+first], separates) {
		return a
	}
	first += start
	switch {
	case a[first].State == nil && a[last].State == nil && first == last+1:
		a[last].Text += "\n\n" + a[first].Text
		return slices.Delete(a, first, first+1)
	case a[first].State == nil:
		a[first].Text = "\n\n" + a[first].Text
	case a[last].State == nil:
		a[last].Text += "\n\n"
	}
	return a
}

// separates reports whether p stands between two texts for the reader.
func separates(p Part) bool {
	return p.Kind == KindImage || p.Kind == KindFile || p.Kind == KindToolCall
}

// alternate writes the turns down so that the roles alternate. If the calls of
// the last turn stay open it returns what results they have.
func (r *repair) alternate(turns []turn) (out, results []*Message) {
	out = make([]*Message, 0, len(turns)*2)
	for len(turns) > 0 {
		n := run(turns)
		t := turns[n-1]
		t.entry = r.merge(turns[:n])
		turns = turns[n:]
		out = r.bridge(out, t.entry)
		out = append(out, t.Message)
		if len(turns) == 0 && r.open && t.missing() {
			return out, t.known()
		}
		next := math.MaxInt
		if len(turns) > 0 {
			next = turns[0].at
		}
		out = r.answer(out, &t, next)
	}
	return out, nil
}

// run returns how many of the turns become one message.
func run(turns []turn) int {
	n := 1
	for n < len(turns) && turns[n].Role == turns[0].Role && turns[0].Role != System && len(turns[n-1].calls) == 0 {
		n++
	}
	return n
}

func (r *repair) merge(run []turn) entry {
	entries := make([]entry, len(run))
	for i, t := range run {
		entries[i] = t.entry
		if i > 0 {
			r.note(RuleMerged, t.at, fmt.Sprintf("The %s message follows another (message %d); the two became one.", t.Role, run[i-1].at))
		}
	}
	return join(entries)
}

// bridge puts in what must stand between the last message of out and e.
func (r *repair) bridge(out []*Message, e entry) []*Message {
	var last Role
	if len(out) > 0 {
		last = out[len(out)-1].Role
	}
	switch {
	case e.Role == User && last == Tool:
		r.note(RuleUnfinished, e.at, "A user message follows tool results; an assistant message that says interrupted was put between them.")
		return append(out, NewAssistant(Text(InterruptedText)))
	case e.Role == Assistant && (last == "" || last == System):
		r.note(RuleStart, e.at, "An assistant message came first; a user message was put before it.")
		return append(out, NewUser(StartText))
	}
	return out
}

// answer appends the results of t in the order of its calls. The turn behind it
// begins at the index next of the input.
func (r *repair) answer(out []*Message, t *turn, next int) []*Message {
	before := t.at
	for i, call := range t.calls {
		e := t.results[i]
		switch {
		case e.Message == nil:
			r.note(RuleMissing, t.at, fmt.Sprintf("The call %q of %s has no result; one that says interrupted was put in.", call.ID, call.Name))
			out = append(out, NewResult(call, StatusInterrupted, InterruptedResult))
			continue
		case e.at < before || e.at > next:
			r.note(RuleMoved, e.at, fmt.Sprintf("The result of call %q was out of order; it moved to its place behind message %d.", call.ID, t.at))
		}
		before = max(before, e.at)
		out = append(out, e.Message)
	}
	return out
}
