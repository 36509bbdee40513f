package responses

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// memory is what is kept in the cache of a conversation beside its items.
type memory struct {
	profile *model.Profile
	// prefix is the encoded head of the request for system and tools.
	system string
	tools  *model.ToolSet
	prefix []byte
	ids    claims
	// refused is the number of messages whose reasoning the service refused: it
	// is not sent again, and neither are the ids that it belongs to.
	refused int
	// noEncrypted and noSummary tell that the model does not support encrypted
	// reasoning, or summaries of it.
	noEncrypted, noSummary bool
	// chain is what the service keeps of the conversation; nil for nothing.
	chain *chain
}

// chain is a conversation that the service has stored.
type chain struct {
	id     string
	system string
	// msgs were sent; reply is what the service said to them.
	msgs  []*message.Message
	reply *message.Message
}

// memoryOf returns the memory in c, a new one if it belongs to someone else.
func memoryOf(c *model.Cache, p *model.Profile) *memory {
	mem, ok := c.Aux.(*memory)
	if !ok || mem.profile != p && key(mem.profile, 0) != key(p, 0) {
		mem = &memory{profile: p}
		c.Aux = mem
	}
	return mem
}

// key names all that the encoding of a message depends on beside the messages.
func key(p *model.Profile, refused int) string {
	return strings.Join([]string{
		"responses", p.Provider, p.Model, p.Account, p.BaseURL, strconv.FormatBool(p.DeveloperRole),
		strconv.FormatBool(p.NoImages), strconv.FormatBool(p.NoToolImages), strconv.FormatBool(p.ServerState), strconv.Itoa(refused),
	}, "\x00")
}

// head returns the beginning of the request, encoded anew only if it changed.
func (mem *memory) head(p *model.Profile, req *model.Request) []byte {
	if mem.prefix == nil || mem.profile != p || mem.tools != req.Tools || mem.system != req.System {
		mem.profile, mem.tools, mem.system = p, req.Tools, req.System
		prefix := appendHead(nil, p, req)
		mem.prefix = prefix[:len(prefix):len(prefix)]
	}
	return mem.prefix
}

// sync makes the cache hold the items of msgs and returns them.
func (mem *memory) sync(c *model.Cache, p *model.Profile, msgs []*message.Message) []byte {
	items := c.Sync(msgs, model.Encoding{
		Key:  key(p, mem.refused),
		Next: next,
		Append: func(dst []byte, msgs []*message.Message) []byte {
			unit := c.Units()
			mem.ids.forget(unit)
			mem.ids.units = unit + 1
			e := &encoder{p: p, ids: &mem.ids, unit: unit, plain: c.Start(unit) < mem.refused}
			return e.items(dst, msgs)
		},
	})
	mem.ids.forget(c.Units())
	c.Aux = mem // a change of the key drops it
	return items[:len(items):len(items)]
}

// fresh returns the messages that the service does not know yet, if it knows
// all before them and they are not none; else nil.
func (mem *memory) fresh(p *model.Profile, req *model.Request) []*message.Message {
	ch, msgs := mem.chain, req.History.Messages()
	if !p.ServerState || ch == nil || len(msgs) < len(ch.msgs)+2 {
		return nil
	}
	n := len(ch.msgs)
	if !slices.Equal(msgs[:n], ch.msgs) || !sameReply(msgs[n], ch.reply) || p.DeveloperRole && ch.system != req.System {
		return nil
	}
	return msgs[n+1:]
}

// sameReply reports whether m, of the history, is the reply that the service
// remembers.
func sameReply(m, reply *message.Message) bool {
	sameCall := func(a, b *message.ToolCall) bool { return *a == *b }
	return m == reply || m.Role == message.Assistant && m.Text() == reply.Text() &&
		slices.EqualFunc(m.Calls(), reply.Calls(), sameCall)
}

// remember notes that the service has stored the conversation up to reply. A
// note for one request must not stay in it: a chain with one is not gone on
// with.
func (mem *memory) remember(p *model.Profile, req *model.Request, reply *model.Reply) {
	mem.chain = nil
	if p.ServerState && req.Ephemeral == "" && reply.ID != "" {
		mem.chain = &chain{id: reply.ID, system: req.System, msgs: req.History.Messages(), reply: reply.Message}
	}
}
