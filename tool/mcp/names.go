package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName is how long the name of a tool may be.
const maxName = 64

// names gives tools names that no two of them share.
type names struct{ taken map[string]bool }

func newNames() *names { return &names{map[string]bool{readName: true}} }

// of returns mcp__SERVER__TOOL in letters that every provider takes. A name that
// had to be shortened, or that another tool has, ends in a hash of the whole.
func (n *names) of(server, tool string) string {
	whole := server + "\x00" + tool
	name := "mcp__" + plain(server) + "__" + plain(tool)
	if len(name) > maxName || n.taken[name] {
		sum := sha256.Sum256([]byte(whole))
		end := "_" + hex.EncodeToString(sum[:5])
		name = name[:min(len(name), maxName-len(end))] + end
	}
	n.taken[name] = true
	return name
}

// plain replaces what is no letter, digit, _ or -.
func plain(s string) string {
	if s == "" {
		return "_"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, s)
}
