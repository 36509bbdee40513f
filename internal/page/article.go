package page

import (
	"strings"
	"unicode/utf8"
)

// unseen reports whether nobody sees an element: it is for machines, or hidden.
func unseen(n *node) bool {
	switch n.name {
	case "script", "style", "template", "noscript", "head", "title", "svg", "math", "iframe", "object", "embed", "canvas", "video", "audio",
		"select", "datalist", "input", "textarea", "button", "map", "noembed", "noframes", "dialog":
		return true
	}
	if n.has("hidden") || n.attr("aria-hidden") == "true" {
		return true
	}
	style := n.attr("style")
	for style != "" {
		var declared string
		declared, style, _ = strings.Cut(style, ";")
		switch strings.ToLower(strings.ReplaceAll(declared, " ", "")) {
		case "display:none", "visibility:hidden", "opacity:0", "font-size:0", "font-size:0px":
			return true
		}
	}
	return false
}

// measure counts the text in n and all below it, and how much of it is linked.
func (n *node) measure(inLink bool) {
	if n.name == "" {
		n.chars = weight(n.text)
		if inLink {
			n.linked = n.chars
		}
		return
	}
	if unseen(n) {
		n.children(func(c *node) { c.measure(inLink) })
		return
	}
	inLink = inLink || n.name == "a"
	n.children(func(c *node) {
		c.measure(inLink)
		n.chars += c.chars
		n.linked += c.linked
	})
}

// weight counts the characters of a text, white space once and those of scripts
// that write a word in one or two of them threefold.
func weight(s string) int {
	n, blank := 0, true
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		i += size
		switch {
		case isBlank(r):
			if !blank {
				n++
			}
			blank = true
			continue
		case r >= 0x2e80 && r <= 0xd7ff:
			n += 3
		default:
			n++
		}
		blank = false
	}
	return n
}

// leastArticle is how much text an article has.
const leastArticle = 250

// article finds the elements that hold the article of a page; nil if there is
// none. What the author marked as such is taken if it has the better part of
// the running text, else the element with most paragraphs.
func (n *node) article() []*node {
	n.walk(func(c *node) bool {
		c.running, c.score = 0, 0
		return true
	})
	total := 0
	n.walk(func(c *node) bool {
		if unseen(c) || c.name != "" && clutter(c) {
			return false
		}
		if c.name != "p" && c.name != "pre" && c.name != "blockquote" && c.name != "td" && !isParagraph(c) {
			return true
		}
		text := c.chars - 2*c.linked
		if text < 25 {
			return true
		}
		total += text
		for at, share := c.parent, text; at != nil; at, share = at.parent, share/2 {
			at.running += text
			if share > text/8 {
				at.score += share
			}
		}
		return c.name == "td"
	})
	if total < leastArticle {
		return nil
	}
	if marked := n.marked(total); marked != nil {
		return []*node{marked}
	}
	best := n
	n.walk(func(c *node) bool { // in order, so that the outcome is certain
		if c.score > best.score {
			best = c
		}
		return true
	})
	return withSiblings(around(best))
}

// around returns an element around best that holds much more of the running
// text, such as one with several sections of which best is the longest.
func around(best *node) *node {
	for at, up := best.parent, 0; at != nil && at.name != "body" && at.parent != nil && up < 5; at, up = at.parent, up+1 {
		if 3*at.running >= 4*best.running && 3*at.linked < at.chars {
			best, up = at, -1
		}
	}
	return best
}

// isParagraph reports whether an element that is not called one has running text
// of its own.
func isParagraph(n *node) bool {
	if n.name != "div" && n.name != "section" && n.name != "article" {
		return false
	}
	own := 0
	n.children(func(c *node) {
		if !isBlock(c.name) {
			own += c.chars
		}
	})
	return own >= 80
}

// marked returns the element that the author marked as the article, if it has
// at least half of the running text.
func (n *node) marked(total int) *node {
	var best *node
	n.walk(func(c *node) bool {
		is := c.name == "article" || c.name == "main" || c.attr("role") == "main" || c.attr("itemprop") == "articleBody"
		if is && c.chars-2*c.linked > total/2 && (best == nil || c.name == "article" || c.attr("itemprop") == "articleBody") {
			best = c
		}
		return !unseen(c)
	})
	return best
}

// withSiblings adds to an element those beside it that go on with the text, and
// the headings between them.
func withSiblings(best *node) []*node {
	if best.parent == nil || best.name == "body" {
		return []*node{best}
	}
	var all []*node
	best.parent.children(func(c *node) {
		switch {
		case c == best, c.score > best.score/5:
			all = append(all, c)
		case c.name == "p" && c.chars > 80 && 4*c.linked < c.chars:
			all = append(all, c)
		case c.name == "h1" || c.name == "h2":
			all = append(all, c)
		}
	})
	return all
}

// clutter reports whether an element stands around an article rather than in
// it, by its name or what its author called it, or because it is mostly links.
func clutter(n *node) bool {
	switch n.name {
	case "nav", "aside", "footer", "form":
		return true
	case "header":
		return n.linked*2 > n.chars
	case "ul", "ol", "div", "section", "table", "p":
	default:
		return false
	}
	if n.chars > 0 && n.linked*10 > n.chars*8 && n.chars > 60 && n.name != "p" {
		return true
	}
	switch n.attr("role") {
	case "navigation", "complementary", "banner", "contentinfo", "search", "dialog", "alert":
		return true
	}
	if n.chars > 3000 {
		return false // whatever it is called
	}
	return clutterName(n.attr("class")) || clutterName(n.attr("id"))
}

// clutterName reports whether a class or id is that of something beside the
// text.
func clutterName(name string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(name), func(r rune) bool { return r == ' ' || r == '-' || r == '_' }) {
		switch word {
		case "ad", "ads", "advert", "advertisement", "banner", "breadcrumb", "breadcrumbs", "comment", "comments", "consent", "cookie", "cookies",
			"disqus", "footer", "login", "menu", "modal", "nav", "navbar", "navigation", "newsletter", "outbrain", "pager", "pagination",
			"popup", "promo", "recommended", "related", "share", "sharing", "sidebar", "signup", "skip", "social", "sponsor", "sponsored",
			"subscribe", "taboola", "toc", "toolbar", "widget":
			return true
		}
	}
	return false
}
