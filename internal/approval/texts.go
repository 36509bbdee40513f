package approval

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
)

// foundName stands for the name of a file that a program such as find or ls
// prints: some file at the place that the program looked at.
const foundName = "\uE001found"

// everyName stands for the names of all files of the current directory, which
// ls prints.
const everyName = "*"

// echo prints its arguments.
func echo(c *call) string {
	args, escapes := c.args, false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		escapes = escapes || strings.Contains(args[0], "e")
		args = args[1:]
	}
	out := strings.Join(args, " ")
	if escapes {
		if s, _, err := expand.Format(c.config(), out, nil); err == nil {
			out = s
		}
	}
	return out + "\n"
}

// printf prints its arguments in the form of the first; -v sets a variable.
func printf(c *call) string {
	args, name := c.args, ""
	if len(args) > 2 && args[0] == "-v" {
		name, args = args[1], args[2:]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return ""
	}
	out := formatAll(c, args[0], args[1:])
	if name != "" {
		c.vars[name] = text(out)
		return ""
	}
	return out
}

// formatAll repeats a format until the arguments are used up, as printf does.
func formatAll(c *call, format string, args []string) string {
	if strings.Contains(format, unknown) {
		return unknown
	}
	var b strings.Builder
	for range maxWords {
		s, n, err := expand.Format(c.config(), format, args)
		if err != nil {
			return unknown
		}
		b.WriteString(s)
		if args = args[min(n, len(args)):]; n == 0 || len(args) == 0 {
			break
		}
	}
	return b.String()
}

// cat prints files, or passes its input on.
func cat(c *call) string {
	f := c.flags()
	if len(f.operands) == 0 {
		return c.in
	}
	var b strings.Builder
	for _, name := range f.operands {
		switch name {
		case "-", "/dev/stdin":
			b.WriteString(c.in)
		default:
			b.WriteString(c.fileText(name))
		}
	}
	return b.String()
}

// decode undoes encodings that commands are hidden in.
func decode(c *call) string {
	in := strings.TrimSpace(c.in)
	f := c.flags("w", "wrap")
	if c.name == "base64" || c.name == "base32" || c.name == "xxd" || c.name == "openssl" {
		if len(f.operands) == 1 && c.name != "openssl" {
			in = strings.TrimSpace(c.fileText(f.operands[0]))
		}
	}
	if in == "" && c.in == "" || strings.Contains(in, unknown) {
		return unknown
	}
	switch {
	case c.name == "rev":
		return reverseLines(in)
	case c.name == "base64" && f.has("d", "D", "decode"), c.name == "openssl" && slices.Contains(c.args, "-d"):
		if b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(in), "")); err == nil {
			return string(b)
		}
	case c.name == "base32" && f.has("d", "decode"):
		if b, err := base32.StdEncoding.DecodeString(strings.Join(strings.Fields(in), "")); err == nil {
			return string(b)
		}
	case c.name == "xxd" && f.has("r") && f.has("p", "ps", "rp", "pr"):
		if b, err := hex.DecodeString(strings.Join(strings.Fields(in), "")); err == nil {
			return string(b)
		}
	}
	return unknown
}

func reverseLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		r := []rune(l)
		slices.Reverse(r)
		lines[i] = string(r)
	}
	return strings.Join(lines, "\n")
}

// filter judges grep and others that print some of what they read, or names.
func (c *call) filter() string {
	f := c.flags("e", "f", "m", "A", "B", "C", "n", "k", "t", "include", "exclude", "exclude-dir", "g", "glob", "c")
	if pre := f.value("pre"); pre != "" {
		c.ask(c.key, "rg --pre runs a program")
	}
	if f.has("l", "files-with-matches", "L", "files") && c.in == "" {
		dirs := f.operands
		if !f.has("e") && !f.has("files") && len(dirs) > 0 {
			dirs = dirs[1:]
		}
		return found(dirs)
	}
	switch c.in {
	case "":
		return unknown
	case everyName + "\n":
		return foundName + "\n"
	}
	return c.in
}

// list judges ls: it prints names.
func list(c *call) string {
	f := c.flags("I", "ignore", "w", "T")
	if f.has("l") {
		return unknown
	}
	if len(f.operands) == 0 {
		return everyName + "\n"
	}
	return found(f.operands)
}

// found is a file somewhere below each of dirs, or below the current directory.
func found(dirs []string) string {
	if len(dirs) == 0 {
		return foundName + "\n"
	}
	var b strings.Builder
	for _, d := range dirs {
		b.WriteString(strings.TrimSuffix(d, "/") + "/" + foundName + "\n")
	}
	return b.String()
}

// makeTemp is mktemp: what it prints is a new name in a temporary directory.
func makeTemp(c *call) string {
	f := c.flags("p", "tmpdir", "suffix")
	name := "rondo-" + foundName
	if len(f.operands) > 0 {
		name = f.operands[0]
	}
	if d := f.value("p", "tmpdir"); d != "" {
		name = path.Join(d, name)
	} else if len(f.operands) == 0 || f.has("t", "tmpdir") {
		name = path.Join(c.c.Temp[0], name)
	}
	c.writes(c.key, "mktemp", name)
	return name + "\n"
}

// changeDir follows cd.
func changeDir(c *call) string {
	f := c.flags()
	switch {
	case c.name == "popd":
		c.cwd = unknown
	case len(f.operands) == 0:
		c.cwd = c.Get("HOME").String()
	case f.operands[0] == "-" || strings.Contains(f.operands[0], unknown):
		c.cwd = unknown
	default:
		if p := c.locate(f.operands[0], true); p.path != "" {
			c.cwd = p.path
		} else {
			c.cwd = unknown
		}
	}
	return ""
}

// setsVariables judges builtins that set variables to what is not known.
func setsVariables(c *call) string {
	switch c.name {
	case "shift":
		if len(c.params) > 0 {
			c.params = c.params[1:]
		}
	case "unset":
		for _, name := range c.args {
			delete(c.vars, name)
			c.vars[name] = variable{}
		}
	case "read", "mapfile", "readarray", "getopts", "let":
		c.readInto(c.flags("p", "d", "n", "N", "t", "u", "i", "a").operands)
	default:
		for _, a := range c.args {
			if name, v, ok := strings.Cut(a, "="); ok {
				c.vars[name] = text(v)
				c.setsVariable(name, v)
			} else if strings.Contains(a, unknown) {
				c.loose = true
			}
		}
	}
	return ""
}

// readInto sets the variables of read: to the one line of a known input, else to
// what is not known.
func (c *call) readInto(names []string) {
	line, rest, _ := strings.Cut(c.in, "\n")
	if rest != "" || c.in == "" || c.name != "read" || len(names) != 1 {
		line = unknown
		if strings.Contains(c.in, foundName) && len(names) == 1 {
			line, _, _ = strings.Cut(c.in, "\n")
		}
	}
	if len(names) == 0 {
		c.loose = true
	}
	for _, name := range names {
		if c.name == "let" {
			name, _, _ = strings.Cut(name, "=")
		}
		c.vars[name] = text(line)
	}
	if a := c.flags("a").value("a"); a != "" {
		c.vars[a] = text(unknown)
	}
}
