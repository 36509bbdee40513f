package chat

import (
	"crypto/sha256"
	"math/big"
	"strings"
)

// The alphabets of Quirks.ToolIDAlphabet.
const (
	alphabetMistral   = "mistral"
	alphabetAnthropic = "anthropic"

	mistralLength = 9
	maxIDLength   = 64
	maxNameLength = 64
)

// wireID returns id in an alphabet and of a length that all take: as it is
// where it fits, otherwise a digest of it, so that the same id is the same
// everywhere and different ones differ.
func wireID(alphabet, id string) string {
	switch alphabet {
	case alphabetMistral:
		if len(id) == mistralLength && only(id, "") {
			return id
		}
		return digest(id)[:mistralLength]
	case alphabetAnthropic:
		if id != "" && len(id) <= maxIDLength && only(id, "_-") {
			return id
		}
		return "call_" + digest(id)[:27]
	}
	if len(id) <= maxIDLength {
		return id
	}
	return "call_" + digest(id)[:27]
}

// only reports whether s is made of ASCII letters, digits and what is in more.
func only(s, more string) bool {
	for i := range len(s) {
		if c := s[i]; !isAlphanumeric(c) && strings.IndexByte(more, c) < 0 {
			return false
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// digest returns at least 40 letters and digits that depend on s.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	text := new(big.Int).SetBytes(sum[:]).Text(62)
	return strings.Repeat("0", max(0, 43-len(text))) + text
}

// wireName returns a tool's name as providers take it: a model may have called
// a tool by a name that no tool can have.
func wireName(name string) string {
	if name == "" {
		return "unnamed"
	}
	if len(name) <= maxNameLength && only(name, "_-") {
		return name
	}
	b := []byte(name[:min(len(name), maxNameLength)])
	for i, c := range b {
		if !isAlphanumeric(c) && c != '_' && c != '-' {
			b[i] = '_'
		}
	}
	return string(b)
}
