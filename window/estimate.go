// Package window says how full a model's context window is.
//
// No provider tells beforehand how many tokens a text is, and a tokenizer for
// each model would be large and soon wrong. What is sent is weighed in
// characters instead, and a weight becomes tokens by division. A character of
// Chinese, Japanese or Korean counts twice, so that one divisor does for all
// languages; DefaultCharsPerToken is one that overestimates rather than not.
package window

import (
	"unicode/utf8"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// DefaultCharsPerToken is how many weighted characters make a token where
// nothing better is known.
const DefaultCharsPerToken = 3.0

// What is sent beside text, in weighted characters.
const (
	// mediaWeight is an image of the size that providers shrink to, about
	// 1600 tokens.
	mediaWeight = 4800
	// frameWeight is what stands around a message, a part or a tool.
	frameWeight = 12
)

// Tokens returns how many tokens a weight is, at so many weighted characters
// per token.
func Tokens(weight int, charsPerToken float64) int {
	return int(float64(weight)/charsPerToken + 0.5)
}

// Text returns the weight of s in characters, wide ones counted twice.
func Text(s string) int {
	weight := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			weight++
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		weight++
		if isWide(r) {
			weight++
		}
		i += size
	}
	return weight
}

// isWide reports whether r is of a script whose characters are about a token
// each: Han, kana, Hangul, their full-width forms, and pictographs.
func isWide(r rune) bool {
	switch {
	case r < 0x1100:
		return false
	case r <= 0x11FF, r >= 0x2E80 && r <= 0xA4CF, r >= 0xAC00 && r <= 0xD7FF:
		return true
	case r >= 0xF900 && r <= 0xFAFF, r >= 0xFE30 && r <= 0xFE4F, r >= 0xFF00 && r <= 0xFFEF:
		return true
	}
	return r >= 0x1F300 && r <= 0x1FAFF || r >= 0x20000 && r <= 0x3FFFF
}

// Message returns the weight of m with everything that hangs on it.
func Message(m *message.Message) int {
	weight := frameWeight
	for i := range m.Parts {
		p := &m.Parts[i]
		weight += Text(p.Text)
		switch {
		case p.Call != nil:
			weight += frameWeight + Text(p.Call.Name) + Text(p.Call.Arguments)
		case p.Media != nil:
			weight += mediaWeight
		}
		if p.State != nil {
			weight += len(p.State.Data)
		}
	}
	return weight
}

// Tools returns the weight of the tools on offer; nil has none.
func Tools(set *model.ToolSet) int {
	if set == nil {
		return 0
	}
	weight := 0
	for i := range set.Specs {
		s := &set.Specs[i]
		weight += frameWeight + Text(s.Name) + Text(s.Description) + len(s.Schema)
	}
	return weight
}

// Sizes keeps the weights of a conversation's messages, which never change, so
// that a round weighs only what is new. It is not safe for concurrent use.
type Sizes struct {
	msgs []*message.Message
	// sums[i] is the weight of msgs up to and with number i.
	sums []int
}

// Sum returns the weight of msgs. Those that stood at the same place in the
// last call are not weighed again.
func (s *Sizes) Sum(msgs []*message.Message) int {
	n := 0
	for n < len(msgs) && n < len(s.msgs) && msgs[n] == s.msgs[n] {
		n++
	}
	s.msgs, s.sums = s.msgs[:n], s.sums[:n]
	sum := 0
	if n > 0 {
		sum = s.sums[n-1]
	}
	for _, m := range msgs[n:] {
		sum += Message(m)
		s.msgs, s.sums = append(s.msgs, m), append(s.sums, sum)
	}
	return sum
}

// Room returns how many tokens of p's context window there are for input: the
// window without room for a reply of maxOutput tokens. Where maxOutput is 0 the
// profile says how long replies are; they take at most half of the window. It
// returns 0 for a model whose window is not known.
func Room(p *model.Profile, maxOutput int) int {
	if maxOutput <= 0 {
		maxOutput = p.MaxOutput
	}
	if maxOutput <= 0 {
		maxOutput = min(4096, p.ContextWindow/8)
	}
	return p.ContextWindow - min(maxOutput, p.ContextWindow/2)
}
