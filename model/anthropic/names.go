package anthropic

import (
	"crypto/sha256"
	"encoding/hex"
)

// The API takes ids and names of tools in letters, digits, _ and -.
const (
	nameLimit  = 64
	markLength = 2 + 12 // of the mark that ends a rewritten name: "_h" and hex digits
)

// wireName returns the form in which a tool's name or a call's id is sent. It
// keeps what fits. All else gets a digest of itself at its end, and so does
// what already looks like that: no two names become the same.
func wireName(s string) string {
	if fitsName(s) && !endsInDigest(s) {
		return s
	}
	sum := sha256.Sum256([]byte(s))
	b := make([]byte, 0, nameLimit)
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
