package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"

	"github.com/rondo-engine/rondo/model"
)

const (
	nameLimit  = 64
	markLength = 2 + 12 // of the mark that ends a rewritten name: "_h" and hex digits
)

// Name returns the form of a tool's name or a call's id that all services take:
// at most 64 letters, digits, _ and -, and none but a letter or _ at its start
// if lead says so. It keeps what fits. All else gets a digest of itself at its
// end, and so does what already looks like that: no two names become the same.
func Name(s string, lead bool) string {
	if fitsName(s) && !endsInDigest(s) && !(lead && !leads(s[0])) {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	b := make([]byte, 0, nameLimit)
	if lead && s != "" && !leads(s[0]) {
		b = append(b, '_')
	}
	for i := 0; i < len(s) && len(b) < nameLimit-markLength; i++ {
		c := s[i]
		switch {
		case isNameByte(c):
			b = append(b, c)
		case c < 0x80 || c >= 0xC0: // one _ for each character
			b = append(b, '_')
		}
	}
	return string(b) + "_h" + hex.EncodeToString(sum[:6])
}

func leads(c byte) bool { return isNameByte(c) && c != '-' && (c < '0' || c > '9') }

// Tool is a tool under the name that it is sent under.
type Tool struct {
	*model.ToolSpec
	Name string
}

// Tools returns the tools of a set, which may be nil, under names as Name makes
// them, those of the same name once; and the tools' own names by those they are
// sent under, where they differ.
func Tools(set *model.ToolSet, lead bool) (tools []Tool, names map[string]string) {
	if set == nil || len(set.Specs) == 0 {
		return nil, nil
	}
	names = make(map[string]string)
	seen := make(map[string]bool)
	for i := range set.Specs {
		t := Tool{&set.Specs[i], Name(set.Specs[i].Name, lead)}
		if seen[t.Name] {
			continue
		}
		seen[t.Name] = true
		if t.Name != t.ToolSpec.Name {
			names[t.Name] = t.ToolSpec.Name
		}
		tools = append(tools, t)
	}
	return tools, names
}

// CallID makes the id of a call that came without one. It is the same for the
// same call of the same reply.
func CallID(replyID string, number int, name, arguments string) string {
	h := fnv.New128a()
	fmt.Fprintf(h, "%q %d %q %q", replyID, number, name, arguments)
	return "call_" + hex.EncodeToString(h.Sum(nil))[:24]
}

func fitsName(s string) bool {
	if s == "" || len(s) > nameLimit {
		return false
	}
	for i := range len(s) {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return true
}

func endsInDigest(s string) bool {
	if len(s) < markLength {
		return false
	}
	mark := s[len(s)-markLength:]
	if mark[:2] != "_h" {
		return false
	}
	for _, c := range mark[2:] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
