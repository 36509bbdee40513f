// Package approval says which shell commands may run without asking, which need
// a person's word and which run under no setting.
//
// A command is parsed as the shell parses it and carried out in thought: words
// are expanded, variables and the working directory are followed, and every
// simple command is judged, wherever it stands: in pipes, lists, substitutions
// and functions, in strings for sh -c and eval, behind sudo, env, xargs or find
// -exec, in here-documents that a shell reads. What cannot be known beforehand,
// such as the output of a download, is marked as unknown; a command whose
// effect hangs on it is asked for.
//
// The floor is what no setting opens: removing the root, a home or a system
// directory, writing to raw devices, making file systems, fork bombs, switching
// the machine off, ending every process, destroying the files that accounts and
// booting need. The floor is a guard against accidents and careless models; a
// program that means harm needs package sandbox.
//
// Checker judges; package guard puts a judgement together with the user's mode,
// rules and answers.
package approval

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// Level orders verdicts by how much stands against the command.
type Level int

// The levels. Deny is the floor, or a rule of the user's that denies.
const (
	Allow Level = iota
	Ask
	Deny
)

// String returns allow, ask or deny.
func (l Level) String() string { return [...]string{"allow", "ask", "deny"}[l] }

// Verdict is what a Checker says of a command.
type Verdict struct {
	Level Level
	// Reason says why the level is not Allow, in words that fit after
	// "Denied:" and without a full stop.
	Reason string
	// Asks are the things within the command that have to be asked for.
	Asks []Question
}

// Question is one thing that has to be asked for.
type Question struct {
	// Key is the simple command or redirection, as it would run. It is empty
	// when a part of it is not known, so that a yes holds only this once.
	Key string
	// Dir is the directory in which it would run.
	Dir    string
	Reason string
}

// Options are what a Checker knows of the surroundings.
type Options struct {
	// Workspace is the directory that commands may change, absolute and
	// resolved.
	Workspace string
	// Home is the user's home, Temp the directories for temporary files.
	Home string
	Temp []string
	// Secrets are files and directories that are not to be read.
	Secrets []string
	// Getenv returns a variable of the environment that the shell gets, and
	// whether it is set. nil has none.
	Getenv func(name string) (string, bool)
	// Resolve follows the symbolic links of an absolute path, as
	// tool.ResolvePath does; nil takes paths by their letters.
	Resolve func(path string) (string, error)
	// ReadFile reads the beginning of a script that a command runs; nil
	// reads none.
	ReadFile func(path string) ([]byte, error)
	// Rules are the user's.
	Rules Rules
}

// Checker judges commands. It is safe for concurrent use.
type Checker struct {
	Options
	// What is made or looked up in the file system at the first command, so
	// that a run without any pays nothing for it.
	programs func() map[string]program
	places   func() places
}

// places are directories and files with where the links among them lead.
type places struct{ protected, critical []string }

// New makes a Checker.
func New(o Options) *Checker {
	if o.Getenv == nil {
		o.Getenv = func(string) (string, bool) { return "", false }
	}
	if o.Resolve == nil {
		o.Resolve = func(p string) (string, error) { return path.Clean(p), nil }
	}
	if len(o.Temp) == 0 {
		o.Temp = []string{"/tmp", "/var/tmp"}
	}
	c := &Checker{Options: o, programs: sync.OnceValue(programs)}
	c.places = sync.OnceValue(func() places {
		return places{c.withTargets(protectedDirs(o.Home)), c.withTargets(criticalFiles())}
	})
	return c
}

// withTargets adds where the links among paths lead to.
func (c *Checker) withTargets(paths []string) []string {
	all := slices.Clone(paths)
	for _, p := range paths {
		if r, err := c.Resolve(p); err == nil && !slices.Contains(all, r) && r != c.Workspace {
			all = append(all, r)
		}
	}
	return all
}

// maxSteps bounds how many simple commands are looked at, loops unrolled, and
// maxDepth how deep they may be nested.
const (
	maxSteps = 3000
	maxDepth = 24
	maxWords = 4096
)

// Check judges a command that is to run in dir, absolute; empty is the workspace.
func (c *Checker) Check(command, dir string) Verdict { return c.check(command, dir, "", false) }

// check judges a command that is given in as its input; typed says that this comes
// while it runs.
func (c *Checker) check(command, dir, in string, typed bool) Verdict {
	if dir == "" {
		dir = c.Workspace
	}
	l := &look{c: c, steps: maxSteps, files: map[string]string{}, aliases: map[string]string{}, typed: typed}
	s := &scope{look: l, vars: map[string]variable{}, funcs: map[string]*function{}, cwd: filepath.ToSlash(dir)}
	if c.fromOutside("BASH_ENV") {
		s.loose = true
	}
	s.script(command, in)
	s.finish()
	return l.verdict()
}

func (c *Checker) fromOutside(name string) bool {
	v, ok := c.Getenv(name)
	return ok && v != ""
}

// look is what is shared by all that is looked at for one command.
type look struct {
	c      *Checker
	steps  int
	denied []string
	asks   []Question
	// files are what is known of files that the command writes.
	files map[string]string
	// aliases are the texts of aliases by their names.
	aliases map[string]string
	// typed says that the input comes while the command runs.
	typed bool
}

func (l *look) verdict() Verdict {
	v := Verdict{Asks: l.asks}
	switch {
	case len(l.denied) > 0:
		v.Level, v.Reason = Deny, l.denied[0]
	case len(l.asks) > 0:
		v.Level = Ask
		var reasons []string
		for _, q := range l.asks {
			if !slices.Contains(reasons, q.Reason) {
				reasons = append(reasons, q.Reason)
			}
		}
		v.Reason = strings.Join(reasons[:min(len(reasons), 4)], "; ")
	}
	return v
}

func (l *look) deny(reason string) { l.denied = append(l.denied, reason) }

// ask notes a question once. A key with unknown parts is none.
func (s *scope) ask(key, reason string) {
	if strings.Contains(key+s.cwd, unknown) || strings.Contains(key, foundName) {
		key = ""
	}
	q := Question{Key: key, Dir: s.cwd, Reason: strings.NewReplacer(unknown, "…", foundName, "…").Replace(reason)}
	if !slices.Contains(s.asks, q) {
		s.asks = append(s.asks, q)
	}
}

// spent reports whether too much was looked at; it asks the first time.
func (s *scope) spent() bool {
	if s.steps > 0 {
		s.steps--
		return false
	}
	s.ask("", "the command is too large to be judged")
	return true
}

// script parses and judges a text as the shell would run it, and returns what it
// prints as far as that is known.
func (s *scope) script(text, in string) string {
	if s.depth >= maxDepth {
		s.ask("", "commands are nested too deep to be judged")
		return unknown
	}
	if text == unknown {
		s.ask("", "a shell is given commands that are not known beforehand")
		return unknown
	}
	if strings.ContainsAny(text, "\x00") {
		s.ask("", "the command holds a NUL character")
		return unknown
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		s.ask("", "the command cannot be parsed as shell: "+strings.TrimSpace(err.Error()))
		s.salvage(text)
		return unknown
	}
	s.depth++
	defer func() { s.depth-- }()
	return s.stmts(file.Stmts, in)
}

// salvage judges each line of what cannot be parsed as a whole, for the floor.
func (s *scope) salvage(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		p := syntax.NewParser(syntax.Variant(syntax.LangBash))
		if file, err := p.Parse(strings.NewReader(line), ""); err == nil && s.depth < maxDepth {
			s.depth++
			s.stmts(file.Stmts, unknown)
			s.depth--
		}
	}
}
