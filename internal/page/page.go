// Package page reads HTML pages the way a person does: it leaves out what is
// there for machines or hidden, finds the article among what stands around it,
// and writes it as Markdown.
//
// The reader never fails on malformed pages. Its time grows with the size of a
// page and not faster, whatever that page is like. It is written for this project
// because the libraries for it build large tables when the program starts.
package page

import (
	"net/url"
	"strings"
)

// Page is a page that was read.
type Page struct {
	// Title, Description, Author and Published are what the page says of
	// itself; empty where it does not.
	Title, Description, Author, Published string
	// Whole is false for a page that was too large to be read to its end.
	Whole bool

	root *node
	base *url.URL
}

// Parse reads an HTML text. Links that are relative are so to base, which may be
// nil.
func Parse(text string, base *url.URL) *Page {
	root, whole := tree(text)
	p := &Page{root: root, base: base, Whole: whole}
	p.root.measure(false)
	heading := ""
	p.root.walk(func(n *node) bool {
		switch n.name {
		case "title":
			if p.Title == "" {
				p.Title = firstOf("", n.content())
			}
		case "h1":
			if heading == "" {
				heading = firstOf("", n.content())
			}
		case "base":
			p.rebase(n.attr("href"))
		case "meta":
			p.meta(n)
		case "svg":
			return false
		}
		return true
	})
	p.Title = firstOf(p.Title, heading)
	return p
}

func (p *Page) meta(n *node) {
	content := n.attr("content")
	name := n.attr("name")
	if name == "" {
		name = n.attr("property")
	}
	switch strings.ToLower(name) {
	case "description", "og:description":
		p.Description = firstOf(p.Description, content)
	case "author":
		p.Author = firstOf(p.Author, content)
	case "og:title":
		p.Title = firstOf(p.Title, content)
	case "article:published_time", "date", "dc.date":
		p.Published = firstOf(p.Published, content)
	}
}

// firstOf returns have, or text on one line if that is empty.
func firstOf(have, text string) string {
	if have != "" {
		return have
	}
	return strings.Join(strings.Fields(text), " ")
}

func (p *Page) rebase(href string) {
	if u, err := url.Parse(href); err == nil && p.base != nil {
		p.base = p.base.ResolveReference(u)
	}
}

// link returns the address that a reference of the page leads to; empty for one
// that leads nowhere or only elsewhere on the page.
func (p *Page) link(ref string) string {
	ref = strings.TrimSpace(ref)
	if ref == "" || ref[0] == '#' || len(ref) > maxLink {
		return ""
	}
	u, err := url.Parse(ref)
	if err != nil {
		return ""
	}
	if p.base != nil {
		u = p.base.ResolveReference(u)
	}
	switch u.Scheme {
	case "http", "https", "mailto", "ftp", "":
		return strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29").Replace(u.String())
	}
	return ""
}

// maxLink bounds the address of a link that is shown, in bytes.
const maxLink = 500

// Markdown returns the whole page.
func (p *Page) Markdown() string { return p.markdown(nil, p.root) }

// Article returns what a person would read on the page: the text without
// navigation, advertisements and the like. It reports whether there is any: a
// page of links, or of a program, has none.
func (p *Page) Article() (string, bool) {
	nodes := p.root.article()
	if nodes == nil {
		return "", false
	}
	return p.markdown(clutter, nodes...), true
}
