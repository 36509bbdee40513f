package approval

import "strings"

// find judges what find does with the files that it finds.
func find(c *call) string {
	if c.name != "find" {
		return c.findByName()
	}
	roots, tests := splitFind(c.args)
	if len(roots) == 0 {
		roots = []string{"."}
	}
	narrow := narrows(tests)
	targets := make([]string, len(roots))
	for i, r := range roots {
		targets[i] = r
		if narrow {
			targets[i] = strings.TrimSuffix(r, "/") + "/" + foundName
		}
	}
	for i := 0; i < len(tests); i++ {
		switch tests[i] {
		case "-delete":
			for _, t := range targets {
				c.removes(c.key, "find -delete", t)
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(tests) && tests[end] != ";" && tests[end] != "+" {
				end++
			}
			c.execOn(tests[i+1:end], targets)
			i = end
		case "-fprint", "-fprintf", "-fls", "-fprint0":
			if i+1 < len(tests) {
				c.writes(c.key, "find", tests[i+1])
			}
		}
	}
	return strings.Join(targets, "\n") + "\n"
}

// execOn judges a command that is run on each of the targets.
func (c *call) execOn(command, targets []string) {
	if len(command) == 0 {
		return
	}
	for _, t := range targets {
		words := make([]string, len(command))
		for i, w := range command {
			words[i] = strings.ReplaceAll(w, "{}", t)
		}
		c.subshell().call(words, unknown)
	}
}

// splitFind splits the arguments of find in starting points and the expression.
func splitFind(args []string) (roots, tests []string) {
	i := 0
	for i < len(args) && (args[i] == "-L" || args[i] == "-H" || args[i] == "-P" || strings.HasPrefix(args[i], "-O")) {
		i++
	}
	for ; i < len(args); i++ {
		if strings.HasPrefix(args[i], "-") || args[i] == "(" || args[i] == "!" {
			break
		}
		roots = append(roots, args[i])
	}
	return roots, args[i:]
}

// narrows reports whether an expression leaves out some files by their names,
// age or size.
func narrows(tests []string) bool {
	for i, t := range tests {
		next := ""
		if i+1 < len(tests) {
			next = tests[i+1]
		}
		switch t {
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex":
			if !matchesAll(next) && next != ".*" {
				return true
			}
		case "-mtime", "-mmin", "-newer", "-size", "-empty", "-user", "-perm", "-atime", "-ctime", "-xtype", "-lname", "-inum":
			return true
		}
	}
	return false
}

// findByName judges fd, which runs commands with -x and -X.
func (c *call) findByName() string {
	for i, a := range c.args {
		if a == "-x" || a == "-X" || a == "--exec" || a == "--exec-batch" {
			f := parseFlags(c.args[:i], "e", "t", "d", "E")
			dirs := f.operands[min(1, len(f.operands)):]
			command := c.args[i+1:]
			if !strings.Contains(strings.Join(command, " "), "{") {
				command = append(command[:len(command):len(command)], "{}")
			}
			targets := strings.Fields(found(dirs))
			if len(f.operands) == 0 || matchesAll(f.operands[0]) || f.operands[0] == "." {
				targets = append(targets, dirs...)
			}
			c.execOn(command, targets)
		}
	}
	f := c.flags("e", "t", "d", "E", "x", "X")
	return found(f.operands[min(1, len(f.operands)):])
}
