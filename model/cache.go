package model

import "github.com/rondo-engine/rondo/message"

// Cache keeps the encoded form of a conversation between its requests, so that
// a request encodes only what is new. The adapter owns what is in it; whoever
// keeps the conversation owns the Cache and drops it with the conversation.
//
// It holds the encoding of a sequence of units, a unit being the messages that
// become one item on the wire, one after the other in one buffer. Bytes of the
// buffer that were handed out are never overwritten: a transport may still be
// reading them when the next request is made.
//
// A Cache is not safe for concurrent use.
type Cache struct {
	key   string
	msgs  []*message.Message
	units []unit
	buf   []byte
	// Aux is for what else the adapter keeps between requests, such as the
	// encoded head of the request; it is dropped when the key changes.
	Aux any
}

// unit ends before message number msgs and before byte number bytes.
type unit struct{ msgs, bytes int }

// Encoding says how a history becomes units on the wire.
type Encoding struct {
	// Key names everything beside the messages that the encoding depends on,
	// such as protocol, provider and model.
	Key string
	// Next returns how many of msgs, which is not empty, make up the first
	// unit: at least 1. It must depend only on them.
	Next func(msgs []*message.Message) int
	// Append appends the encoding of the unit msgs to dst. It may append
	// nothing: such a unit takes no place on the wire.
	Append func(dst []byte, msgs []*message.Message) []byte
}

// Sync makes the cache hold the encoding of exactly msgs and returns it: the
// units in order, separated by commas. Units whose messages are the very same
// as in the last call under the same key are not encoded again.
func (c *Cache) Sync(msgs []*message.Message, e Encoding) []byte {
	if c.key != e.Key {
		*c = Cache{key: e.Key}
	}
	c.keep(msgs, e)
	start := c.last().msgs
	c.msgs = append(c.msgs, msgs[start:]...)
	for start < len(msgs) {
		n := e.Next(msgs[start:])
		c.push(msgs[start:start+n], e)
		start += n
	}
	return c.buf
}

// keep drops all units from the first on that msgs would encode otherwise.
func (c *Cache) keep(msgs []*message.Message, e Encoding) {
	same := 0
	for same < len(msgs) && same < len(c.msgs) && msgs[same] == c.msgs[same] {
		same++
	}
	n := len(c.units)
	for n > 0 && c.units[n-1].msgs > same {
		n--
	}
	if n > 0 && c.units[n-1].msgs < len(msgs) { // it may go on with what is new
		start := c.Start(n - 1)
		if e.Next(msgs[start:]) != c.units[n-1].msgs-start {
			n--
		}
	}
	if n < len(c.units) {
		c.units = c.units[:n]
		end := c.last().bytes
		c.buf = c.buf[:end:end] // what follows may be in use: appending copies
	}
	c.msgs = c.msgs[:c.last().msgs]
}

func (c *Cache) push(msgs []*message.Message, e Encoding) {
	dst := roomier(c.buf)
	if len(dst) > 0 {
		dst = append(dst, ',')
	}
	sep := len(dst)
	dst = e.Append(dst, msgs)
	if len(dst) == sep {
		dst = dst[:len(c.buf)]
	}
	c.buf = dst
	c.units = append(c.units, unit{msgs: c.last().msgs + len(msgs), bytes: len(dst)})
}

// roomier returns buf with room for an ordinary unit. A buffer that is not small
// grows ahead of append: memory that is made is not touched before it is used,
// while append clears all that it adds.
func roomier(buf []byte) []byte {
	const ordinary, small, large = 2 << 10, 4 << 10, 64 << 10
	if len(buf) < small || cap(buf)-len(buf) >= ordinary {
		return buf
	}
	factor := 2
	if cap(buf) < large {
		factor = 4
	}
	return append(make([]byte, 0, factor*cap(buf)), buf...)
}

func (c *Cache) last() unit {
	if len(c.units) == 0 {
		return unit{}
	}
	return c.units[len(c.units)-1]
}

// Units returns the number of units.
func (c *Cache) Units() int { return len(c.units) }

// Start returns the number of the first message of unit i.
func (c *Cache) Start(i int) int {
	if i == 0 {
		return 0
	}
	return c.units[i-1].msgs
}

// Messages returns the messages of unit i.
func (c *Cache) Messages(i int) []*message.Message { return c.msgs[c.Start(i):c.units[i].msgs] }

// Span returns where in the encoding unit i stands, without its separator. A
// unit that takes no place on the wire has an empty span.
func (c *Cache) Span(i int) (start, end int) {
	end = c.units[i].bytes
	if i > 0 {
		start = c.units[i-1].bytes
	}
	if start > 0 && start < end {
		start++
	}
	return start, end
}
