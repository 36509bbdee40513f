package page

import "strings"

// node is an element, or text if its name is empty.
type node struct {
	name  string
	text  string
	attrs []attr

	parent, first, last, next *node

	// nested tells a table that holds another one: it is there for the layout.
	nested bool
	// chars is how much text there is in the node, linked how much of it is in
	// links; see measure.
	chars, linked int
	// running is how much running text there is in the node, score the share of
	// it that speaks for the node as the article; see article.
	running, score int
}

// The limits of a tree: what is deeper stands beside the deepest, what is more
// is left out.
const (
	maxDepth = 300
	maxNodes = 400_000
)

func (n *node) attr(name string) string {
	for i := range n.attrs {
		if n.attrs[i].name == name {
			return n.attrs[i].value
		}
	}
	return ""
}

func (n *node) has(name string) bool {
	for i := range n.attrs {
		if n.attrs[i].name == name {
			return true
		}
	}
	return false
}

func (n *node) add(child *node) {
	child.parent = n
	if n.last == nil {
		n.first = child
	} else {
		n.last.next = child
	}
	n.last = child
}

// children calls f for each child of n.
func (n *node) children(f func(*node)) {
	for c := n.first; c != nil; c = c.next {
		f(c)
	}
}

// walk calls f for n and all below it, in order; it does not go below where f
// returns false.
func (n *node) walk(f func(*node) bool) {
	if f(n) {
		n.children(func(c *node) { c.walk(f) })
	}
}

// content returns the text in n as it stands there.
func (n *node) content() string {
	var b strings.Builder
	n.walk(func(c *node) bool {
		b.WriteString(c.text)
		if c.name == "br" {
			b.WriteByte('\n')
		}
		return true
	})
	return b.String()
}

// builder makes a tree of tags. It knows which elements end where another
// begins, and closes what was left open.
type builder struct {
	open []*node // from the root on
	// count tells how many elements of a name are open.
	count map[string]int
}

// tree reads an HTML text. It reports whether that was all of it.
func tree(text string) (root *node, whole bool) {
	b := &builder{open: []*node{{name: "#root"}}, count: map[string]int{}}
	s := &scanner{rest: text}
	for n := 0; ; n++ {
		t, ok := s.next()
		switch {
		case !ok:
			return b.open[0], true
		case n == maxNodes:
			return b.open[0], false
		case t.name == "":
			b.top().add(&node{text: t.text})
		case t.end:
			b.end(t.name)
		default:
			b.start(t)
		}
	}
}

func (b *builder) top() *node { return b.open[len(b.open)-1] }

func (b *builder) start(t token) {
	closes, within := endsBefore(t.name)
	b.closeAny(closes, within)
	n := &node{name: t.name, attrs: t.attrs}
	b.top().add(n)
	if t.name == "table" {
		for i := len(b.open) - 1; i > 0; i-- {
			if b.open[i].name == "table" {
				b.open[i].nested = true
				break
			}
		}
	}
	if !isVoid(t.name) && len(b.open) < maxDepth {
		b.open = append(b.open, n)
		b.count[t.name]++
	}
}

// cut closes the open elements from number i on.
func (b *builder) cut(i int) {
	for _, n := range b.open[i:] {
		b.count[n.name]--
	}
	b.open = b.open[:i]
}

// end closes the innermost open element of that name, if there is one in the
// same cell of a table.
func (b *builder) end(name string) {
	if name == "br" {
		b.top().add(&node{name: "br"})
		return
	}
	if b.count[name] == 0 {
		return
	}
	for i := len(b.open) - 1; i > 0; i-- {
		switch open := b.open[i].name; {
		case open == name:
			b.cut(i)
			return
		case (open == "td" || open == "th" || open == "table") && !isTablePart(name):
			return
		}
	}
}

// closeAny closes the innermost open element of names, but none that stands
// around one of within.
func (b *builder) closeAny(names, within string) {
	open := false
	for name := range strings.SplitSeq(names, " ") {
		open = open || b.count[name] > 0
	}
	if !open {
		return
	}
	at := 0
	for i := len(b.open) - 1; i > 0 && !listed(within, b.open[i].name); i-- {
		if listed(names, b.open[i].name) {
			at = i
			if names == "p" {
				break
			}
		}
	}
	if at > 0 {
		b.cut(at)
	}
}

// listed reports whether name is a word of list.
func listed(list, name string) bool {
	for word := range strings.SplitSeq(list, " ") {
		if word == name {
			return true
		}
	}
	return false
}

// endsBefore returns which open elements end where one of that name begins, and
// the elements that keep them open (HTML, section 13.1.2.4, "optional tags").
func endsBefore(name string) (closes, within string) {
	switch name {
	case "li":
		return "li", "ul ol menu table #root"
	case "dt", "dd":
		return "dt dd", "dl table"
	case "tr":
		return "tr td th", "table"
	case "td", "th":
		return "td th", "tr table"
	case "thead", "tbody", "tfoot":
		return "thead tbody tfoot tr td th", "table"
	case "option", "optgroup":
		return "option", "select datalist"
	case "a":
		return "a", "td th table object"
	case "h1", "h2", "h3", "h4", "h5", "h6":
		return "p h1 h2 h3 h4 h5 h6", "td th table object"
	}
	if isBlock(name) {
		return "p", "td th table button object"
	}
	return "", ""
}

func isTablePart(name string) bool {
	return listed("table thead tbody tfoot tr td th caption body html", name)
}

func isVoid(name string) bool {
	switch name {
	case "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr":
		return true
	}
	return false
}

// isBlock reports whether an element begins on a line of its own.
func isBlock(name string) bool {
	switch name {
	case "address", "article", "aside", "blockquote", "body", "center", "details", "dialog", "dir", "div", "dl", "dt", "dd", "fieldset",
		"figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "li", "main", "menu", "nav", "ol",
		"p", "pre", "search", "section", "summary", "table", "ul", "tr", "caption", "thead", "tbody", "tfoot", "td", "th", "legend":
		return true
	}
	return false
}
