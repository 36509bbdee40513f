package approval

import "strings"

// editor judges editors: the files that they open can be changed, and the
// commands that they are started with can run others.
func editor(c *call) string {
	valued := []string{"c", "cmd", "s", "S", "u", "T", "eval", "load", "l", "script"}
	if c.name == "ed" || c.name == "ex" {
		valued = []string{"c", "p", "prompt"}
	}
	f := c.flags(valued...)
	for i, a := range c.args {
		command, ok := strings.CutPrefix(a, "+")
		switch {
		case ok:
		case (a == "-c" || a == "--cmd" || a == "--eval" || a == "-eval") && i+1 < len(c.args):
			command = c.args[i+1]
		default:
			continue
		}
		c.editorCommand(command)
	}
	if strings.Contains(c.in, "!") {
		c.ask(c.key, c.name+" may run other programs by what it reads")
	}
	for _, name := range f.operands {
		if !strings.HasPrefix(name, "+") {
			c.writes(c.key, c.name, name)
		}
	}
	return unknown
}

// editorCommand judges a command that an editor is started with.
func (c *call) editorCommand(command string) {
	_, run, ok := strings.Cut(command, "!")
	if !ok && !strings.Contains(command, "system") && !strings.Contains(command, "shell-command") && !strings.Contains(command, "process") {
		return
	}
	if run != "" {
		c.floorOnly(func(s *scope) { s.script(run, unknown) })
	}
	for _, m := range patterns().literals.FindAllStringSubmatch(command, 16) {
		c.floorOnly(func(s *scope) { s.script(m[1]+m[2]+m[3], unknown) })
	}
	if ok && run == "" { // as in q!
		return
	}
	c.ask(c.key, c.name+" runs other programs")
}

// archiver judges zip, which can run a program to test what it made.
func archiver(c *call) string {
	for i, a := range c.args {
		if (a == "-TT" || a == "--unzip-command") && i+1 < len(c.args) {
			c.floorOnly(func(s *scope) { s.script(c.args[i+1], unknown) })
			c.ask(c.key, c.name+" runs other programs")
		}
	}
	f := c.flags("TT", "unzip-command", "x", "i", "b", "t", "n", "P")
	for _, name := range f.operands[:min(1, len(f.operands))] {
		c.writes(c.key, c.name, name)
	}
	return unknown
}

// makefile judges make: what its files do is their author's, but code on the
// command line is looked at.
func makefile(c *call) string {
	for i, a := range c.args {
		code, ok := strings.CutPrefix(a, "--eval=")
		if a == "--eval" && i+1 < len(c.args) {
			code, ok = c.args[i+1], true
		}
		if ok {
			c.floorOnly(func(s *scope) { s.script(code, unknown) })
			c.ask(c.key, c.name+" is given rules on the command line")
		}
		if _, run, ok := strings.Cut(a, "$(shell "); ok {
			c.floorOnly(func(s *scope) { s.script(strings.TrimSuffix(run, ")"), unknown) })
			c.ask(c.key, c.name+" runs a program by a variable")
		}
		if name, v, ok := strings.Cut(a, "="); ok && (name == "SHELL" || name == "MAKE") && !isShellName(programName(v)) && v != "make" {
			c.ask(c.key, c.name+" runs its commands by "+v)
		}
	}
	if dir := c.flags("C", "directory", "f", "file", "j", "o", "W", "I").value("C", "directory"); dir != "" {
		switch c.locate(dir, true).kind {
		case outside, secret, protected, critical:
			c.ask(c.key, c.name+" works in "+dir+", which is outside of the workspace")
		}
	}
	return unknown
}
