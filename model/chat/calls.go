package chat

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// noIndex stands for a missing index.
const noIndex = -1

// call is a tool call that is being read.
type call struct {
	id, name string
	index    int // as the server counts, noIndex when it does not
	number   int // as we count
	pieces   []string
	one      [1]string // room for the usual number of pieces
	shown    int       // pieces that were passed on
	told     bool
	extra    jsontext.Value
}

// calls are the tool calls of a reply in the order in which they were opened.
type calls []*call

// piece is what one chunk brings of a call.
type piece struct {
	id, name, arguments string
	index               int
	extra               jsontext.Value
}

// find returns the call that p belongs to, opening it if it is new; nil for a
// piece that says nothing. Servers number calls from 0 or from 1, all as 0, or
// not at all, and repeat ids, leave them out or send them late, so:
//
//   - a known id is that call, a new one a new call even at a used index;
//   - without an id it is the call last opened at the index, or the latest;
//   - a name that differs from the call's, or arguments after those that are
//     complete already, begin another call;
//   - but an id without a name goes on with a call that has none yet, or whose
//     arguments are not complete: some make up an id for each chunk.
func (cs *calls) find(p *piece) *call {
	at := cs.at(p.index)
	if p.id != "" {
		if c := cs.byID(p.id); c != nil {
			if !c.isOther(p) {
				return c
			}
			p.id = "" // two calls under one id: the second gets a new one
			return cs.open(p)
		}
		if at != nil && at.takes(p) {
			return at
		}
		return cs.open(p)
	}
	if at == nil || at.endsBefore(p) {
		if p.name == "" && p.arguments == "" && p.extra == nil {
			return nil
		}
		return cs.open(p)
	}
	return at
}

func (cs *calls) open(p *piece) *call {
	c := &call{index: p.index, number: len(*cs)}
	c.pieces = c.one[:0]
	*cs = append(*cs, c)
	return c
}

// at returns the call last opened at an index, or the latest without one.
func (cs calls) at(index int) *call {
	for i := len(cs) - 1; i >= 0; i-- {
		if index == noIndex || cs[i].index == index {
			return cs[i]
		}
	}
	return nil
}

func (cs calls) byID(id string) *call {
	for i := len(cs) - 1; i >= 0; i-- {
		if cs[i].id == id {
			return cs[i]
		}
	}
	return nil
}

// isOther reports whether p is of another call than c although it has its id.
func (c *call) isOther(p *piece) bool {
	return p.name != "" && p.index != noIndex && c.index != noIndex && p.index != c.index && isComplete(c.pieces)
}

// takes reports whether p goes on with c although its id is new.
func (c *call) takes(p *piece) bool {
	if c.id == "" {
		return !c.endsBefore(p)
	}
	return p.name == "" && !isComplete(c.pieces)
}

// endsBefore reports whether p, without a known id, begins another call than c.
func (c *call) endsBefore(p *piece) bool {
	if p.name == "" || c.name == "" {
		return false
	}
	if p.name != c.name {
		return true
	}
	return p.arguments != "" && isComplete(c.pieces) && p.arguments != joinArguments(c.pieces)
}

// add takes in a piece. What is set stays as it is.
func (c *call) add(p *piece) {
	if c.id == "" {
		c.id = p.id
	}
	if c.name == "" {
		c.name = p.name
	}
	if p.arguments != "" {
		c.pieces = append(c.pieces, p.arguments)
	}
	if p.extra != nil {
		c.extra = p.extra
	}
}

// show passes on what is new of c once its name is known. It reports whether
// anybody still listens.
func (c *call) show(yield func(model.Delta) bool) bool {
	if c.name == "" {
		return true
	}
	if !c.told {
		c.told = true
		if !yield(model.Delta{Kind: model.DeltaCall, Index: c.number, Name: c.name}) {
			return false
		}
	}
	for ; c.shown < len(c.pieces); c.shown++ {
		if !yield(model.Delta{Kind: model.DeltaCallArgs, Index: c.number, Text: c.pieces[c.shown]}) {
			return false
		}
	}
	return true
}

// appendParts appends the calls as parts of a message. Calls that have no id get
// one that depends on nothing but the reply.
func (cs calls) appendParts(parts []message.Part, origin message.Origin, replyID string) []message.Part {
	parts = slices.Grow(parts, len(cs))
	for _, c := range cs {
		arguments := joinArguments(c.pieces)
		id := c.id
		if id == "" {
			id = wire.CallID(replyID, c.number, c.name, arguments)
		}
		p := message.Call(id, c.name, arguments)
		if c.extra != nil {
			p.State = &message.State{Origin: origin, Kind: stateExtra, Data: string(c.extra)}
		}
		parts = append(parts, p)
	}
	return parts
}

// cut reports whether the arguments of a call are not valid.
func (cs calls) cut() bool {
	for _, c := range cs {
		if !jsontext.Value(joinArguments(c.pieces)).IsValid(lenient) {
			return true
		}
	}
	return false
}
