// Package window keeps a conversation within a model's context window: it says
// how full the window is, and makes room in it.
//
// No provider tells beforehand how many tokens a text is, and a tokenizer for
// each model would be large and soon wrong. What is sent is weighed in
// characters instead, and a weight becomes tokens by division. A character of
// Chinese, Japanese or Korean counts twice, so that one divisor does for all
// languages; DefaultCharsPerToken is one that overestimates rather than not, and
// Ratio learns a better one from what the provider counts. A Gauge puts both
// together: what the provider counted last is certain, and only what came after it
// is estimated.
//
// An Engine makes room. Compressor is the one that is used unless another is
// chosen: old results of tools shrink to a line each, and what is still too much
// is summarised. Keeper holds any engine to its promises: a pass is a
// transaction, judged by what it brought.
package window

import (
	"unicode/utf8"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// DefaultCharsPerToken is how many weighted characters make a token where
// nothing better is known.
const DefaultCharsPerToken = 3.0

// What is sent beside text.
const (
	// mediaTokens is what an image takes of the size that providers shrink to.
	mediaTokens = 1600
	// frameWeight is what stands around a message, a part or a tool, in
	// weighted characters.
	frameWeight = 12
)

// Weight is how much something takes of a context window, before it is known
// how a model counts.
type Weight struct {
	// Chars are weighted characters, Media images and files.
	Chars, Media int
}

// Add returns the sum of w and v.
func (w Weight) Add(v Weight) Weight { return Weight{w.Chars + v.Chars, w.Media + v.Media} }

// Sub returns w without v.
func (w Weight) Sub(v Weight) Weight { return Weight{w.Chars - v.Chars, w.Media - v.Media} }

// Tokens returns how many tokens w is, at so many weighted characters per token.
func (w Weight) Tokens(charsPerToken float64) int {
	return int(float64(w.Chars)/charsPerToken+0.5) + w.Media*mediaTokens
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
func Message(m *message.Message) Weight {
	w := Weight{Chars: frameWeight}
	for i := range m.Parts {
		p := &m.Parts[i]
		w.Chars += Text(p.Text)
		switch {
		case p.Call != nil:
			w.Chars += frameWeight + Text(p.Call.Name) + Text(p.Call.Arguments)
		case p.Media != nil:
			w.Media++
		}
		if p.State != nil {
			w.Chars += len(p.State.Data)
		}
	}
	return w
}

// Tools returns the weight of the tools on offer; nil has none.
func Tools(set *model.ToolSet) Weight {
	var w Weight
	if set == nil {
		return w
	}
	for i := range set.Specs {
		s := &set.Specs[i]
		w.Chars += frameWeight + Text(s.Name) + Text(s.Description) + len(s.Schema)
	}
	return w
}

// Sizes keeps the weights of a conversation's messages, which never change, so
// that a round weighs only what is new. It is not safe for concurrent use.
type Sizes struct {
	msgs []*message.Message
	// sums[i] is the weight of msgs up to and with number i.
	sums []Weight
}

// Sum returns the weight of msgs. Those that stood at the same place in the
// last call are not weighed again.
func (s *Sizes) Sum(msgs []*message.Message) Weight {
	n := 0
	for n < len(msgs) && n < len(s.msgs) && msgs[n] == s.msgs[n] {
		n++
	}
	s.msgs, s.sums = s.msgs[:n], s.sums[:n]
	var sum Weight
	if n > 0 {
		sum = s.sums[n-1]
	}
	for _, m := range msgs[n:] {
		sum = sum.Add(Message(m))
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
