// Package injection finds words that try to give a language model orders, in
// texts that become part of its prompt although somebody else may have written
// them: files of a project, and what is kept in memory.
//
// It finds what is blunt. It cannot find everything, so nothing may depend on a
// text having passed it.
package injection

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// rule is a pattern and what to call what it finds.
type rule struct {
	name    string
	pattern *regexp.Regexp
}

var rules = sync.OnceValue(func() []rule {
	const about = `(?:(?:all|any|the|your|of|these|my|previous|prior|above|earlier|preceding|system|former)\s+){1,5}`
	compile := func(s string) *regexp.Regexp { return regexp.MustCompile(`(?is)` + s) }
	return []rule{
		{"an order to ignore instructions", compile(`\b(?:ignore|disregard|forget|override|bypass)\s+` + about + `(?:instructions?|prompts?|rules?|guidelines?|directions?|constraints?)`)},
		{"an order to change roles", compile(`\byou\s+are\s+now\s+(?:in\s+)?(?:an?\s+)?(?:unrestricted|jailbroken|developer\s+mode|dan\b|free\s+from|no\s+longer)`)},
		{"an order to deceive the user", compile(`\b(?:do\s+not|don't|never)\s+(?:tell|inform|mention\s+(?:this|it)\s+to|reveal\s+(?:this|it)\s+to|alert)\s+the\s+user\b`)},
		{"a false system message", compile(`(?:<\|?(?:im_start|system|endoftext)\|?>|\[/?(?:system|inst)\]|</?system(?:-prompt)?>|^\s*system\s+(?:prompt\s+)?override\b|\bnew\s+system\s+prompt\s*:)`)},
		{"an order to send secrets away", compile(`\b(?:curl|wget|fetch|post|send|upload|exfiltrate)\b[^\n]{0,120}(?:\$\{?[A-Z_]*(?:KEY|TOKEN|SECRET|PASSWORD)|\.env\b|id_rsa|credentials)`)},
		{"a hidden order", compile(`<!--[^>]{0,400}\b(?:ignore|override|instruction|secretly|do\s+not\s+tell)\b[^>]{0,400}-->|<[a-z]+[^>]{0,200}display\s*:\s*none`)},
	}
})

// Find returns what in text tries to give orders, such as "an order to ignore
// instructions"; empty when nothing was found.
func Find(text string) string {
	if i := strings.IndexFunc(text, invisible); i >= 0 && !(i == 0 && strings.HasPrefix(text, "\uFEFF")) {
		return "invisible characters"
	}
	for _, r := range rules() {
		if r.pattern.MatchString(text) {
			return r.name
		}
	}
	return ""
}

// invisible reports whether r hides or turns round what a person would see.
func invisible(r rune) bool {
	switch {
	case r < 0x200B:
		return false
	case r == 0x200B, r == 0x2060, r == 0xFEFF, r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return r >= 0xE0000 && r <= 0xE007F && unicode.Is(unicode.Cf, r)
}
