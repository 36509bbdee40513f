package approval

import "strings"

// sedScript judges a script of sed by the commands in it that run programs and
// name files: e, w, W, r, R and the flags e and w of s.
func (c *call) sedScript(text string) {
	p := sedReader{rest: text}
	for p.rest != "" {
		if strings.ContainsRune(" \t\n;{}!", rune(p.rest[0])) {
			p.rest = p.rest[1:]
			continue
		}
		if p.address() {
			continue
		}
		command := p.rest[0]
		p.rest = p.rest[1:]
		switch command {
		case 'e':
			c.sedRuns(strings.TrimSpace(p.line()))
		case 'w', 'W':
			c.writes(c.key, c.name, strings.TrimSpace(p.line()))
		case 'r', 'R':
			c.reads(c.key, strings.TrimSpace(p.line()))
		case 'a', 'i', 'c', '#':
			p.text()
		case 'b', 't', 'T', ':':
			p.until(";\n}")
		case 's', 'y':
			c.sedSubstitution(&p, command == 's')
		}
	}
}

// sedSubstitution judges what follows the s or y of a script.
func (c *call) sedSubstitution(p *sedReader, hasFlags bool) {
	if p.rest == "" {
		return
	}
	delimiter := p.rest[0]
	p.rest = p.rest[1:]
	p.upTo(delimiter)
	replacement := p.upTo(delimiter)
	for hasFlags && p.rest != "" && strings.ContainsRune("gpiImM0123456789ew", rune(p.rest[0])) {
		flag := p.rest[0]
		p.rest = p.rest[1:]
		switch flag {
		case 'e':
			c.sedRuns(replacement)
		case 'w':
			c.writes(c.key, c.name, strings.TrimSpace(p.line()))
		}
	}
}

// sedRuns judges a command that sed runs; empty is what it reads.
func (c *call) sedRuns(command string) {
	c.floorOnly(func(s *scope) { s.script(command, unknown) })
	c.ask(c.key, c.name+" runs other programs")
}

// sedReader reads a script of sed from its beginning.
type sedReader struct{ rest string }

// address takes an address, or what may stand in one, and reports whether there
// was one.
func (p *sedReader) address() bool {
	switch ch := p.rest[0]; {
	case ch >= '0' && ch <= '9', ch == '$', ch == ',', ch == '~', ch == '+':
		p.rest = p.rest[1:]
	case ch == '/':
		p.rest = p.rest[1:]
		p.upTo('/')
	case ch == '\\' && len(p.rest) > 1:
		delimiter := p.rest[1]
		p.rest = p.rest[2:]
		p.upTo(delimiter)
	default:
		return false
	}
	for p.rest != "" && (p.rest[0] == 'I' || p.rest[0] == 'M') {
		p.rest = p.rest[1:]
	}
	return true
}

// upTo takes what stands before the next delimiter, and that.
func (p *sedReader) upTo(delimiter byte) string {
	for i := 0; i < len(p.rest); i++ {
		switch p.rest[i] {
		case '\\':
			i++
		case delimiter:
			taken := p.rest[:i]
			p.rest = p.rest[i+1:]
			return taken
		}
	}
	taken := p.rest
	p.rest = ""
	return taken
}

// line takes the rest of the line.
func (p *sedReader) line() string { return p.until("\n") }

// until takes what stands before any of chars.
func (p *sedReader) until(chars string) string {
	i := strings.IndexAny(p.rest, chars)
	if i < 0 {
		i = len(p.rest)
	}
	taken := p.rest[:i]
	p.rest = p.rest[i:]
	return taken
}

// text takes the text of a, i and c: lines that end in \ go on.
func (p *sedReader) text() {
	for p.rest != "" {
		line := p.line()
		p.rest = strings.TrimPrefix(p.rest, "\n")
		if !strings.HasSuffix(line, `\`) {
			return
		}
	}
}
