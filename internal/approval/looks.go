package approval

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// OnlyLooks reports whether a command changes nothing and starts nothing that
// may: every simple command in it, wherever it stands, is one of a short list of
// programs that read and print, with options that do not make them write or run
// others. Words that name the program or its options must be plain; nothing is
// redirected to a file, no variable is set, nothing runs in the background. What
// is not known to look is taken to change something.
func OnlyLooks(command string) bool {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil || len(file.Stmts) == 0 {
		return false
	}
	looks := true
	syntax.Walk(file, func(n syntax.Node) bool {
		looks = looks && looksNode(n)
		return looks
	})
	return looks
}

// looksNode reports whether a node of the syntax tree may stand in a command
// that only looks. Those below it are judged by themselves.
func looksNode(n syntax.Node) bool {
	switch n := n.(type) {
	case nil, *syntax.File, *syntax.BinaryCmd, *syntax.Subshell, *syntax.Block, *syntax.IfClause, *syntax.Word, *syntax.Lit, *syntax.SglQuoted,
		*syntax.DblQuoted, *syntax.CmdSubst, *syntax.Comment, *syntax.TestClause, *syntax.ParenTest, *syntax.TimeClause:
		return true
	case *syntax.ForClause:
		return !n.Select
	case *syntax.WordIter: // a loop must not set PATH
		return strings.ToLower(n.Name.Value) == n.Name.Value
	case *syntax.ParamExp: // other forms may evaluate what a variable holds
		return n.Exp == nil && n.Repl == nil && n.Slice == nil && n.Index == nil && !n.Excl && !n.Length
	case *syntax.BinaryTest:
		switch n.Op {
		case syntax.AndTest, syntax.OrTest, syntax.TsMatch, syntax.TsMatchShort, syntax.TsNoMatch, syntax.TsReMatch, syntax.TsNewer, syntax.TsOlder:
			return true
		}
	case *syntax.UnaryTest:
		return n.Op != syntax.TsVarSet && n.Op != syntax.TsRefVar
	case *syntax.Stmt:
		return !n.Background && !n.Coprocess && !slices.ContainsFunc(n.Redirs, func(r *syntax.Redirect) bool { return !looksRedirect(r) })
	case *syntax.Redirect:
		return true // judged with its statement
	case *syntax.CallExpr:
		return len(n.Assigns) == 0 && looksCall(n.Args)
	}
	return false
}

// looksRedirect reports whether a redirection reads, or writes to nowhere or
// another descriptor.
func looksRedirect(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrIn, syntax.WordHdoc, syntax.Hdoc, syntax.DashHdoc:
		return r.Word == nil || !strings.HasPrefix(r.Word.Lit(), "/dev/")
	case syntax.DplOut, syntax.DplIn:
		w := r.Word.Lit()
		return w == "-" || isNumber(w)
	case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll:
		return r.Word.Lit() == "/dev/null"
	}
	return false
}

// looksCall reports whether a simple command only looks.
func looksCall(args []*syntax.Word) bool {
	words := make([]string, len(args))
	for i, w := range args {
		words[i] = plain(w)
	}
	if len(words) == 0 || words[0] == "" || strings.Contains(words[0], "/") {
		return false
	}
	name, rest := words[0], words[1:]
	switch name {
	case "git":
		return looksGit(rest)
	case "go":
		return looksGo(rest)
	case "test", "[":
		return looksTest(rest)
	case "printf": // with -v it sets a variable
		return len(rest) > 0 && rest[0] != "" && rest[0][0] != '-'
	case "find":
		return !hasOption(rest, "-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprint0", "-fprintf", "-fls")
	case "sort":
		return !hasOption(rest, "-o", "--output", "--compress-program", "-T", "--temporary-directory")
	case "rg":
		return !hasOption(rest, "--pre", "--hostname-bin", "--search-zip", "-z")
	case "tree", "uniq", "xxd", "base64", "file":
		return looksByName(name, rest)
	}
	return isLooker(name)
}

// isLooker reports whether a program only looks, whatever its arguments.
func isLooker(name string) bool {
	switch name {
	case "ls", "cat", "head", "tail", "wc", "grep", "egrep", "fgrep", "cut", "tr", "nl", "od", "rev", "tac", "column", "paste", "join", "comm", "cmp", "diff",
		"echo", "pwd", "stat", "du", "df", "basename", "dirname", "realpath", "readlink", "which", "type", "true", "false", ":",
		"seq", "expr", "uname", "whoami", "id", "nproc", "cd", "md5sum", "sha1sum", "sha256sum", "strings", "jq", "fold", "expand", "cksum", "ps", "uptime":
		return true
	}
	return false
}

// looksTest judges test and [: with one operator that is plain and evaluates
// nothing, as -v does.
func looksTest(rest []string) bool {
	if len(rest) > 0 && rest[len(rest)-1] == "]" {
		rest = rest[:len(rest)-1]
	}
	if len(rest) > 0 && rest[0] == "!" {
		rest = rest[1:]
	}
	switch len(rest) {
	case 2:
		return slices.Contains([]string{"-e", "-f", "-d", "-s", "-r", "-w", "-x", "-L", "-h", "-n", "-z"}, rest[0])
	case 3:
		return slices.Contains([]string{"=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot"}, rest[1])
	}
	return false
}

// looksByName judges programs that write to a second operand or by an option.
func looksByName(name string, rest []string) bool {
	operands := 0
	for _, w := range rest {
		if w == "" || !strings.HasPrefix(w, "-") {
			operands++
		}
	}
	switch name {
	case "tree":
		return !hasOption(rest, "-o", "-R")
	case "file":
		return !hasOption(rest, "-C", "--compile", "-z", "-Z")
	case "xxd":
		return operands < 2 && !hasOption(rest, "-r", "-revert")
	}
	return operands < 2 && !hasOption(rest, "-o", "--output")
}

// looksGit judges git by its command: those that print, without options that
// write or run programs.
func looksGit(rest []string) bool {
	for len(rest) > 0 && (rest[0] == "--no-pager" || rest[0] == "-P") {
		rest = rest[1:]
	}
	if len(rest) > 1 && rest[0] == "-C" && rest[1] != "" {
		rest = rest[2:]
	}
	if len(rest) == 0 || hasOption(rest, "--output", "--ext-diff", "--textconv", "-O", "--open-files-in-pager", "--upload-pack", "--exec", "--filters") {
		return false
	}
	command, args := rest[0], rest[1:]
	switch command {
	case "status", "log", "show", "diff", "blame", "grep", "ls-files", "ls-tree", "rev-parse", "rev-list", "describe", "shortlog", "cat-file", "merge-base",
		"name-rev", "diff-tree", "count-objects", "check-ignore", "whatchanged", "show-ref", "var", "version":
		return true
	case "branch", "tag", "remote", "stash", "worktree", "config":
		return looksGitList(command, args)
	}
	return false
}

// looksGitList judges commands of git that list when nothing is named.
func looksGitList(command string, args []string) bool {
	switch command {
	case "branch":
		return !slices.ContainsFunc(args, func(a string) bool {
			return !slices.Contains([]string{"-a", "-r", "-v", "-vv", "--all", "--remotes", "--list", "--show-current", "-l"}, a)
		})
	case "tag":
		return len(args) == 0 || args[0] == "-l" || args[0] == "--list"
	case "remote":
		return len(args) == 0 || len(args) == 1 && args[0] == "-v" || len(args) == 2 && args[0] == "get-url"
	case "config":
		return len(args) > 0 && (args[0] == "--get" || args[0] == "--list" || args[0] == "-l" || args[0] == "get" || args[0] == "list")
	}
	return len(args) > 0 && args[0] == "list"
}

// looksGo judges go: list, env and doc, and vet as far as it runs no other tool.
func looksGo(rest []string) bool {
	for i, w := range rest {
		if strings.HasPrefix(w, "--") {
			rest[i] = w[1:]
		}
	}
	if len(rest) == 0 || hasOption(rest, "-w", "-u", "-toolexec", "-overlay", "-modfile", "-mod", "-exec", "-cpuprofile") {
		return false
	}
	switch rest[0] {
	case "list", "env", "version", "doc":
		return true
	}
	return false
}

// hasOption reports whether any of words is one of the options, or one with a
// value, or cannot be told.
func hasOption(words []string, options ...string) bool {
	for _, w := range words {
		if w == "" {
			return true
		}
		name, _, _ := strings.Cut(w, "=")
		for _, o := range options {
			short := len(o) == 2 && strings.HasPrefix(w, o)
			cluster := len(o) == 2 && len(w) > 2 && w[0] == '-' && w[1] != '-' && strings.Contains(w, o[1:])
			// An abbreviation of a long option is one, too.
			long := len(name) > 3 && strings.HasPrefix(o, "--") && strings.HasPrefix(o, name)
			if name == o || short || cluster || long {
				return true
			}
		}
	}
	return false
}

// plain returns the text of a word without expansions, "" for others, such as
// those with a pattern.
func plain(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, `\*?[{`) && p.Value != "[" {
				return ""
			}
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar {
				return ""
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok || strings.Contains(lit.Value, `\`) {
					return ""
				}
				b.WriteString(lit.Value)
			}
		default:
			return ""
		}
	}
	return b.String()
}
