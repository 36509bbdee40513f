package approval

import (
	"regexp"
	"strings"
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
	if bare, ok := strings.CutSuffix(pattern, " *"); ok && !strings.HasSuffix(bare, `\`) && bare == line {
		return true
	}
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for i := 0; i < len(pattern); i++ {
		switch ch := pattern[i]; {
		case ch == '*':
			b.WriteString(".*")
		case ch == '?':
			b.WriteString(".")
		case ch == '\\' && i+1 < len(pattern):
			i++
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		default:
			j := i + 1
			for j < len(pattern) && !strings.ContainsRune(`*?\`, rune(pattern[j])) {
				j++
			}
			b.WriteString(regexp.QuoteMeta(pattern[i:j]))
			i = j - 1
		}
	}
	b.WriteString(`\z`)
	re, err := regexp.Compile(b.String())
	return err == nil && re.MatchString(line)
}

// Exactly returns the pattern that matches one command and no other.
func Exactly(command string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`).Replace(command)
}
