package approval

import (
	"strings"
	"unicode/utf8"
)

// Rules are the user's patterns for simple commands. A pattern is matched with
// the words of the command, one blank between them: * stands for any text, ? for
// any character, \ takes the meaning from the next one. A pattern that ends in
// " *" matches the command without arguments, too. Redirections have the form
// "> FILE" and "< FILE". Deny wins; neither opens the
// floor.
type Rules struct {
	Allow, Deny []string
}

// denies returns the rule that denies a command.
func (r Rules) denies(words []string) (string, bool) { return match(r.Deny, words) }

func (r Rules) allows(words []string) bool {
	_, ok := match(r.Allow, words)
	return ok && !hasUnknown(words[:1])
}

func match(patterns, words []string) (string, bool) {
	if len(patterns) == 0 {
		return "", false
	}
	line := strings.Join(words, " ")
	named := strings.Join(append([]string{programName(words[0])}, words[1:]...), " ")
	for _, p := range patterns {
		if matchRule(p, line) || matchRule(p, named) {
			return p, true
		}
	}
	return "", false
}

// matchRule reports whether a pattern matches a command.
func matchRule(pattern, line string) bool {
	if bare, ok := strings.CutSuffix(pattern, " *"); ok && !strings.HasSuffix(bare, `\`) && matchGlob(bare, line) {
		return true
	}
	return matchGlob(pattern, line)
}

// matchGlob reports whether pattern matches all of line. It tries the last * it
// met again with one more character as long as the rest does not match, which
// is enough: an earlier one could take no more than the later can.
func matchGlob(pattern, line string) bool {
	p, l := 0, 0
	star, from := -1, 0 // behind the last *, and where in line it may go on
	for l < len(line) {
		lit, size, isLit := literalAt(pattern, p)
		switch {
		case p < len(pattern) && pattern[p] == '*':
			p++
			star, from = p, l
		case p < len(pattern) && pattern[p] == '?':
			_, n := utf8.DecodeRuneInString(line[l:])
			p, l = p+1, l+n
		case isLit && lit == line[l]:
			p, l = p+size, l+1
		case star >= 0:
			from++
			p, l = star, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// literalAt returns the byte that stands for itself at p, and how many bytes of
// the pattern it takes.
func literalAt(pattern string, p int) (lit byte, size int, ok bool) {
	switch {
	case p >= len(pattern):
		return 0, 0, false
	case pattern[p] == '\\' && p+1 < len(pattern):
		return pattern[p+1], 2, true
	}
	return pattern[p], 1, pattern[p] != '*' && pattern[p] != '?'
}

// Exactly returns the pattern that matches one command and no other.
func Exactly(command string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`).Replace(command)
}
