package approval

import (
	"path"
	"strings"
)

// shell judges a shell: the text after -c, a script, or what it reads.
func shell(c *call) string {
	args := c.args
	for len(args) > 0 && (strings.HasPrefix(args[0], "-") || strings.HasPrefix(args[0], "+")) && args[0] != "-" {
		a := args[0]
		args = args[1:]
		switch {
		case a == "--":
		case a == "-o" || a == "+o" || a == "-O" || a == "+O" || a == "--rcfile" || a == "--init-file":
			args = args[min(1, len(args)):]
			continue
		case !strings.HasPrefix(a, "--") && strings.Contains(a, "c"):
			return c.commandText(args)
		case !strings.HasPrefix(a, "--") && strings.Contains(a, "s"):
			return c.stdinScript(args)
		default:
			continue
		}
		break
	}
	switch {
	case len(args) == 0 || args[0] == "-":
		return c.stdinScript(nil)
	case args[0] == "/dev/stdin" || args[0] == "/dev/fd/0" || args[0] == "/proc/self/fd/0":
		return c.stdinScript(args[1:])
	}
	inner := c.fresh(args[1:])
	if t, ok := c.files[args[0]]; ok {
		return inner.whole(t, c.in)
	}
	if t := c.fileText(args[0]); t != unknown {
		return inner.whole(t, c.in)
	}
	if strings.Contains(args[0], unknown) {
		c.ask(c.key, "a shell is given a script that is not known beforehand")
	}
	c.scriptFile(args[0])
	return unknown
}

// fresh returns the scope of a new shell with the given parameters.
func (s *scope) fresh(params []string) *scope {
	inner := s.subshell()
	inner.funcs = map[string]*function{}
	inner.params = params
	return inner
}

// whole judges a text that is a script of its own.
func (s *scope) whole(text, in string) string {
	out := s.script(text, in)
	s.finish()
	return out
}

// commandText judges sh -c TEXT NAME PARAMETERS.
func (c *call) commandText(args []string) string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && len(args) > 1 {
		args = args[1:] // as in sh -c -e TEXT
	}
	if len(args) == 0 {
		return ""
	}
	var params []string
	if len(args) > 2 {
		params = args[2:]
	}
	return c.fresh(params).whole(args[0], c.in)
}

// stdinScript judges a shell that reads its commands.
func (c *call) stdinScript(params []string) string {
	if strings.Contains(c.in, unknown) {
		c.ask(c.key, "a shell runs what another program prints, which is not known beforehand")
		if c.in == unknown {
			return unknown
		}
	}
	return c.fresh(params).whole(c.in, "")
}

// maxScript bounds the scripts that are looked into, in bytes.
const maxScript = 256 << 10

// scriptFile looks into a script for what no setting allows. What it does
// otherwise is its author's: it is part of the workspace.
func (c *call) scriptFile(name string) {
	p := c.locate(name, true)
	if p.path == "" || c.c.ReadFile == nil {
		return
	}
	b, err := c.c.ReadFile(p.path)
	if err != nil || len(b) > maxScript || strings.IndexByte(string(b[:min(len(b), 512)]), 0) >= 0 {
		return
	}
	first, _, _ := strings.Cut(string(b), "\n")
	isShell := strings.HasPrefix(first, "#!") && strings.HasSuffix(programName(strings.Fields(first + " x")[0]), "sh") || strings.HasSuffix(first, "sh")
	if !isShell && !isShellName(c.name) && c.name != "source" && c.name != "." && path.Ext(name) != ".sh" {
		return
	}
	c.floorOnly(func(s *scope) { s.fresh([]string{unknown}).whole(string(b), unknown) })
}

func isShellName(name string) bool {
	switch name {
	case "sh", "bash", "dash", "zsh", "ksh", "ash":
		return true
	}
	return false
}

// eval judges the text that its arguments make.
func eval(c *call) string {
	text := strings.Join(c.args, " ")
	if strings.Contains(text, unknown) {
		c.ask(c.key, "eval is given commands that are not known beforehand")
	}
	if strings.HasPrefix(text, unknown) {
		c.loose = true
		return unknown
	}
	return c.script(text, c.in)
}

// source judges a file that runs in the shell itself.
func source(c *call) string {
	c.loose = true
	if len(c.args) == 0 {
		return ""
	}
	name := c.args[0]
	if name == "/dev/stdin" {
		return c.stdinScript(nil)
	}
	if t := c.fileText(name); t != unknown {
		return c.script(t, c.in)
	}
	if strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, unknown) {
		c.ask(c.key, "the shell is given commands that are not known beforehand")
		return unknown
	}
	c.scriptFile(name)
	return unknown
}

// trap judges a command that runs later.
func trap(c *call) string {
	args := c.args
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) > 1 && args[0] != "-" && args[0] != "" && !strings.HasPrefix(args[0], "-") {
		c.subshell().script(args[0], "")
	}
	return ""
}

// alias judges what aliases stand for.
func alias(c *call) string {
	for _, a := range c.args {
		if name, v, ok := strings.Cut(a, "="); ok {
			c.floorOnly(func(s *scope) { s.script(v, unknown) })
			if first, _, _ := strings.Cut(v, " "); first != name { // as in alias ls='ls --color'
				c.aliases[name] = v
			}
		}
	}
	return ""
}

// xargs judges the command that gets its input as arguments.
func xargs(c *call) string {
	f, rest := c.leading("I", "n", "P", "L", "d", "a", "s", "E", "replace", "max-args", "max-procs", "delimiter", "max-lines", "arg-file", "j", "jobs")
	if len(rest) == 0 {
		return c.in
	}
	if f.has("a", "arg-file") {
		c.in = unknown
	}
	var items []string
	if f.has("0", "null", "d", "delimiter", "I", "replace", "L") {
		items = strings.FieldsFunc(c.in, func(r rune) bool { return r == '\n' || r == 0 })
	} else {
		items = strings.Fields(c.in)
	}
	items = items[:min(len(items), maxUnrolled)]
	replace := f.value("I", "replace")
	if c.name == "parallel" || f.has("replace") && replace == "" {
		replace = "{}"
	}
	if replace == "" || !strings.Contains(strings.Join(rest, " "), replace) {
		if c.name == "parallel" && len(rest) == 1 {
			return c.subshell().script(rest[0]+" "+strings.Join(items, " "), unknown)
		}
		return c.subshell().call(append(rest[:len(rest):len(rest)], items...), unknown)
	}
	for _, item := range items {
		words := make([]string, len(rest))
		for i, w := range rest {
			words[i] = strings.ReplaceAll(w, replace, item)
		}
		c.subshell().call(words, unknown)
	}
	return unknown
}

// leading parses the options before the first operand, which begins a command.
func (c *call) leading(valued ...string) (f flags, rest []string) { return leading(c.args, valued...) }

func leading(args []string, valued ...string) (flags, []string) {
	for n := 0; n <= len(args); n++ {
		f := parseFlags(args[:n], valued...)
		if len(f.operands) > 0 {
			return parseFlags(args[:n-1], valued...), args[n-1:]
		}
		if n > 0 && args[n-1] == "--" {
			return f, args[n:]
		}
	}
	return parseFlags(args, valued...), nil
}
