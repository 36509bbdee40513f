package window

import "github.com/rondo-engine/rondo/message"

// parts is a history taken apart for a compression.
type parts struct {
	// system are the system messages at its start.
	system []*message.Message
	// earlier is the summary that it begins with; the zero value if none.
	earlier digest
	// old is what may be left out, whole rounds, in order.
	old []*message.Message
	// asked is the user's last message, if it stands before tail.
	asked *message.Message
	// tail is what stays.
	tail []*message.Message
}

// cutOptions bound the tail.
type cutOptions struct {
	messages, tokens int
	estimate         func(...*message.Message) int
}

// takeApart divides a history. The tail is made of whole rounds, so that no
// call is parted from its results. It holds the last message of the assistant
// and what follows it, and as much before as the bounds allow.
func takeApart(msgs []*message.Message, o cutOptions) parts {
	var p parts
	for len(msgs) > 0 && msgs[0].Role == message.System {
		p.system, msgs = append(p.system, msgs[0]), msgs[1:]
	}
	if d, ok := readDigest(msgs); ok {
		p.earlier = d
		msgs = msgs[d.messages:]
	}
	from := tailStart(msgs, o)
	p.old, p.tail = msgs[:from:from], msgs[from:]
	if i := lastUser(msgs); i >= 0 && i < from {
		p.asked = msgs[i]
		p.old = append(append([]*message.Message(nil), msgs[:i]...), msgs[i+1:from]...)
	}
	return p
}

// tailStart returns the index at which the tail begins.
func tailStart(msgs []*message.Message, o cutOptions) int {
	from := len(msgs)
	tokens := 0
	answered := false // the tail holds a message of the assistant
	for from > 0 {
		start := roundStart(msgs[:from])
		size := o.estimate(msgs[start:from]...)
		if answered && (len(msgs)-start > o.messages || tokens+size > o.tokens) {
			break
		}
		answered = answered || msgs[start].Role == message.Assistant
		from, tokens = start, tokens+size
	}
	return from
}

// roundStart returns where the last round of msgs begins: a user message, or an
// assistant message with its results.
func roundStart(msgs []*message.Message) int {
	i := len(msgs) - 1
	for i > 0 && msgs[i].Role == message.Tool {
		i--
	}
	return i
}
