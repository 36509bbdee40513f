package message

import (
	"cmp"
	"slices"
)

// The words that Normalise puts where a history has a hole.
const (
	// InterruptedText is the assistant message between tool results and the
	// user message that cut the turn short.
	InterruptedText = "[interrupted]"
	// InterruptedResult is the result of a call whose own is missing.
	InterruptedResult = "[interrupted: this call may or may not have run, and its result is unknown]"
	// StartText is the user message before an assistant message that begins a
	// history.
	StartText = "[the beginning of the conversation is missing]"
	// InvalidCallName is the name of a call that came without one.
	InvalidCallName = "invalid_tool_call"
)

// Rule says what about a history Normalise had to mend.
type Rule string

// The rules, a closed set.
const (
	RuleEncoding   Rule = "invalid_utf8"       // U+FFFD took the place of invalid bytes
	RuleRole       Rule = "unknown_role"       // the message was dropped
	RulePart       Rule = "broken_part"        // a part without content, or out of place, was dropped
	RuleEmpty      Rule = "empty_message"      // the message was dropped
	RuleSystem     Rule = "late_system"        // the text moved into a user message
	RuleStart      Rule = "missing_user"       // a user message was put before the first assistant message
	RuleMerged     Rule = "same_role"          // the message was joined to the one before
	RuleMissing    Rule = "missing_result"     // a result was put in that says interrupted
	RuleOrphan     Rule = "orphan_result"      // the result was dropped
	RuleRepeated   Rule = "repeated_result"    // the result was dropped
	RuleMoved      Rule = "moved_result"       // the result was put behind its call, in the order of the calls
	RuleCallID     Rule = "call_id"            // a call got an id, or another one
	RuleCallName   Rule = "call_name"          // a call got the name InvalidCallName
	RuleUnfinished Rule = "user_after_results" // an assistant message was put between them
)

// Change is one thing that Normalise mended.
type Change struct {
	Rule Rule `json:"rule"`
	// Index is the place in the input of the message concerned: of the one
	// changed or dropped, or of the one before or behind which another was
	// put in.
	Index int `json:"index"`
	// Detail says in a sentence what was found and what was done.
	Detail string `json:"detail"`
}

// Normalise makes a history that any provider accepts out of any messages, and
// says what it changed, by index. It is for histories that come in: loaded,
// imported, taken over from another engine.
//
// Roles other than the four are dropped, and so are empty messages, among them
// assistant messages that hold nothing but reasoning without state. System
// messages stay at the start; the text of a later one moves into the nearest
// user message. Messages of the same role in a row become one. Results are
// paired with the open calls of the assistant message before, by id and then by
// position, and put into the order of the calls; a result too many is dropped,
// and one that is missing, also at the very end, says that the call was
// interrupted. Call ids become unique. An assistant message is put between
// results and a user message, and a user message before a first assistant.
//
// Normalise is pure: msgs and what they point to are not changed, a message
// that is fine is in the result by the same pointer, and one that was made or
// changed has no ID. What it returns it would return unchanged, with no
// changes. Ids that it mints depend only on the messages before.
func Normalise(msgs []*Message) (History, []Change) {
	h, _, changes := normalise(msgs, false)
	return h, changes
}

// NormaliseOpen is Normalise for a run that goes on where it stopped: it does
// not make up results at the very end. If the last assistant message has calls
// without result, the history ends with it, all of its calls are open, and
// results holds what is known, by the order of the calls: nil where there is no
// result. The caller runs those, or says that their outcome is unknown, and
// appends the results in order. Else results is nil.
func NormaliseOpen(msgs []*Message) (h History, results []*Message, changes []Change) {
	return normalise(msgs, true)
}

func normalise(msgs []*Message, open bool) (History, []*Message, []Change) {
	r := &repair{open: open, seen: map[string]bool{}, suffix: map[string]int{}}
	turns := r.pair(r.gatherSystem(r.clean(msgs)))
	r.nameCalls(turns)
	out, results := r.alternate(turns)
	slices.SortStableFunc(r.changes, func(a, b Change) int { return cmp.Compare(a.Index, b.Index) })
	return History{msgs: out[:len(out):len(out)], tail: &tail{msgs: out}}, results, r.changes
}

// repair is the state of one normalisation.
type repair struct {
	changes []Change
	open    bool // the calls of the last round stay open
	// seen are the call ids so far; suffix is the last number tried behind an
	// id that was taken; calls counts all calls.
	seen   map[string]bool
	suffix map[string]int
	calls  int
}

func (r *repair) note(rule Rule, index int, detail string) {
	r.changes = append(r.changes, Change{Rule: rule, Index: index, Detail: detail})
}

// entry is a message and its index in the input.
type entry struct {
	*Message
	at int
}

// with returns e with another message, which has no id of its own yet.
func (e entry) with(change func(m *Message)) entry {
	m := *e.Message
	m.ID = ""
	m.Parts = slices.Clone(m.Parts)
	change(&m)
	return entry{&m, e.at}
}
