package message

import (
	"errors"
	"fmt"
	"slices"
	"sync"
)

// History is a sequence of messages that can be sent to any provider: after
// optional system messages, user and assistant alternate beginning with a
// user; after an assistant message with tool calls come exactly its results,
// in the order of the calls, and then an assistant message; no message is
// empty; call ids are unique. The last message may be of any role; calls at the
// very end are open only while their results are being made.
//
// The zero value is an empty history. A History is a value, safe for concurrent
// use: appending to it never changes a copy. Appending to the newest copy costs
// a constant, as append does.
type History struct {
	msgs []*Message
	tail *tail
}

// tail is the array that a line of histories grows in. Only the history that
// ends where the array ends may grow in place.
type tail struct {
	mu   sync.Mutex
	msgs []*Message
}

// Messages returns the messages in order. The slice must not be changed.
func (h History) Messages() []*Message { return h.msgs }

// Len returns the number of messages.
func (h History) Len() int { return len(h.msgs) }

// Last returns the last message, or nil.
func (h History) Last() *Message {
	if len(h.msgs) == 0 {
		return nil
	}
	return h.msgs[len(h.msgs)-1]
}

// OpenCalls returns the tool calls at the end of the history that have no
// result yet, in order. Its cost is that of the last round, not of the history.
func (h History) OpenCalls() []*ToolCall {
	i := len(h.msgs) - 1
	for i >= 0 && h.msgs[i].Role == Tool {
		i--
	}
	if i < 0 || h.msgs[i].Role != Assistant {
		return nil
	}
	calls := h.msgs[i].Calls()
	answered := len(h.msgs) - 1 - i
	if answered >= len(calls) {
		return nil
	}
	return calls[answered:]
}

// Append returns h with m at its end. It refuses a message that would break
// the order that History promises, and says which rule.
func (h History) Append(m *Message) (History, error) {
	if err := h.admits(m); err != nil {
		return h, fmt.Errorf("append %s message to history of %d: %w", m.Role, len(h.msgs), err)
	}
	return h.push(m), nil
}

func (h History) push(m *Message) History {
	if h.tail != nil {
		h.tail.mu.Lock()
		defer h.tail.mu.Unlock()
		if len(h.tail.msgs) == len(h.msgs) {
			h.tail.msgs = append(h.tail.msgs, m)
			return History{msgs: h.tail.msgs[:len(h.tail.msgs):len(h.tail.msgs)], tail: h.tail}
		}
	}
	msgs := append(slices.Clip(h.msgs), m)
	return History{msgs: msgs[:len(msgs):len(msgs)], tail: &tail{msgs: msgs}}
}

// Replace returns h with the message at index i replaced by m, which must have
// the same role, calls and result id. The messages before i are shared.
func (h History) Replace(i int, m *Message) (History, error) {
	if !takesPlaceOf(m, h.msgs[i]) {
		return h, fmt.Errorf("replace message %d: role, calls or result id differ", i)
	}
	msgs := slices.Clone(h.msgs)
	msgs[i] = m
	return History{msgs: msgs}, nil
}

// Map returns h with what f returns in the place of each message. One for which
// it returns nil, or a message with another role, other calls or another result
// id, stays.
func (h History) Map(f func(*Message) *Message) History {
	msgs := slices.Clone(h.msgs)
	for i, old := range msgs {
		if m := f(old); m != nil && takesPlaceOf(m, old) {
			msgs[i] = m
		}
	}
	return History{msgs: msgs}
}

func takesPlaceOf(m, old *Message) bool {
	return old.Role == m.Role && old.ToolCallID == m.ToolCallID &&
		slices.EqualFunc(old.Calls(), m.Calls(), func(a, b *ToolCall) bool { return a.ID == b.ID })
}

func (h History) admits(m *Message) error {
	last, open := h.Last(), h.OpenCalls()
	switch m.Role {
	case System:
		if last != nil && last.Role != System {
			return errors.New("a system message stands only at the start")
		}
	case User:
		if len(open) > 0 {
			return fmt.Errorf("call %q has no result", open[0].ID)
		}
		if last != nil && last.Role == Tool {
			return errors.New("after tool results comes an assistant message")
		}
		if last != nil && last.Role == User {
			return errors.New("two user messages in a row")
		}
	case Assistant:
		if len(open) > 0 {
			return fmt.Errorf("call %q has no result", open[0].ID)
		}
		if last == nil || last.Role == System {
			return errors.New("the first to speak is the user")
		}
		if last.Role == Assistant {
			return errors.New("two assistant messages in a row")
		}
	case Tool:
		if len(open) == 0 {
			return fmt.Errorf("result %q answers no open call", m.ToolCallID)
		}
		if open[0].ID != m.ToolCallID {
			return fmt.Errorf("result %q out of order: %q is next", m.ToolCallID, open[0].ID)
		}
	default:
		return fmt.Errorf("unknown role %q", m.Role)
	}
	if len(m.Parts) == 0 && m.Role != Tool {
		return errors.New("a message without content")
	}
	return nil
}
