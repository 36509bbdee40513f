package approval

import (
	"strings"
)

// rm judges rm, unlink, shred and the like.
func rm(c *call) string {
	f := c.flags("n", "s", "iterations", "size", "random-source")
	if f.has("no-preserve-root") {
		c.deny(c.name + " --no-preserve-root is only of use to remove the root")
	}
	for _, name := range f.operands {
		c.removes(c.key, c.name, name)
	}
	return ""
}

// mv judges mv: its sources go away, its target is written.
func mv(c *call) string {
	f := c.flags("t", "target-directory", "S", "suffix")
	sources, target := f.targets()
	for _, name := range sources {
		c.removes(c.key, c.name, name)
	}
	c.into(target, sources)
	return ""
}

// copies judges cp, install, ln and rsync.
func copies(c *call) string {
	f := c.flags(copyOptions(c.name)...)
	sources, target := f.targets()
	if c.name == "ln" && target == "" && len(sources) == 1 {
		return ""
	}
	for _, name := range sources {
		c.reads(c.key, name)
	}
	if rsh := f.value("e", "rsh"); c.name == "rsync" && rsh != "" {
		c.namesProgram("rsync --rsh", rsh)
	}
	switch {
	case c.name == "rsync" && (remote(target) || anyRemote(sources)):
		c.ask(c.key, "rsync talks to another machine")
	case c.name == "rsync" && f.has("delete", "delete-after", "delete-before", "delete-excluded", "remove-source-files"):
		c.removes(c.key, c.name, strings.TrimSuffix(target, "/")+"/*")
	case c.name == "scp" && (remote(target) || anyRemote(sources)):
		c.ask(c.key, "scp talks to another machine")
	default:
		c.into(target, sources)
	}
	return ""
}

// copyOptions are the options of a program that copies which take a value.
func copyOptions(name string) []string {
	switch name {
	case "install":
		return []string{"t", "target-directory", "S", "suffix", "m", "mode", "o", "owner", "g", "group"}
	case "rsync":
		return []string{"e", "rsh", "exclude", "include", "f", "filter", "exclude-from", "include-from", "files-from", "backup-dir", "suffix", "T", "temp-dir", "B", "M", "rsync-path"}
	case "scp":
		return []string{"c", "F", "i", "J", "l", "o", "P", "S", "X"}
	}
	return []string{"t", "target-directory", "S", "suffix"}
}

func remote(name string) bool {
	host, _, ok := strings.Cut(name, ":")
	return ok && !strings.Contains(host, "/") && host != ""
}

func anyRemote(names []string) bool {
	for _, n := range names {
		if remote(n) {
			return true
		}
	}
	return false
}

// into judges that sources are put at or into target.
func (c *call) into(target string, sources []string) {
	if target == "" {
		return
	}
	c.writes(c.key, c.name, target)
	for _, name := range sources { // cp f /etc writes /etc/f
		if p := c.locate(target, true); p.kind == protected && p.path != "" {
			c.writes(c.key, c.name, p.path+"/"+programName(name))
		}
	}
}

// targets splits operands in sources and the target.
func (f flags) targets() (sources []string, target string) {
	if t := f.value("t", "target-directory"); t != "" {
		return f.operands, t
	}
	if n := len(f.operands); n > 1 {
		return f.operands[:n-1], f.operands[n-1]
	}
	return f.operands, ""
}

// makes judges programs whose operands are files that they make or write.
func makes(c *call) string {
	f := c.flags("m", "mode", "r", "reference", "d", "date", "t", "s", "size", "o", "l", "length", "n")
	for _, name := range f.operands {
		c.writes(c.key, c.name, name)
	}
	return ""
}

// truncates judges truncate: what it cuts is lost.
func truncates(c *call) string {
	f := c.flags("s", "size", "r", "reference", "o")
	for _, name := range f.operands {
		c.writes(c.key, c.name, name)
	}
	return ""
}

// tee passes its input on to files.
func tee(c *call) string {
	for _, name := range c.flags().operands {
		c.writes(c.key, c.name, name)
		if p := c.locate(name, true); p.path != "" {
			c.files[p.path] = c.in
		}
	}
	return c.in
}

// owns judges chmod, chown, chgrp, setfacl and chattr.
func owns(c *call) string {
	f := c.flags("reference", "from", "m", "modify", "x", "p")
	names := f.operands
	if !f.has("reference") && len(names) > 0 {
		if mode := names[0]; c.name == "chmod" && (strings.Contains(mode, "s") && strings.Contains(mode, "+") || len(mode) == 4 && strings.ContainsAny(mode[:1], "2467")) {
			c.ask(c.key, "chmod "+mode+" lets others run the file with its owner's rights")
		}
		names = names[1:]
	}
	for _, name := range names {
		p := c.locate(name, true)
		switch p.kind {
		case protected, critical:
			c.deny(c.name + " would change the rights of " + show(p, name) + ", which the system needs as they are")
		case repository:
			c.ask(c.key, c.name+" would change the rights of "+show(p, name)+", which holds history or settings")
		case rawDevice, outside, secret:
			c.ask(c.key, c.name+" would change the rights of "+show(p, name)+", which is outside of the workspace")
		case nowhere:
			c.ask(c.key, c.name+" would change the rights of what is not known beforehand")
		}
	}
	return ""
}

// dd judges dd by its of= operand.
func dd(c *call) string {
	for _, a := range c.args {
		if name, ok := strings.CutPrefix(a, "of="); ok {
			c.writes(c.key, "dd", name)
		}
		if name, ok := strings.CutPrefix(a, "if="); ok {
			c.reads(c.key, name)
		}
	}
	return unknown
}

// editsInPlace judges sed and perl, which change files only with -i, and the
// commands that their scripts run.
func sed(c *call) string {
	f := c.flags("e", "expression", "f", "file", "l", "s")
	inPlace := false
	for _, a := range c.args {
		inPlace = inPlace || a == "--in-place" || strings.HasPrefix(a, "--in-place=") || strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "i") && !f.has("file")
	}
	names := f.operands
	if !f.has("e", "expression", "f", "file") && len(names) > 0 {
		c.sedScript(names[0])
		names = names[1:]
	}
	for i, a := range c.args {
		if (a == "-e" || a == "--expression") && i+1 < len(c.args) {
			c.sedScript(c.args[i+1])
		} else if code, ok := strings.CutPrefix(a, "--expression="); ok {
			c.sedScript(code)
		}
	}
	if !inPlace {
		return c.pass()
	}
	for _, name := range names {
		c.writes(c.key, c.name, name)
	}
	return ""
}

// pass is the output of a filter: known to be nothing only if its input is.
func (c *call) pass() string {
	if c.in == "" {
		return unknown
	}
	if c.in == everyName+"\n" {
		return foundName + "\n"
	}
	if strings.Contains(c.in, foundName) {
		return c.in
	}
	return unknown
}

// unpacks judges tar, unzip and the like by where they write.
func unpacks(c *call) string {
	dirs := map[string][]string{"tar": {"C", "directory"}, "unzip": {"d"}, "bsdtar": {"C", "directory"}}[c.name]
	f := c.flags("C", "directory", "d", "f", "file", "x", "exclude", "I", "T", "strip-components", "to-command", "use-compress-program")
	for _, option := range []string{"to-command", "use-compress-program", "I", "checkpoint-action"} {
		if v := f.value(option); v != "" {
			c.subshell().script(strings.TrimPrefix(v, "exec="), unknown)
			if option != "use-compress-program" && option != "I" && v != "cat" {
				c.ask(c.key, c.name+" runs other programs")
			}
		}
	}
	if f.has("P", "absolute-names") {
		c.ask(c.key, c.name+" would unpack to absolute paths")
	}
	if f.has("remove-files") {
		c.ask(c.key, "tar would remove what it packs")
	}
	for _, d := range dirs {
		if v := f.value(d); v != "" {
			c.writes(c.key, c.name, v)
		}
	}
	if c.name == "tar" && len(c.args) > 0 && strings.Contains(strings.TrimPrefix(c.args[0], "-"), "c") {
		if v := f.value("f", "file"); v != "" && v != "-" {
			c.writes(c.key, c.name, v)
		}
	}
	return unknown
}
