package approval

import (
	"errors"
	"io"
	"maps"
	"path"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// unknown stands for text that is not known beforehand. It is a character of
// Unicode's private use area, which no command needs.
const unknown = "\uE000"

// ownJob stands for a process that the command itself started.
const ownJob = "%1"

type variable = expand.Variable

// function is a shell function and whether anything called it.
type function struct {
	body   *syntax.Stmt
	called bool
	active bool
}

// scope is the state of one shell: what a subshell has a copy of.
type scope struct {
	*look
	vars   map[string]variable
	funcs  map[string]*function
	params []string
	cwd    string
	// loose says that something which cannot be seen through, such as a file
	// that was sourced, may have set variables.
	loose bool
	depth int
}

// subshell returns a copy.
func (s *scope) subshell() *scope {
	c := *s
	c.vars, c.funcs = maps.Clone(s.vars), maps.Clone(s.funcs)
	return &c
}

// merge makes s what is true of it after either of two ways was taken: s and t.
func (s *scope) merge(t *scope) {
	for name, v := range t.vars {
		if old, ok := s.vars[name]; !ok || old.String() != v.String() {
			s.vars[name] = text(unknown)
		}
	}
	for name := range s.vars {
		if _, ok := t.vars[name]; !ok {
			s.vars[name] = text(unknown)
		}
	}
	maps.Copy(s.funcs, t.funcs)
	if s.cwd != t.cwd {
		s.cwd = unknown
	}
	s.loose = s.loose || t.loose
}

func text(v string) variable { return variable{Set: true, Kind: expand.String, Str: v} }

// Get returns a variable or parameter for package expand.
func (s *scope) Get(name string) variable {
	switch name {
	case "@", "*":
		return variable{Set: true, Kind: expand.Indexed, List: s.params}
	case "#":
		return text(strconv.Itoa(len(s.params)))
	case "!", "$", "BASHPID":
		return text(ownJob)
	case "?":
		return text("0")
	case "0":
		return text("bash")
	case "PWD":
		return text(s.cwd)
	case "IFS":
		if v, ok := s.vars[name]; ok {
			return v
		}
		return text(" \t\n")
	case "PPID", "RANDOM", "SECONDS", "LINENO", "OLDPWD", "REPLY", "EPOCHSECONDS", "SRANDOM":
		return text(unknown)
	}
	if n, err := strconv.Atoi(name); err == nil {
		if n > 0 && n <= len(s.params) {
			return text(s.params[n-1])
		}
		return variable{}
	}
	if v, ok := s.vars[name]; ok {
		return v
	}
	switch v, ok := s.c.Getenv(name); {
	case s.loose:
		return text(unknown)
	case ok:
		return text(v)
	case name == "HOME":
		return text(s.c.Home)
	case strings.HasPrefix(name, "HOME "):
		return text(s.homeOf(name[len("HOME "):]))
	case name == "SHELL":
		return text("/bin/bash") // set by bash itself
	case name == "TMPDIR":
		return variable{}
	}
	return variable{}
}

func (s *scope) homeOf(user string) string {
	if user == "root" {
		return "/root"
	}
	return path.Join(path.Dir(s.c.Home), user)
}

// Each yields nothing: no program is run.
func (s *scope) Each(func(name string, v variable) bool) {}

// Set sets a variable for package expand, as in ${x:=y}.
func (s *scope) Set(name string, v variable) error {
	s.vars[name] = v
	return nil
}

func (s *scope) config() *expand.Config {
	return &expand.Config{
		Env: s,
		CmdSubst: func(w io.Writer, cs *syntax.CmdSubst) error {
			_, err := io.WriteString(w, s.subshell().stmts(cs.Stmts, ""))
			return err
		},
		ProcSubst: func(ps *syntax.ProcSubst) (string, error) {
			name := "/dev/fd/" + strconv.Itoa(63+len(s.files))
			s.files[name] = s.subshell().stmts(ps.Stmts, unknown)
			return name, nil
		},
	}
}

var errTooMany = errors.New("too many words")

// fields expands words to the arguments that they become.
func (s *scope) fields(words []*syntax.Word) []string {
	var all []string
	for _, w := range words {
		fields, err := s.expandWord(w)
		if err != nil {
			fields = []string{unknown}
		}
		all = append(all, fields...)
		if len(all) > maxWords {
			s.ask("", "the command has too many words to be judged")
			return all[:maxWords]
		}
	}
	return all
}

func (s *scope) expandWord(w *syntax.Word) (fields []string, err error) {
	defer func() {
		if recover() != nil { // package expand panics at what it does not know
			fields, err = nil, errTooMany
		}
	}()
	for f, err := range expand.FieldsSeq(s.config(), w) {
		if err != nil {
			return nil, err
		}
		if fields = append(fields, f); len(fields) > maxWords {
			return nil, errTooMany
		}
	}
	return fields, nil
}

// literal expands one word without splitting it.
func (s *scope) literal(w *syntax.Word) (v string) {
	if w == nil {
		return ""
	}
	defer func() {
		if recover() != nil {
			v = unknown
		}
	}()
	v, err := expand.Literal(s.config(), w)
	if err != nil {
		return unknown
	}
	return v
}

// document expands the body of a here-document.
func (s *scope) document(w *syntax.Word) (v string) {
	defer func() {
		if recover() != nil {
			v = unknown
		}
	}()
	v, err := expand.Document(s.config(), w)
	if err != nil {
		return unknown
	}
	return v
}

// assign carries out assignments.
func (s *scope) assign(list []*syntax.Assign) {
	for _, a := range list {
		if a.Name == nil {
			continue
		}
		switch {
		case a.Naked:
			continue
		case a.Array != nil:
			s.vars[a.Name.Value] = s.array(a.Array)
		case a.Index != nil:
			s.vars[a.Name.Value] = text(unknown)
		default:
			v := s.literal(a.Value)
			if a.Append {
				v = s.Get(a.Name.Value).String() + v
			}
			s.vars[a.Name.Value] = text(v)
		}
	}
}

func (s *scope) array(a *syntax.ArrayExpr) variable {
	v := variable{Set: true, Kind: expand.Indexed}
	for _, e := range a.Elems {
		if e.Index != nil {
			return text(unknown)
		}
		if e.Value != nil {
			v.List = append(v.List, s.fields([]*syntax.Word{e.Value})...)
		}
	}
	return v
}
