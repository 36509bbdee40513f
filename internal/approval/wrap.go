package approval

import (
	"strings"
	"sync"
)

// wrap says how a program that runs another one takes its arguments.
type wrap struct {
	// valued are its options that take a value, skip the operands before the
	// command, sub the words that must come first, as in poetry run.
	valued []string
	skip   int
	sub    []string
	// ask is why the program itself is asked for; empty does not ask.
	ask string
	// text says that the command is one text for a shell, in the option named
	// or, with "*", in all operands joined.
	text string
}

// wrappers are programs that run other programs. The table is made when it is
// first needed: a start of the program that judges nothing pays nothing for it.
var wrappers = sync.OnceValue(func() map[string]wrap {
	return map[string]wrap{
		"sudo":         {valued: []string{"u", "g", "h", "p", "C", "T", "r", "t", "D", "R", "user", "group", "chdir", "prompt"}, ask: "it runs with the rights of another user"},
		"doas":         {valued: []string{"u", "C"}, ask: "it runs with the rights of another user"},
		"pkexec":       {valued: []string{"user"}, ask: "it runs with the rights of another user"},
		"su":           {valued: []string{"c", "command", "s", "shell", "g"}, text: "c", skip: 99, ask: "it runs with the rights of another user"},
		"runuser":      {valued: []string{"u", "c", "s", "g"}, text: "c", ask: "it runs with the rights of another user"},
		"env":          {valued: []string{"u", "unset", "C", "chdir", "S", "split-string"}},
		"nohup":        {},
		"time":         {valued: []string{"f", "o", "format", "output"}},
		"timeout":      {valued: []string{"k", "s", "kill-after", "signal"}, skip: 1},
		"gtimeout":     {valued: []string{"k", "s", "kill-after", "signal"}, skip: 1},
		"nice":         {valued: []string{"n", "adjustment"}},
		"ionice":       {valued: []string{"c", "n", "p", "class", "classdata"}},
		"chrt":         {valued: []string{"T", "P", "D"}, skip: 1},
		"taskset":      {valued: []string{"p"}, skip: 1},
		"setsid":       {},
		"stdbuf":       {valued: []string{"i", "o", "e", "input", "output", "error"}},
		"unbuffer":     {},
		"command":      {},
		"builtin":      {},
		"exec":         {valued: []string{"a"}},
		"coproc":       {},
		"caffeinate":   {valued: []string{"t", "w"}},
		"strace":       {valued: []string{"e", "o", "p", "s", "u", "E"}},
		"ltrace":       {valued: []string{"e", "o", "p", "s", "u"}},
		"gdb":          {valued: []string{"ex", "p", "x"}},
		"valgrind":     {},
		"watch":        {valued: []string{"n", "interval", "d"}, text: "*"},
		"entr":         {},
		"flock":        {valued: []string{"w", "E", "timeout", "c", "command"}, skip: 1, text: "c"},
		"script":       {valued: []string{"c", "command", "t", "o"}, text: "c", skip: 99},
		"busybox":      {},
		"toybox":       {},
		"chroot":       {valued: []string{"userspec", "groups"}, skip: 1, ask: "it changes the root directory"},
		"unshare":      {valued: []string{"S", "G", "R", "w"}},
		"nsenter":      {valued: []string{"t", "S", "G", "target"}, ask: "it enters another namespace"},
		"systemd-run":  {valued: []string{"u", "unit", "p", "property", "E"}, ask: "it starts a system service"},
		"firejail":     {},
		"proxychains":  {},
		"proxychains4": {},
		"poetry":       {sub: []string{"run"}},
		"pipenv":       {sub: []string{"run"}},
		"pdm":          {sub: []string{"run"}},
		"hatch":        {sub: []string{"run"}},
		"uv":           {sub: []string{"run"}, valued: []string{"with", "python", "p", "extra", "group"}},
		"bundle":       {sub: []string{"exec"}},
		"direnv":       {sub: []string{"exec"}, skip: 1},
		"mise":         {sub: []string{"exec"}},
		"rtk":          {},
		"dotenv":       {valued: []string{"e", "f"}},
		"hyperfine":    {valued: []string{"w", "r", "m", "M", "n", "p", "prepare", "warmup", "runs"}, text: "*"},
		"nix-shell":    {valued: []string{"p", "run", "command"}, text: "run", skip: 99},
		"perf":         {sub: []string{"stat"}},
	}
})

// wrapper judges a program that runs another one: itself, then the other.
func wrapper(c *call) string {
	w := wrappers()[c.name]
	if w.ask != "" {
		c.ask(c.key, c.name+": "+w.ask)
	}
	c.attaches()
	args := c.args
	for _, word := range w.sub {
		if len(args) == 0 || args[0] != word {
			return unknown
		}
		args = args[1:]
	}
	f, rest := leading(args, w.valued...)
	inner := c
	if dir := f.value("C", "chdir", "D"); dir != "" && (c.name == "env" || c.name == "sudo") {
		moved := *c
		moved.scope = c.subshell()
		moved.args = []string{dir}
		changeDir(&moved)
		inner = &moved
	}
	if c.name == "command" && f.has("v", "V") {
		return unknown
	}
	if s := f.value("S", "split-string"); c.name == "env" && s != "" {
		return inner.script(s+" "+strings.Join(rest, " "), c.in)
	}
	switch {
	case w.text == "*":
		return inner.subshell().script(strings.Join(rest, " "), c.in)
	case w.text != "":
		c.textOption(inner, w, args)
	}
	rest = inner.skipOperands(rest, w.skip)
	if len(rest) == 0 {
		if c.name == "sudo" && f.has("s", "i") || w.skip == 99 {
			return c.shellOf(f)
		}
		return ""
	}
	return inner.scope.call(rest, c.in)
}

// attaches asks for debuggers that go into processes which run already, or are
// given commands.
func (c *call) attaches() {
	switch c.name {
	case "gdb", "strace", "ltrace", "perf":
		f := parseFlags(c.args, "p", "pid", "ex", "eval-command")
		run, shell := strings.CutPrefix(f.value("ex", "eval-command"), "shell ")
		if shell {
			c.floorOnly(func(s *scope) { s.script(run, unknown) })
		}
		if shell || f.has("p", "pid") || strings.Contains(run, "system") {
			c.ask(c.key, c.name+" goes into a process that runs already, or is given commands")
		}
	}
}

// textOption judges the commands in an option such as su -c TEXT.
func (c *call) textOption(inner *call, w wrap, args []string) {
	f := parseFlags(args, w.valued...)
	for _, name := range []string{w.text, "command"} {
		if t := f.value(name); t != "" {
			inner.subshell().script(t, c.in)
		}
	}
}

// shellOf judges the shell that a wrapper starts when it is given no command.
func (c *call) shellOf(f flags) string {
	if f.has("c", "command", "run") {
		return unknown
	}
	return c.stdinScript(nil)
}

// skipOperands leaves out what stands before the command: variables that are
// set, and as many operands as the wrapper takes.
func (c *call) skipOperands(rest []string, n int) []string {
	if c.name == "env" || c.name == "sudo" || c.name == "doas" {
		for len(rest) > 0 && isAssignment(rest[0]) {
			name, v, _ := strings.Cut(rest[0], "=")
			c.vars[name] = text(v)
			c.setsVariable(name, v)
			rest = rest[1:]
		}
	}
	rest = rest[min(n, len(rest)):]
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	return rest
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}
