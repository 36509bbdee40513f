package page

import (
	"strconv"
	"strings"
)

// renderer writes nodes as Markdown.
type renderer struct {
	page *Page
	w    writer
	// skip tells nodes that are left out besides those that nobody sees.
	skip func(*node) bool
	// lists are the numbers of the list items to come, one for each open list;
	// 0 for one without numbers.
	lists []int
	depth int // of lists and quotes
}

// maxIndent is how deep lists and quotes are indented.
const maxIndent = 8

func (p *Page) markdown(skip func(*node) bool, nodes ...*node) string {
	r := &renderer{page: p, skip: skip}
	for _, n := range nodes {
		r.node(n)
		r.w.lines(2)
	}
	return string(r.w.out)
}

func (r *renderer) children(n *node) { n.children(r.node) }

func (r *renderer) node(n *node) {
	if n.name == "" {
		r.w.text(n.text)
		return
	}
	if unseen(n) || r.skip != nil && r.skip(n) {
		return
	}
	if !r.inline(n) {
		r.standing(n)
	}
}

// inline writes an element that stands within a line. It reports whether n is
// one that is written in a way of its own.
func (r *renderer) inline(n *node) bool {
	switch n.name {
	case "br":
		r.w.lines(1 + min(r.w.breaks, 1))
	case "a":
		r.anchor(n)
	case "img":
		r.image(n)
	case "strong", "b":
		r.around(n, "**")
	case "em", "i":
		r.around(n, "*")
	case "del", "s", "strike":
		r.around(n, "~~")
	case "q":
		r.around(n, `"`)
	case "code", "kbd", "samp", "tt":
		r.code(n)
	default:
		return false
	}
	return true
}

// standing writes an element that stands on lines of its own, and the content
// of any other.
func (r *renderer) standing(n *node) {
	switch n.name {
	case "h1", "h2", "h3", "h4", "h5", "h6":
		r.heading(n)
	case "hr":
		r.w.lines(2)
		r.w.raw("---")
		r.w.lines(2)
	case "pre", "xmp", "listing":
		r.block(n)
	case "blockquote":
		r.w.lines(2)
		r.indented(n, "> ", "> ")
		r.w.lines(2)
	case "ul", "menu", "dir", "ol":
		r.list(n)
	case "li":
		r.item(n)
	case "dt":
		r.w.lines(2)
		r.around(n, "**")
		r.w.lines(1)
	case "dd":
		r.indented(n, ": ", "  ")
	case "table":
		r.table(n)
	case "p", "section", "article", "main", "header", "footer", "figure", "address", "fieldset", "dl", "details":
		r.apart(n, 2)
	default:
		if isBlock(n.name) {
			r.apart(n, 1)
			return
		}
		r.children(n)
	}
}

// apart writes n with line ends around it.
func (r *renderer) apart(n *node, lines int) {
	r.w.lines(lines)
	r.children(n)
	r.w.lines(lines)
}

func (r *renderer) heading(n *node) {
	if n.chars == 0 {
		return
	}
	r.w.lines(2)
	r.w.marker(strings.Repeat("#", int(n.name[1]-'0')) + " ")
	r.w.flat++
	r.children(n)
	r.w.flat--
	r.w.lines(2)
}

// around writes n between marks, unless there is nothing in it.
func (r *renderer) around(n *node, mark string) {
	r.w.open(mark)
	r.children(n)
	r.w.close(mark)
}

func (r *renderer) anchor(n *node) {
	if n.first == nil {
		return
	}
	to := r.page.link(n.attr("href"))
	if to == "" || r.w.linked {
		r.children(n)
		return
	}
	r.w.linked = true
	r.w.open("[")
	r.children(n)
	r.w.close("](" + to + ")")
	r.w.linked = false
}

func (r *renderer) image(n *node) {
	alt := strings.Join(strings.Fields(n.attr("alt")), " ")
	if alt == "" {
		return
	}
	src := n.attr("src")
	if src == "" || strings.HasPrefix(src, "data:") {
		src = n.attr("data-src")
	}
	r.w.raw("![" + alt + "](" + r.page.link(src) + ")")
}

// code writes n as code in a line, or as a block if it has several.
func (r *renderer) code(n *node) {
	text := strings.TrimSpace(n.content())
	if strings.Contains(text, "\n") && r.w.flat == 0 {
		r.block(n)
		return
	}
	if text = strings.Join(strings.Fields(text), " "); text == "" {
		return
	}
	mark := "`"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	if len(mark) > 1 {
		text = " " + text + " "
	}
	r.w.raw(mark + text + mark)
}

// block writes the text of n as it stands there.
func (r *renderer) block(n *node) {
	text := strings.Trim(strings.ReplaceAll(n.content(), "\r", ""), "\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	fence := "```"
	for strings.Contains(text, fence) && len(fence) < 20 {
		fence += "`"
	}
	r.w.lines(2)
	r.w.raw(fence + language(n))
	for line := range strings.SplitSeq(text, "\n") {
		r.w.newline()
		r.w.verbatim(strings.TrimRight(line, " \t"))
	}
	r.w.newline()
	r.w.verbatim(fence)
	r.w.lines(2)
}

// language finds the language of code in a class such as language-go.
func language(n *node) string {
	for _, c := range []*node{n, n.first} {
		if c == nil {
			continue
		}
		for class := range strings.FieldsSeq(c.attr("class")) {
			for _, prefix := range []string{"language-", "lang-"} {
				if name, ok := strings.CutPrefix(class, prefix); ok && len(name) < 20 && !strings.ContainsAny(name, "`\n") {
					return name
				}
			}
		}
	}
	return ""
}

// indented writes n with first before its first line and rest before others.
func (r *renderer) indented(n *node, first, rest string) {
	r.w.lines(1)
	if r.depth >= maxIndent || r.w.cell {
		r.children(n)
		r.w.lines(1)
		return
	}
	r.depth++
	r.w.indent(first, rest)
	r.children(n)
	r.w.outdent()
	r.depth--
	r.w.lines(1)
}

func (r *renderer) list(n *node) {
	r.w.lines(2 - min(len(r.lists), 1))
	number := 0
	if n.name == "ol" {
		number = 1
		if start, err := strconv.Atoi(n.attr("start")); err == nil {
			number = max(start, 1)
		}
	}
	r.lists = append(r.lists, number)
	r.children(n)
	r.lists = r.lists[:len(r.lists)-1]
	r.w.lines(2 - min(len(r.lists), 1))
}

func (r *renderer) item(n *node) {
	mark := "- "
	if len(r.lists) > 0 && r.lists[len(r.lists)-1] > 0 {
		mark = strconv.Itoa(r.lists[len(r.lists)-1]) + ". "
		r.lists[len(r.lists)-1]++
	}
	r.indented(n, mark, strings.Repeat(" ", len(mark)))
}
