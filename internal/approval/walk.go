package approval

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxUnrolled is how many values of a loop's variable are tried one by one.
const maxUnrolled = 32

// stmts judges statements in order and returns what they print.
func (s *scope) stmts(list []*syntax.Stmt, in string) string {
	var out strings.Builder
	for _, st := range list {
		out.WriteString(s.stmt(st, in))
	}
	if out.Len() > 1<<20 {
		return unknown
	}
	return out.String()
}

// stmt judges one statement with its redirections.
func (s *scope) stmt(st *syntax.Stmt, in string) string {
	if st == nil || s.spent() {
		return unknown
	}
	r := s.redirects(st.Redirs, in)
	target := s
	if st.Background {
		target = s.subshell()
	}
	out := target.command(st.Cmd, r.in)
	for _, name := range r.out {
		s.files[name] = out
	}
	if len(r.out) > 0 {
		return ""
	}
	return out
}

func (s *scope) command(cmd syntax.Command, in string) string {
	switch c := cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		return s.simple(c, in)
	case *syntax.BinaryCmd:
		return s.binary(c, in)
	case *syntax.Subshell:
		return s.subshell().stmts(c.Stmts, in)
	case *syntax.Block:
		return s.stmts(c.Stmts, in)
	case *syntax.IfClause:
		return s.ifClause(c, in)
	case *syntax.WhileClause:
		return s.while(c, in)
	case *syntax.ForClause:
		return s.forClause(c, in)
	case *syntax.CaseClause:
		return s.caseClause(c, in)
	case *syntax.FuncDecl:
		s.declare(c)
	case *syntax.TimeClause:
		return s.stmt(c.Stmt, in)
	case *syntax.CoprocClause:
		s.subshell().stmt(c.Stmt, unknown)
	case *syntax.DeclClause:
		s.decl(c)
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause:
		s.inner(c)
	default:
		s.ask("", "the command has a form that cannot be judged")
	}
	return ""
}

// inner judges the substitutions inside of a node that runs nothing itself.
func (s *scope) inner(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			s.subshell().stmts(n.Stmts, "")
			return false
		case *syntax.ProcSubst:
			s.subshell().stmts(n.Stmts, unknown)
			return false
		}
		return true
	})
}

func (s *scope) decl(c *syntax.DeclClause) {
	for _, a := range c.Args {
		if a.Name == nil && a.Value != nil { // a word such as -x or "$name=value"
			word := s.literal(a.Value)
			if name, v, ok := strings.Cut(word, "="); ok {
				s.vars[name] = text(v)
				s.setsVariable(name, v)
			} else if strings.Contains(word, unknown) {
				s.loose = true
			}
		}
	}
	s.assign(c.Args)
	s.declaresVariables(c.Args)
}

func (s *scope) binary(c *syntax.BinaryCmd, in string) string {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		out := s.subshell().stmt(c.X, in)
		return s.subshell().stmt(c.Y, out)
	}
	out := s.stmt(c.X, in)
	before := s.subshell()
	out += s.stmt(c.Y, in)
	if c.Op == syntax.OrStmt {
		s.merge(before)
	}
	return out
}

func (s *scope) ifClause(c *syntax.IfClause, in string) string {
	out := s.stmts(c.Cond, in)
	other := s.subshell()
	then := s.stmts(c.Then, in)
	otherwise := ""
	if c.Else != nil {
		otherwise = other.ifClause(c.Else, in)
	}
	s.merge(other)
	if then != otherwise {
		return unknown
	}
	return out + then
}

func (s *scope) while(c *syntax.WhileClause, in string) string {
	before := s.subshell()
	for range 2 { // what the first round sets, the second sees
		s.stmts(c.Cond, in)
		s.stmts(c.Do, in)
	}
	s.merge(before)
	return unknown
}

func (s *scope) forClause(c *syntax.ForClause, in string) string {
	loop, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		s.inner(c.Loop)
		before := s.subshell()
		if cl, isC := c.Loop.(*syntax.CStyleLoop); isC {
			syntax.Walk(cl, func(n syntax.Node) bool {
				if w, isWord := n.(*syntax.Word); isWord && w.Lit() != "" {
					s.vars[w.Lit()] = text(unknown)
				}
				return true
			})
		}
		s.stmts(c.Do, in)
		s.merge(before)
		return unknown
	}
	items := s.params
	if loop.InPos.IsValid() {
		items = s.fields(loop.Items)
	}
	if len(items) > maxUnrolled {
		items = append(items[:maxUnrolled:maxUnrolled], unknown)
	}
	var out strings.Builder
	for _, item := range items {
		s.vars[loop.Name.Value] = text(item)
		out.WriteString(s.stmts(c.Do, in))
	}
	return out.String()
}

func (s *scope) caseClause(c *syntax.CaseClause, in string) string {
	s.literal(c.Word)
	before, out := s.subshell(), ""
	for _, item := range c.Items {
		branch := before.subshell()
		for _, p := range item.Patterns {
			branch.literal(p)
		}
		if got := branch.stmts(item.Stmts, in); got != "" {
			out = unknown
		}
		s.merge(branch)
	}
	return out
}

// simple judges a simple command.
func (s *scope) simple(c *syntax.CallExpr, in string) string {
	if len(c.Args) == 0 {
		s.assign(c.Assigns)
		return ""
	}
	words := s.fields(c.Args)
	inner := s
	if len(c.Assigns) > 0 { // they hold for the command alone, but eval sees them
		inner = s.subshell()
		inner.assign(c.Assigns)
	}
	inner.declaresVariables(c.Assigns)
	out := inner.call(words, in)
	if inner != s {
		s.cwd = inner.cwd
	}
	return out
}

// declare notes a function, and denies one that is a fork bomb or does, whatever
// it is called with, what no setting allows.
func (s *scope) declare(d *syntax.FuncDecl) {
	if d.Name == nil {
		return
	}
	if name := d.Name.Value; forksItself(d.Body, name) {
		s.deny("the function " + name + " is a fork bomb")
	}
	f := &function{body: d.Body}
	s.funcs[d.Name.Value] = f
	f.active = true
	s.floorOnly(func(s *scope) {
		s.params = []string{unknown}
		s.stmt(d.Body, unknown)
	})
	f.active = false
}

// forksItself reports whether the body of the function name runs it again beside
// itself: in the background, or on both sides of a pipe.
func forksItself(body *syntax.Stmt, name string) bool {
	bomb := false
	syntax.Walk(body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			bomb = bomb || n.Background && calls(n, name) > 0
		case *syntax.BinaryCmd:
			piped := n.Op == syntax.Pipe || n.Op == syntax.PipeAll
			bomb = bomb || piped && calls(n.X, name) > 0 && calls(n.Y, name) > 0
		}
		return !bomb
	})
	return bomb
}

// calls counts the simple commands below n that are named so.
func calls(n syntax.Node, name string) int {
	count := 0
	syntax.Walk(n, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 && c.Args[0].Lit() == name {
			count++
		}
		return true
	})
	return count
}

// finish judges the functions that nothing called: something unseen may.
func (s *scope) finish() {
	for _, f := range s.funcs {
		if !f.called && !f.active {
			f.called = true
			inner := s.subshell()
			inner.params = []string{unknown}
			f.active = true
			inner.stmt(f.body, unknown)
			f.active = false
		}
	}
}

// invoke judges a call of a function.
func (s *scope) invoke(f *function, args []string, in string) string {
	f.called = true
	if f.active || s.depth >= maxDepth {
		return unknown
	}
	f.active = true
	s.depth++
	params := s.params
	s.params = args
	defer func() { f.active, s.params = false, params; s.depth-- }()
	return s.stmt(f.body, in)
}
