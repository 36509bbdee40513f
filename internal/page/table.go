package page

import (
	"strconv"
	"strings"
)

// maxColumns is how many columns of a table are shown.
const maxColumns = 40

// table writes a table of data as one, and what is a table for the layout as
// what stands in it.
func (r *renderer) table(n *node) {
	rows := tableRows(n)
	columns := 0
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	r.w.lines(2)
	if n.nested || columns < 2 || len(rows) < 2 || r.w.flat > 0 {
		r.children(n)
		r.w.lines(2)
		return
	}
	n.children(func(c *node) {
		if c.name == "caption" {
			r.node(c)
			r.w.lines(2)
		}
	})
	for i, row := range rows {
		r.w.lines(1)
		r.w.raw("|")
		for c := range min(columns, maxColumns) {
			var cell *node
			if c < len(row) {
				cell = row[c]
			}
			r.w.raw(" " + r.cell(cell) + " |")
		}
		if i == 0 {
			r.w.lines(1)
			r.w.raw("|" + strings.Repeat(" --- |", min(columns, maxColumns)))
		}
	}
	r.w.lines(2)
}

// tableRows returns the cells of a table by rows; nil stands for one that
// another reaches into.
func tableRows(table *node) [][]*node {
	var rows [][]*node
	var collect func(n *node)
	collect = func(n *node) {
		switch n.name {
		case "tr":
			var row []*node
			n.children(func(c *node) {
				if c.name != "td" && c.name != "th" {
					return
				}
				row = append(row, c)
				span, _ := strconv.Atoi(c.attr("colspan"))
				for range min(span, maxColumns) - 1 {
					row = append(row, nil)
				}
			})
			if len(row) > 0 {
				rows = append(rows, row)
			}
		case "thead", "tbody", "tfoot":
			n.children(collect)
		}
	}
	table.children(collect)
	return rows
}

// cell returns what stands in a cell, on one line.
func (r *renderer) cell(n *node) string {
	if n == nil {
		return ""
	}
	in := &renderer{page: r.page, skip: r.skip, depth: maxIndent}
	in.w.flat, in.w.cell = 1, true
	in.children(n)
	return string(in.w.out)
}
