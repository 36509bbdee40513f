package approval

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirected is what the redirections of a statement make of its input, and the
// files that its output goes to.
type redirected struct {
	in  string
	out []string
}

// redirects judges redirections.
func (s *scope) redirects(list []*syntax.Redirect, in string) redirected {
	r := redirected{in: in}
	for _, rd := range list {
		switch rd.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			r.in = s.document(rd.Hdoc)
		case syntax.WordHdoc:
			r.in = s.literal(rd.Word) + "\n"
		case syntax.RdrIn:
			r.in = s.readFrom(s.literal(rd.Word))
		case syntax.DplIn:
			s.literal(rd.Word)
		case syntax.DplOut:
			if w := s.literal(rd.Word); w != "-" && strings.Trim(w, "0123456789-") != "" {
				s.writeTo(rd, w, &r)
			}
		default:
			s.writeTo(rd, s.literal(rd.Word), &r)
		}
	}
	return r
}

// writeTo judges a redirection that writes to name.
func (s *scope) writeTo(rd *syntax.Redirect, name string, r *redirected) {
	s.ruled("> "+name, func(key string) { s.writes(key, "a redirection", name) })
	if rd.N != nil && rd.N.Value != "1" {
		return
	}
	if p := s.locate(name, true); p.path != "" {
		r.out = append(r.out, p.path)
	}
}

// readFrom judges that a file is read and returns what is known of its text.
func (s *scope) readFrom(name string) string {
	if strings.HasPrefix(name, "/dev/tcp/") || strings.HasPrefix(name, "/dev/udp/") {
		s.ask("< "+name, "it opens a network connection by "+name)
		return unknown
	}
	s.ruled("< "+name, func(key string) { s.reads(key, name) })
	return s.fileText(name)
}

// fileText is what is known of the text of a file that the command wrote itself.
func (s *scope) fileText(name string) string {
	if t, ok := s.files[name]; ok {
		return t
	}
	if t, ok := s.files[s.locate(name, true).path]; ok {
		return t
	}
	return unknown
}

// ruled judges a redirection, which the user's rules know by its sign and name,
// as in "> /etc/motd".
func (s *scope) ruled(key string, judge func(key string)) {
	if rule, ok := s.c.Rules.denies([]string{key}); ok {
		s.deny("the user's rule " + rule + " denies it")
	}
	asked := len(s.asks)
	judge(key)
	if s.c.Rules.allows([]string{key}) {
		s.forget(asked, key)
	}
}
