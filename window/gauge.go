package window

import "github.com/rondo-engine/rondo/message"

// Gauge says how many tokens the next prompt of a conversation has. It is not
// safe for concurrent use; the zero value is ready.
type Gauge struct {
	// Ratio is how the model counts.
	Ratio Ratio
	sizes Sizes

	// What the provider counted last: a prompt of so many messages, the last
	// of them last, and the reply to it.
	counted, tokens int
	last            *message.Message
	// excess is what the provider counts beyond all that explains it.
	excess int
	// scale is how many times more than estimated a prompt has, as far as an
	// overflow tells; 0 stands for 1.
	scale float64
}

// Tokens returns the number of tokens of a prompt of msgs, with fixed standing
// in front of them: system prompt and tools. As far as the provider has counted
// msgs itself, its count is taken.
func (g *Gauge) Tokens(fixed Weight, msgs []*message.Message) int {
	all := g.sizes.Sum(msgs)
	if !g.anchored(msgs) {
		return g.scaled(fixed.Add(all)) + g.excess
	}
	known := g.sizes.upTo(g.counted + 1)
	return g.tokens + g.scaled(all.Sub(known))
}

// anchored reports whether the provider counted how msgs begin.
func (g *Gauge) anchored(msgs []*message.Message) bool {
	return g.last != nil && len(msgs) > g.counted && msgs[g.counted-1] == g.last &&
		msgs[g.counted].Role == message.Assistant
}

// Estimate returns the number of tokens of msgs alone, without what was counted.
func (g *Gauge) Estimate(msgs ...*message.Message) int {
	var w Weight
	for _, m := range msgs {
		w = w.Add(Message(m))
	}
	return g.scaled(w)
}

// Fixed returns the number of tokens of what stands in front of the messages.
func (g *Gauge) Fixed(fixed Weight) int { return g.scaled(fixed) + g.excess }

// Reckoning returns the number of tokens of a prompt as it would be estimated
// if nothing of it had been counted.
func (g *Gauge) Reckoning(fixed Weight, msgs []*message.Message) int {
	return g.scaled(fixed.Add(g.sizes.Sum(msgs))) + g.excess
}

func (g *Gauge) scaled(w Weight) int {
	n := w.Tokens(g.Ratio.Value())
	if g.scale > 1 {
		n = int(float64(n) * g.scale)
	}
	return n
}

// unexplained is how many times the estimate a count must be for the rest to
// be taken for something that the provider adds by itself.
const unexplained = 1.5

// Observe takes over what the provider counted for a prompt of fixed and msgs:
// input tokens, and output tokens that will be part of the next one. The reply
// is taken for the message that follows msgs.
func (g *Gauge) Observe(fixed Weight, msgs []*message.Message, input, output int) {
	if len(msgs) == 0 || input <= 0 {
		return
	}
	w := fixed.Add(g.sizes.Sum(msgs))
	g.Ratio = g.Ratio.Observe(w, input)
	g.scale = 0
	estimated := w.Tokens(g.Ratio.Value())
	g.excess = max(0, input-int(unexplained*float64(estimated)))
	g.counted, g.last, g.tokens = len(msgs), msgs[len(msgs)-1], input+output
}

// Forget drops what the provider counted last, since the history was rewritten.
func (g *Gauge) Forget() { g.last = nil }

// Overflowed takes note that a prompt that was reckoned to have so many tokens
// did not fit into room.
func (g *Gauge) Overflowed(tokens, room int) {
	g.last = nil
	if tokens > 0 && tokens < room {
		g.scale = max(g.scale, 1) * float64(room) / float64(tokens) * 1.05
	}
}

// upTo returns the weight of the first n messages of the last Sum.
func (s *Sizes) upTo(n int) Weight {
	if n = min(n, len(s.sums)); n == 0 {
		return Weight{}
	}
	return s.sums[n-1]
}
