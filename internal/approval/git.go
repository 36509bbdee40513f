package approval

import (
	"slices"
	"strings"
)

// git judges git: what loses work or rewrites what others have asks.
func git(c *call) string {
	args := c.args
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		switch a := args[0]; {
		case a == "-C" || a == "--git-dir" || a == "--work-tree" || a == "--namespace":
			if len(args) > 1 && a == "-C" {
				c.scope = c.subshell()
				moved := *c
				moved.args = args[1:2]
				changeDir(&moved)
			}
			args = args[1:]
		case a == "-c" || a == "--config-env":
			if len(args) > 1 {
				c.gitSetting(args[1])
			}
			args = args[1:]
		case strings.HasPrefix(a, "--exec-path="):
			c.ask(c.key, "git takes its programs from elsewhere")
		}
		args = args[min(1, len(args)):]
	}
	if len(args) == 0 {
		return unknown
	}
	if strings.Contains(args[0], unknown) {
		c.ask(c.key, "the command of git is not known beforehand")
		return unknown
	}
	return c.gitCommand(args[0], args[1:])
}

// gitSetting asks for settings that make git run programs.
func (c *call) gitSetting(kv string) {
	name, v, _ := strings.Cut(kv, "=")
	name = strings.ToLower(name)
	if strings.HasPrefix(v, "!") {
		c.subshell().script(v[1:], unknown)
	}
	switch name {
	case "user.name", "user.email", "color.ui", "core.pager", "commit.gpgsign", "core.quotepath", "core.autocrlf", "init.defaultbranch", "advice.detachedhead", "protocol.version", "http.sslverify", "pull.rebase", "diff.external-off", "core.longpaths":
		if name == "core.pager" && v != "cat" && v != "" && v != "less" {
			c.ask(c.key, "git runs the program "+v)
		}
		return
	}
	if strings.HasPrefix(name, "alias.") && strings.HasPrefix(v, "!") || strings.HasPrefix(name, "core.") || strings.Contains(name, "command") || strings.Contains(name, "cmd") || strings.Contains(name, "textconv") || strings.Contains(name, "external") || strings.HasPrefix(name, "filter.") || strings.Contains(name, "helper") {
		c.ask(c.key, "git runs a program by its setting "+name)
	}
}

// gitCommand judges a command of git and returns what it prints.
func (c *call) gitCommand(name string, args []string) string {
	f := parseFlags(args, "m", "message", "F", "file", "b", "B", "o", "n-max", "author", "date", "x", "exec", "j")
	reason := losesWork(name, f, args)
	switch name {
	case "tag", "remote", "worktree", "submodule", "bisect", "rebase":
		reason = c.gitRuns(name, f, args)
	case "config":
		c.gitConfig(f)
	case "clone", "init":
		if n := len(f.operands); n > 1 || name == "init" && n == 1 {
			c.writes(c.key, "git "+name, f.operands[n-1])
		}
	}
	if reason != "" {
		c.ask(c.key, "git "+name+": "+reason)
	}
	if name == "ls-files" || name == "diff" && f.has("name-only") || name == "grep" && f.has("l", "files-with-matches", "name-only") {
		return foundName + "\n"
	}
	return unknown
}

// gitConfig judges settings that are written: one that makes git run programs is
// asked for.
func (c *call) gitConfig(f flags) {
	ops := f.operands
	if len(ops) > 0 && (ops[0] == "set" || ops[0] == "get" || ops[0] == "list" || ops[0] == "unset") {
		if ops[0] != "set" {
			return
		}
		ops = ops[1:]
	}
	if len(ops) > 1 && !f.has("get", "list", "l", "get-all", "get-regexp", "unset", "unset-all") {
		c.gitSetting(ops[0] + "=" + ops[1])
	}
}

// losesWork says why a command of git has to be asked for, "" if it need not.
func losesWork(name string, f flags, args []string) string {
	first := ""
	if len(f.operands) > 0 {
		first = f.operands[0]
	}
	whole := slices.ContainsFunc(args, func(a string) bool { return slices.Contains([]string{".", "*", ":/", "./", "./*"}, a) })
	switch {
	case name == "push":
		return pushReason(f)
	case name == "reset" && f.has("hard"),
		(name == "checkout" || name == "restore" || name == "switch") && (f.has("f", "force", "discard-changes") || whole && !f.has("staged")):
		return "it throws away changes that are not committed"
	case name == "clean" && !f.has("n", "dry-run"):
		return "it removes files that are not committed"
	case name == "branch" && (f.has("D") || f.has("force", "f") && f.has("d", "delete", "M")):
		return "it removes a branch whose commits may be nowhere else"
	case name == "stash" && (first == "drop" || first == "clear"):
		return "it throws away stashed changes"
	case name == "filter-branch", name == "filter-repo", name == "prune", name == "reflog" && (first == "expire" || first == "delete"),
		(name == "update-ref" || name == "replace") && f.has("d"), name == "gc" && (f.value("prune") == "now" || f.value("prune") == "all"):
		return "it rewrites or removes history"
	case name == "config" && f.has("global", "system") && !f.has("get", "list", "l", "get-all", "get-regexp") && len(f.operands) > 1:
		return "it changes the user's own settings of git"
	case name == "daemon", name == "send-email", name == "svn", name == "credential":
		return "it talks to others or gives away logins"
	}
	return ""
}

// pushReason says why a push has to be asked for.
func pushReason(f flags) string {
	if f.has("f", "force", "force-with-lease", "force-if-includes", "mirror", "delete", "d", "prune") {
		return "it overwrites or removes what others have"
	}
	for _, op := range f.operands {
		if strings.HasPrefix(op, "+") || strings.HasPrefix(op, ":") || strings.Contains(op, unknown) {
			return "it overwrites or removes what others have"
		}
	}
	return ""
}

// gitRuns judges the commands of git that run others.
func (c *call) gitRuns(name string, f flags, args []string) string {
	switch {
	case name == "submodule" && len(f.operands) > 1 && f.operands[0] == "foreach":
		c.subshell().script(strings.Join(f.operands[1:], " "), "")
	case name == "submodule" && len(f.operands) > 0 && f.operands[0] == "deinit" && f.has("f", "force"):
		return "it removes files"
	case name == "bisect" && len(args) > 1 && args[0] == "run":
		c.subshell().call(args[1:], "")
	case name == "rebase" && f.value("x", "exec") != "":
		c.subshell().script(f.value("x", "exec"), "")
	case name == "worktree" && f.has("f", "force") && len(f.operands) > 0 && f.operands[0] == "remove":
		return "it removes files that may not be committed"
	}
	return ""
}
