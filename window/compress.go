package window

import (
	"cmp"
	"context"
	"errors"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/tool"
)

// DefaultProtectLast is how many messages at the end of a conversation stay as
// they are where Compressor.ProtectLast is 0.
const DefaultProtectLast = 20

// Compressor is the engine that is used unless another is chosen. It first
// shrinks old results of tools to a line each. That costs a prompt cache all that
// stands behind the first of them, so it is done for all at once, and only where
// it brings the conversation to its target: a fifth of the room is free then, as
// a rule. If that is not enough, it has a model summarise all but the end of the
// conversation: the last messages, as whole rounds and bounded in tokens, and
// the user's latest request word for word. A summary that is already there is
// brought up to date.
type Compressor struct {
	// ProtectLast is how many messages at the end stay as they are, as long
	// as they are not too large.
	ProtectLast int
	// Alone asks no model: the record takes the place of a summary.
	Alone bool
}

var _ Engine = (*Compressor)(nil)

// The shares of the room that a compression leaves to the tail and to the
// summary; the hard ones are for when as much room as possible is to be made.
const (
	tailShare     = 0.20
	hardTailShare = 0.08
	hardProtect   = 6
	summaryShare  = 0.06
)

// Due reports whether the conversation is larger than its limit.
func (c *Compressor) Due(v *View) bool { return v.Tokens > v.Limit }

// Describe says how the compressor works.
func (c *Compressor) Describe() string {
	if c.Alone {
		return "old results are shrunk to a line, then the record takes the place of all but the latest messages"
	}
	return "old results are shrunk to a line, then all but the latest messages is summarised"
}

// Tools returns nil: the compressor has none.
func (c *Compressor) Tools() []*tool.Tool { return nil }

// Compress makes room by shrinking, else by a summary.
func (c *Compressor) Compress(ctx context.Context, v *View) (Pass, error) {
	msgs := v.History.Messages()
	p := takeApart(msgs, c.tail(v))
	if v.Hard {
		p.tail = c.squeezeTail(v, p)
	}
	if len(p.old) == 0 {
		if v.Hard && v.Estimate(p.tail...) < v.Estimate(msgs[len(msgs)-len(p.tail):]...) {
			return Pass{Messages: replaceTail(msgs, p.tail), Method: Shrunk}, nil
		}
		return Pass{}, ErrNothing
	}
	if !v.Asked && v.Fixed+v.Estimate(c.shrunk(v, p, nowhere)...) <= v.Target {
		return Pass{Messages: c.shrunk(v, p, v.Spill), Method: Shrunk}, nil
	}
	d, method, err := c.summarise(ctx, v, p)
	if err != nil {
		return Pass{}, err
	}
	return Pass{Messages: assemble(p, d), Method: method, NoModel: method == Recorded && c.asks(v)}, nil
}

// tail returns the bounds of what stays.
func (c *Compressor) tail(v *View) cutOptions {
	o := cutOptions{messages: cmp.Or(c.ProtectLast, DefaultProtectLast), estimate: v.Estimate}
	share := tailShare
	if v.Hard {
		share, o.messages = hardTailShare, min(o.messages, hardProtect)
	}
	o.tokens = min(int(share*float64(v.Room)), max(v.Limit-v.Fixed, 0)/3)
	return o
}

// squeezeTail cuts the results in the tail if it takes more than half of what
// there is beside the fixed part.
func (c *Compressor) squeezeTail(v *View, p parts) []*message.Message {
	most := max(v.Target-v.Fixed, v.Room/10)
	size := v.Estimate(p.tail...)
	if size <= most {
		return p.tail
	}
	rest := size
	for _, m := range p.tail {
		if m.Role == message.Tool {
			rest -= v.Estimate(m)
		}
	}
	return squeeze(p.tail, max(most-rest, v.Room/20)*2, v.Spill)
}

func replaceTail(msgs, tail []*message.Message) []*message.Message {
	return append(append([]*message.Message(nil), msgs[:len(msgs)-len(tail)]...), tail...)
}

// shrunk returns the whole history with what is old shrunk.
func (c *Compressor) shrunk(v *View, p parts, spill spiller) []*message.Message {
	msgs := v.History.Messages()
	old := len(msgs) - len(p.tail)
	return append(shrink(msgs[:old], spill), p.tail...)
}

// nowhere saves nothing: it is for finding out how much shrinking would bring.
func nowhere(*message.ToolCall, string) (string, error) {
	return "a file with a name as long as such names are, in a directory of its own.txt", nil
}

// asks reports whether a model is to write the summary.
func (c *Compressor) asks(v *View) bool { return !c.Alone && v.Summariser != nil }

// summarise makes the digest that stands for what is old.
func (c *Compressor) summarise(ctx context.Context, v *View, p parts) (*digest, Method, error) {
	d := &digest{first: p.earlier.first, files: p.earlier.files, carry: v.Carry, record: v.Record}
	if d.first == "" {
		d.first = v.hide(firstRequest(p))
	}
	d.addFiles(places(p.old))
	for i, f := range d.files {
		d.files[i] = v.hide(f)
	}
	size := min(max(int(summaryShare*float64(v.Room)), minSummary), maxSummary)
	if c.asks(v) {
		err := ErrSummariser
		if !v.NoModel {
			if d.body, err = summary(ctx, v, p, size); err == nil {
				return d, Summarised, nil
			}
		}
		if ctx.Err() != nil || !v.Hard && mayPass(err) || !errors.Is(err, ErrSummariser) {
			return nil, "", err
		}
	}
	d.body = record(p, v.hide)
	return d, Recorded, nil
}

// mayPass reports whether a failure of the summariser is worth waiting for: the
// network or the account may be back soon, while what a model or its server does
// wrong now it does again.
func mayPass(err error) bool {
	if errors.Is(err, errUseless) {
		return false
	}
	switch model.ClassOf(err) {
	case model.ServerError, model.EmptyResponse, model.InvalidRequest, model.ContextOverflow, model.ContentFilter:
		return false
	}
	return true
}

// firstRequest is what the user said first, unless it stays anyhow.
func firstRequest(p parts) string {
	for _, m := range p.old {
		if m.Role == message.User {
			return headTail(m.Text(), maxFirst)
		}
	}
	return ""
}

func (v *View) hide(text string) string {
	if v.Hide == nil {
		return text
	}
	return v.Hide(text)
}
