package loop

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/rondo-engine/rondo/message"
)

// observe takes note of a round of tool calls: errors in a row, unknown tools,
// and calls that bring the same result again and again.
func (s *State) observe(calls []*message.ToolCall, results []Result, l Limits) {
	known := false
	repeats := make(map[string]int, len(calls))
	for i, r := range results {
		known = known || !r.Unknown
		if st := r.Message.Status; st == message.StatusError {
			s.ToolErrors++
		} else {
			s.ToolErrors = 0
		}
		print := fingerprint(calls[i], r.Message)
		if repeats[print] > 0 {
			continue
		}
		n := s.Repeats[print] + 1
		repeats[print] = n
		switch {
		case n >= l.repeatStop():
			s.Looping = calls[i].Name
		case n == l.repeatTold():
			s.Note = fmt.Sprintf(repeatText, calls[i].Name, n)
		}
	}
	s.Repeats = repeats
	if known {
		s.Unknown = 0
	} else {
		s.Unknown++
	}
}

// fingerprint names a call and its result in a few bytes.
func fingerprint(c *message.ToolCall, result *message.Message) string {
	var few [512]byte // enough for most, so that it need not be made
	b := few[:0]
	for _, s := range [...]string{c.Name, c.Arguments, string(result.Status)} {
		b = append(append(b, s...), 0)
	}
	sum := sha256.Sum256(append(b, result.Text()...))
	return hex.EncodeToString(sum[:12])
}
