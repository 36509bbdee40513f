package message

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// turn is a message that is no result, with the results of its calls.
type turn struct {
	entry
	calls []*ToolCall
	// results has a place for each call, without a message where there is
	// no result.
	results []entry
}

// missing reports whether a call of t has no result.
func (t *turn) missing() bool {
	return slices.ContainsFunc(t.results, func(e entry) bool { return e.Message == nil })
}

// known returns the results of t, nil for those missing.
func (t *turn) known() []*Message {
	known := make([]*Message, len(t.results))
	for i, e := range t.results {
		known[i] = e.Message
	}
	return known
}

// take puts the result e into the first open place that fits reports.
func (t *turn) take(e entry, fits func(*ToolCall) bool) bool {
	for i, c := range t.calls {
		if t.results[i].Message == nil && fits(c) {
			t.results[i] = e
			return true
		}
	}
	return false
}

// pair gives each result to the call that it answers.
func (r *repair) pair(in []entry) []turn {
	p := pairing{repair: r, turns: make([]turn, 0, len(in)), last: -1}
	for _, e := range in {
		if e.Role == Tool {
			p.results = append(p.results, e)
			continue
		}
		t := turn{entry: e}
		if e.Role == Assistant {
			p.settle()
			t.calls = e.Calls()
			t.results = make([]entry, len(t.calls))
			p.last = len(p.turns)
		}
		p.turns = append(p.turns, t)
	}
	p.settle()
	return p.turns
}

// pairing is the state of pair.
type pairing struct {
	*repair
	turns   []turn
	last    int     // the last assistant turn, -1 for none
	results []entry // the results behind it
	open    []int   // the turns before it that have open calls
}

// settle gives out the results behind the last assistant turn: those that name
// one of its calls first, then those that are paired by position, because they
// or their call have no id. One that names the call of an earlier turn goes
// there if that call is open.
func (p *pairing) settle() {
	var rest []entry
	for _, e := range p.results {
		if p.last < 0 || e.ToolCallID == "" || !p.turns[p.last].take(e, e.names) {
			rest = append(rest, e)
		}
	}
	for _, e := range rest {
		p.settleLoose(e)
	}
	p.results = p.results[:0]
	if p.last >= 0 && p.turns[p.last].missing() {
		p.open = append(p.open, p.last)
	}
}

func (p *pairing) settleLoose(e entry) {
	id := e.ToolCallID
	if p.last >= 0 {
		t := &p.turns[p.last]
		if id != "" && slices.ContainsFunc(t.calls, e.names) {
			p.note(RuleRepeated, e.at, fmt.Sprintf("The call %q has a result already; this one was dropped.", id))
			return
		}
		loose := func(c *ToolCall) bool { return id == "" || c.ID == "" }
		if t.take(e, func(c *ToolCall) bool { return loose(c) && c.Name == e.ToolName }) || t.take(e, loose) {
			return
		}
	}
	for _, k := range slices.Backward(p.open) {
		if id != "" && p.turns[k].take(e, e.names) {
			return
		}
	}
	p.note(RuleOrphan, e.at, fmt.Sprintf("The result %q answers no call; it was dropped.", id))
}

// names reports whether the result e says that it answers c.
func (e entry) names(c *ToolCall) bool { return c.ID == e.ToolCallID }

// nameCalls gives each call a name and an id of its own, and its result the
// same id.
func (r *repair) nameCalls(turns []turn) {
	for i := range turns {
		t := &turns[i]
		var calls []*ToolCall
		for k, c := range t.calls {
			if fixed := r.nameCall(c, t.at); fixed != c {
				if calls == nil {
					calls = slices.Clone(t.calls)
				}
				calls[k] = fixed
			}
		}
		if calls != nil {
			t.entry = t.with(func(m *Message) { setCalls(m, calls) })
			t.calls = calls
		}
		for k, c := range t.calls {
			if e := t.results[k]; e.Message != nil && e.ToolCallID != c.ID {
				t.results[k] = e.with(func(m *Message) { m.ToolCallID = c.ID })
			}
		}
	}
}

// nameCall returns c, or a copy with a name and an id that was not there before.
func (r *repair) nameCall(c *ToolCall, at int) *ToolCall {
	fixed := *c
	if strings.TrimSpace(c.Name) == "" {
		fixed.Name = InvalidCallName
		r.note(RuleCallName, at, fmt.Sprintf("The call %q has no name; it is called %s now.", c.ID, InvalidCallName))
	}
	if c.ID == "" {
		fixed.ID = "call_" + strconv.Itoa(r.calls)
	}
	r.calls++
	if r.seen[fixed.ID] {
		fixed.ID = r.mint(fixed.ID)
	}
	r.seen[fixed.ID] = true
	if fixed.ID != c.ID {
		r.note(RuleCallID, at, fmt.Sprintf("The id %q of a call is empty or was there before; the call is %q now.", c.ID, fixed.ID))
	}
	if fixed == *c {
		return c
	}
	return &fixed
}

// mint makes an id that was not there before out of one that was.
func (r *repair) mint(id string) string {
	for n := max(r.suffix[id], 2); ; n++ {
		if made := id + "_" + strconv.Itoa(n); !r.seen[made] {
			r.suffix[id] = n + 1
			return made
		}
	}
}

// setCalls puts calls in the place of those of m, whose parts are its own.
func setCalls(m *Message, calls []*ToolCall) {
	for i := range m.Parts {
		if m.Parts[i].Kind == KindToolCall {
			m.Parts[i].Call = calls[0]
			calls = calls[1:]
		}
	}
}
