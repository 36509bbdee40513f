package approval

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// program judges a call of one program and returns what that prints.
type program func(c *call) string

// call is a simple command whose words are known as far as they can be.
type call struct {
	*scope
	name string
	args []string
	in   string
	// key names the call in questions.
	key string
}

// call judges a simple command.
func (s *scope) call(words []string, in string) string {
	for len(words) > 0 && words[0] == "" {
		words = words[1:]
	}
	if len(words) == 0 || s.spent() {
		return ""
	}
	c := &call{scope: s, name: programName(words[0]), args: words[1:], in: in, key: strings.Join(words, " ")}
	rules := s.c.Rules
	if rule, ok := rules.denies(words); ok {
		s.deny("the user's rule " + rule + " denies it")
	}
	asked := len(s.asks)
	out := c.run(words[0])
	if rules.allows(words) {
		s.forget(asked, c.key)
	}
	return out
}

// forget takes back the questions about one command that came since.
func (l *look) forget(since int, key string) {
	since = min(since, len(l.asks))
	kept := l.asks[:since:since]
	for _, q := range l.asks[since:] {
		if q.Key != key || key == "" {
			kept = append(kept, q)
		}
	}
	l.asks = kept
}

// run finds out what is called and judges it.
func (c *call) run(word string) string {
	if strings.Contains(word, unknown) {
		c.ask(c.key, "the name of a command is not known beforehand")
		c.wrapped()
		return unknown
	}
	if f, ok := c.funcs[word]; ok {
		return c.invoke(f, c.args, c.in)
	}
	if text, ok := c.aliases[word]; ok { // a shell may expand it
		c.script(text+" "+quoted(c.args), c.in)
	}
	if strings.ContainsAny(c.name, "*?[") && c.name != "[" && c.name != "[[" {
		c.pattern()
		return unknown
	}
	for _, a := range c.args {
		c.readsArgument(a)
	}
	if p := c.c.known(c.name); p != nil {
		return p(c)
	}
	c.wrapped()
	if strings.Contains(word, "/") {
		c.scriptFile(word)
	}
	return unknown
}

// pattern judges a command whose name is a pattern, which the shell turns into
// that of a file: as each of the programs that it matches.
func (c *call) pattern() {
	c.ask(c.key, "the name of a command is not known beforehand")
	for name := range c.c.programs() {
		if ok, err := path.Match(c.name, name); ok && err == nil {
			c.floorOnly(func(s *scope) { s.call(append([]string{name}, c.args...), c.in) })
		}
	}
}

// quoted joins words to a text that the shell splits into them again.
func quoted(words []string) string {
	var b strings.Builder
	for _, w := range words {
		if q, err := syntax.Quote(w, syntax.LangBash); err == nil {
			w = q
		}
		b.WriteString(w + " ")
	}
	return b.String()
}

// programName is the name that a program is known by.
func programName(word string) string {
	name := path.Base(word)
	return strings.TrimSuffix(name, ".exe")
}

// readsArgument looks whether an argument names a secret: whatever the program,
// it would see it.
func (c *call) readsArgument(arg string) {
	if _, v, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "@") {
		arg = strings.TrimPrefix(v, "@")
	}
	if strings.Contains(arg, "/") || strings.HasPrefix(arg, ".") || strings.HasPrefix(c.cwd, c.c.Home) {
		if len(arg) < 4096 && !strings.ContainsAny(arg, "\n") && !strings.Contains(arg, "://") {
			c.reads(c.key, strings.TrimPrefix(arg, "@"))
		}
	}
}

// wrapped judges the arguments of a program that is not known as if it ran them:
// what would be denied by itself is denied behind whatever wrapper.
func (c *call) wrapped() {
	for i, a := range c.args {
		name := programName(a)
		if c.c.known(name) == nil || harmless(name) {
			continue
		}
		c.floorOnly(func(s *scope) { s.call(c.args[i:], unknown) })
		return
	}
}

// floorOnly runs f and keeps of its questions none.
func (s *scope) floorOnly(f func(*scope)) {
	asks := s.asks
	if s.depth++; s.depth < maxDepth {
		f(s.subshell())
	}
	s.depth--
	s.look.asks = asks
}

// flags splits the arguments in options and operands. Options named in valued,
// as in "n" or "suffix", take the next word as their value.
func (c *call) flags(valued ...string) flags { return parseFlags(c.args, valued...) }

// flags are the parsed arguments of a program.
type flags struct {
	set      map[string]string
	operands []string
}

func parseFlags(args []string, valued ...string) flags {
	takes := make(map[string]bool, len(valued))
	for _, v := range valued {
		takes[v] = true
	}
	f := flags{set: map[string]string{}}
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			f.operands = append(f.operands, args[i+1:]...)
			return f
		case strings.HasPrefix(a, "--"):
			name, v, has := strings.Cut(a[2:], "=")
			if !has && takes[name] && i+1 < len(args) {
				i++
				v = args[i]
			}
			f.set[name] = v
		case strings.HasPrefix(a, "-") && len(a) > 1:
			i += f.cluster(a[1:], args[i+1:], takes)
		default:
			f.operands = append(f.operands, a)
		}
	}
	return f
}

// cluster reads letters such as rf in -rf, and the value of one that takes one.
// It returns how many words of rest it took.
func (f *flags) cluster(letters string, rest []string, takes map[string]bool) int {
	if takes[letters] && len(letters) > 1 && len(rest) > 0 { // one word after a single dash, as in -name
		f.set[letters] = rest[0]
		return 1
	}
	for i, r := range letters {
		name := string(r)
		if !takes[name] {
			f.set[name] = ""
			continue
		}
		if v := letters[i+len(name):]; v != "" {
			f.set[name] = v
			return 0
		}
		f.set[name] = ""
		if len(rest) > 0 {
			f.set[name] = rest[0]
			return 1
		}
	}
	return 0
}

// has reports whether any of the options was given.
func (f flags) has(names ...string) bool {
	for _, n := range names {
		if _, ok := f.set[n]; ok {
			return true
		}
	}
	return false
}

// value returns the value of the first of the options that was given.
func (f flags) value(names ...string) string {
	for _, n := range names {
		if v, ok := f.set[n]; ok {
			return v
		}
	}
	return ""
}

// hasUnknown reports whether any of words is not known.
func hasUnknown(words []string) bool {
	for _, w := range words {
		if strings.Contains(w, unknown) {
			return true
		}
	}
	return false
}
