package builtin

import (
	"cmp"
	"context"
	_ "embed" // for the text of the tool
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rondo-engine/rondo/tool"
)

//go:embed grep.md
var grepText string

type grepArgs struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path,omitzero" jsonschema:"file or directory"`
	Glob       string `json:"glob,omitzero" jsonschema:"only files like this, such as *.go"`
	Context    int    `json:"context,omitzero" jsonschema:"lines to show around each match"`
	Mode       string `json:"mode,omitzero" jsonschema:"lines by default" enum:"lines,files,count"`
	IgnoreCase bool   `json:"ignore_case,omitzero"`
	Limit      int    `json:"limit,omitzero" jsonschema:"lines or files to show, 200 by default"`
}

// The limits of a search.
const (
	grepLimit    = 200
	grepBytes    = 46_000 // of the result
	grepContext  = 20
	grepLineShow = 300 // bytes of one line
)

func grepFiles(o Options) *tool.Tool {
	return tool.Must(tool.New(tool.Tool{
		Name: "grep", Description: strings.TrimSpace(grepText), Toolset: filesToolset, ReadOnly: true,
		Access: o.Workspace.accessTo(readsDir),
	}, func(ctx context.Context, _ tool.Call, a grepArgs) (tool.Result, error) {
		if a.Limit <= 0 {
			a.Limit = grepLimit
		}
		q, err := newQuery(a)
		if err != nil {
			return tool.Result{}, err
		}
		p, err := o.Workspace.at(a.Path, false)
		if err != nil {
			return tool.Result{}, err
		}
		defer p.Close()
		isDir, err := o.isDir(p, a.Path)
		if err != nil {
			return tool.Result{}, err
		}
		found, skipped, err := o.search(ctx, p, q, isDir)
		if err != nil {
			return tool.Result{}, fmt.Errorf("search %s: %w", o.Workspace.show(p.abs), err)
		}
		return a.result(found, skipped), nil
	}))
}

// search searches the file at p, or all files below it.
func (o Options) search(ctx context.Context, p place, q *query, isDir bool) (found []fileMatches, skipped int, err error) {
	if !isDir {
		s := newSearcher(q)
		s.file(p.abs, o.Workspace.show(p.abs))
		return s.found, s.skipped, nil
	}
	searchers := make([]*searcher, walkWorkers())
	for i := range searchers {
		searchers[i] = newSearcher(q)
	}
	prefix := o.prefix(p.abs)
	base := strings.TrimSuffix(p.abs, string(filepath.Separator)) + string(filepath.Separator)
	w := walk{base: p.abs, visit: func(worker int, rel, name string) {
		if q.filter == nil || q.filter(rel, name) {
			searchers[worker].file(base+filepath.FromSlash(rel), prefix+rel)
		}
	}}
	err = w.run(ctx, ignoresAbove(p.abs, o.Workspace.dir))
	for _, s := range searchers {
		found = append(found, s.found...)
		skipped += s.skipped
	}
	slices.SortFunc(found, func(a, b fileMatches) int { return cmp.Compare(a.path, b.path) })
	return found, skipped, err
}

// result words what was found.
func (a grepArgs) result(found []fileMatches, skipped int) tool.Result {
	total := 0
	for _, f := range found {
		total += f.count
	}
	r := grepResult{limit: a.Limit}
	switch a.Mode {
	case "files":
		for _, f := range found {
			r.line(f.path)
		}
		r.rest(len(found), "files")
	case "count":
		for _, f := range found {
			r.line(f.path + ":" + strconv.Itoa(f.count))
		}
		r.rest(len(found), "files")
		r.note("%d matching lines in %d files", total, len(found))
	default:
		for _, f := range found {
			r.file(f, a.Context > 0)
		}
		r.rest(total, "matching lines")
	}
	if len(found) == 0 {
		r.note("no match for %s", a.Pattern)
	}
	if skipped > 0 {
		r.note("%d files of more than %d MiB were not searched", skipped, searchBytes>>20)
	}
	return tool.Result{Text: r.String(), Truncated: r.shown < r.wanted}
}

// grepResult is the text of a result with its limits.
type grepResult struct {
	strings.Builder
	limit         int
	shown, wanted int
	full          bool
}

// line adds a line that counts.
func (r *grepResult) line(text string) bool {
	if r.full = r.full || r.shown == r.limit || r.Len()+len(text) > grepBytes; r.full {
		return false
	}
	r.WriteString(text)
	r.WriteByte('\n')
	r.shown++
	return true
}

// file adds the lines of a file below its name. Groups of lines that do not
// follow each other are set apart where there are lines of context.
func (r *grepResult) file(f fileMatches, apart bool) {
	if r.full || r.shown == r.limit {
		return
	}
	r.WriteString(f.path + "\n")
	last := 0
	for _, l := range f.lines {
		if apart && last > 0 && l.number > last+1 {
			r.WriteString("--\n")
		}
		last = l.number
		if !l.match {
			r.WriteString(strconv.Itoa(l.number) + "-" + l.text + "\n")
		} else if !r.line(strconv.Itoa(l.number) + ":" + l.text) {
			return
		}
	}
}

// rest tells how much of all is not shown.
func (r *grepResult) rest(all int, what string) {
	r.wanted = all
	if all > r.shown {
		r.note("%d more %s: narrow the search, or set a higher limit", all-r.shown, what)
	}
}

func (r *grepResult) note(format string, args ...any) {
	fmt.Fprintf(r, "["+format+"]\n", args...)
}
