package approval

import (
	"regexp"
	"strings"
	"sync"
)

// interpret judges programs in another language: those on the command line and
// those that come through a pipe. A script in a file is the user's or the
// agent's own and is not looked into.
func interpret(c *call) string {
	code, ok := inlineCode(c)
	switch {
	case ok && strings.Contains(code, unknown):
		c.ask(c.key, c.name+" is given code that is not known beforehand")
	case ok:
	case c.readsCode():
		if strings.Contains(c.in, unknown) {
			c.ask(c.key, c.name+" runs what another program prints, which is not known beforehand")
		}
		code = c.in
	default:
		c.inPlacePerl()
		return unknown
	}
	c.code(code)
	return unknown
}

// inlineCode returns the code among the arguments.
func inlineCode(c *call) (string, bool) {
	letters := map[string]string{"perl": "eE", "ruby": "e", "node": "ep", "nodejs": "ep", "php": "r", "lua": "e", "osascript": "e", "bun": "e"}[c.name]
	if strings.HasPrefix(c.name, "py") {
		letters = "c"
	}
	var code []string
	for i, a := range c.args {
		switch {
		case a == "--eval" || a == "--print" || c.name == "deno" && a == "eval":
			if i+1 < len(c.args) {
				code = append(code, c.args[i+1])
			}
		case strings.HasPrefix(a, "--eval="):
			code = append(code, a[len("--eval="):])
		case letters != "" && len(a) > 1 && a[0] == '-' && a[1] != '-':
			j := strings.IndexAny(a[1:], letters)
			if j < 0 || !clusterOfSwitches(a[1:1+j]) {
				continue
			}
			if rest := a[j+2:]; rest != "" && strings.HasPrefix(c.name, "py") {
				code = append(code, rest)
			} else if i+1 < len(c.args) {
				code = append(code, c.args[i+1])
			}
		case a != "" && a[0] != '-':
			if len(code) == 0 {
				return "", false
			}
		}
	}
	return strings.Join(code, "\n"), len(code) > 0
}

// clusterOfSwitches reports whether letters may stand before that of the code.
func clusterOfSwitches(letters string) bool {
	return strings.Trim(letters, "0123456789abdilnpqsuvwxBEINOPSWX.") == ""
}

// readsCode reports whether the interpreter reads its program from its input.
func (c *call) readsCode() bool {
	if c.in == "" || c.typed {
		return c.in != ""
	}
	for _, a := range c.args {
		switch {
		case a == "-" || a == "/dev/stdin":
			return true
		case strings.HasPrefix(a, "-m"), !strings.HasPrefix(a, "-"):
			return false
		}
	}
	return true
}

// inPlacePerl judges perl -i.
func (c *call) inPlacePerl() {
	if c.name != "perl" && c.name != "ruby" {
		return
	}
	for _, a := range c.args {
		if strings.HasPrefix(a, "/") || strings.HasPrefix(a, "..") || strings.HasPrefix(a, "~") {
			c.writes(c.key, c.name, a)
		}
	}
}

// codePatterns find in code of another language what matters for its judgement.
type codePatterns struct{ literals, runsOthers, removesTree, awkRuns *regexp.Regexp }

var patterns = sync.OnceValue(func() codePatterns {
	return codePatterns{
		literals:    regexp.MustCompile(`"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|` + "`((?:[^`\\\\]|\\\\.)*)`"),
		runsOthers:  regexp.MustCompile(`\b(system|popen|exec\w*|spawn\w*|subprocess|shell_exec|passthru|child_process|check_call|check_output|Open3|backtick)\b|%x|` + "`"),
		removesTree: regexp.MustCompile(`\b(rmtree|remove_tree|rm_rf|rm_r|rmSync|rmdirSync|removedirs|FileUtils\.rm\w*|fs\.rm\w*|unlink\w*|os\.remove|shutil\.move)\b`),
		awkRuns:     regexp.MustCompile(`system\s*\(|\|\s*"|"\s*\|\s*getline|\|&`),
	}
})

// code judges code of another language by its string literals: those that are
// commands as such, and those that are paths where it removes trees.
func (c *call) code(code string) {
	p := patterns()
	others, trees := p.runsOthers.MatchString(code), p.removesTree.MatchString(code)
	if !others && !trees {
		return
	}
	var words []string
	for _, m := range p.literals.FindAllStringSubmatch(code, 64) {
		lit := m[1] + m[2] + m[3]
		words = append(words, lit)
		if others {
			c.floorOnly(func(s *scope) { s.script(lit, unknown) })
		}
		if trees {
			c.removes(c.key, c.name, expandHome(c, lit))
		}
	}
	if others {
		for i := range words {
			if c.c.programs()[programName(words[i])] != nil && !harmless(words[i]) {
				c.floorOnly(func(s *scope) { s.call(words[i:], unknown) })
				break
			}
		}
		c.ask(c.key, c.name+" runs other programs from code on the command line")
	} else if len(words) == 0 {
		c.ask(c.key, c.name+" removes files from code on the command line")
	}
}

func expandHome(c *call, name string) string {
	if name == "~" || strings.HasPrefix(name, "~/") {
		return c.c.Home + name[1:]
	}
	return name
}

// awk judges the commands that a program of awk runs.
func awk(c *call) string {
	f := c.flags("F", "v", "f", "i")
	if len(f.operands) > 0 && !f.has("f") {
		if code := f.operands[0]; patterns().awkRuns.MatchString(code) {
			for _, m := range patterns().literals.FindAllStringSubmatch(code, 64) {
				c.floorOnly(func(s *scope) { s.script(m[1], unknown) })
			}
			c.ask(c.key, "awk runs other programs")
		}
	}
	if f.value("i") == "inplace" {
		for _, name := range f.operands[min(1, len(f.operands)):] {
			c.writes(c.key, c.name, name)
		}
	}
	return c.pass()
}
