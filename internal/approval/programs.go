package approval

import "strings"

// harmless reports whether a program of the table takes arguments that are data
// even where they look like a command.
func harmless(name string) bool {
	switch name {
	case "echo", "printf", "cat", "grep", "git", "true", "false", "test", "[", "ls", "head", "tail", "sort", "uniq", "rev", "tr", "pwd", "base64",
		"sed", "find", "kill", "install", "start", "source", ".", "time", "at", "service", "link", "split",
		"docker", "set", "export", "watch", "script", "exec", "command", "builtin":
		return true
	}
	return false
}

// known returns the judge of a program, nil if it is not known.
func (c *Checker) known(name string) program {
	if p := c.programs()[name]; p != nil {
		return p
	}
	return familyProgram(name)
}

// programs makes the table of the programs that are known.
func programs() map[string]program {
	all := map[string]program{}
	add := func(p program, names ...string) {
		for _, n := range names {
			all[n] = p
		}
	}
	add(rm, "rm", "rmdir", "unlink", "shred", "srm", "wipe", "trash")
	add(mv, "mv")
	add(copies, "cp", "install", "ln", "rsync", "scp", "link")
	add(makes, "touch", "mkdir", "mkfifo", "mknod", "split", "csplit")
	add(truncates, "truncate", "fallocate")
	add(tee, "tee", "sponge")
	add(owns, "chmod", "chown", "chgrp", "setfacl", "chattr")
	add(dd, "dd")
	add(sed, "sed", "gsed")
	add(unpacks, "tar", "bsdtar", "unzip")
	add(archiver, "zip")
	add(editor, "vim", "vi", "nvim", "ex", "ed", "emacs", "nano", "view")
	add(makefile, "make", "gmake")
	addTexts(add)
	addShells(add)
	addSystem(add)
	addDevelopment(add)
	return all
}

func addTexts(add func(program, ...string)) {
	add(echo, "echo")
	add(printf, "printf")
	add(cat, "cat", "tac", "bat")
	add(decode, "base64", "base32", "xxd", "rev", "gunzip", "zcat", "uudecode", "openssl", "tr")
	add((*call).filter, "grep", "egrep", "fgrep", "rg", "head", "tail", "sort", "uniq")
	add(list, "ls")
	add(func(c *call) string { return c.cwd + "\n" }, "pwd")
	add(makeTemp, "mktemp")
	add(nothing, "true", "false", ":", "test", "[", "wait", "sleep", "set", "shopt", "jobs", "umask", "ulimit", "hash", "type", "return", "exit", "break", "continue")
	add(changeDir, "cd", "pushd", "popd")
	add(setsVariables, "read", "mapfile", "readarray", "getopts", "unset", "export", "declare", "local", "typeset", "readonly", "let", "shift")
}

func addShells(add func(program, ...string)) {
	add(shell, "sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish", "csh", "tcsh", "rbash")
	add(eval, "eval")
	add(source, "source", ".")
	add(trap, "trap")
	add(alias, "alias")
	add(xargs, "xargs", "parallel")
	add(find, "find", "fd", "fdfind")
	add(interpret, "python", "python2", "python3", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua", "tclsh", "osascript", "pypy3")
	add(awk, "awk", "gawk", "mawk", "nawk")
	for name := range wrappers() {
		add(wrapper, name)
	}
}

// familyProgram is the judge of programs with a common beginning.
func familyProgram(name string) program {
	switch {
	case strings.HasPrefix(name, "mkfs"), strings.HasPrefix(name, "mke2fs"), strings.HasPrefix(name, "newfs"):
		return makeFileSystem
	case strings.HasPrefix(name, "python3."), strings.HasPrefix(name, "python2."):
		return interpret
	}
	return nil
}

func nothing(*call) string { return "" }
