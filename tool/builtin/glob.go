package builtin

import (
	"context"
	_ "embed" // for the text of the tool
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/rondo-engine/rondo/tool"
)

//go:embed glob.md
var globText string

type globArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitzero" jsonschema:"directory to start in"`
}

// globFound bounds how many files are named.
const globFound = 500

func globFiles(o Options) *tool.Tool {
	return tool.Must(tool.New(tool.Tool{
		Name: "glob", Description: strings.TrimSpace(globText), Toolset: filesToolset, ReadOnly: true,
		Access: o.Workspace.accessTo(readsDir),
	}, func(ctx context.Context, _ tool.Call, a globArgs) (tool.Result, error) {
		match, err := fileFilter(a.Pattern, false)
		if err != nil {
			return tool.Result{}, err
		}
		p, err := o.Workspace.at(a.Path, false)
		if err != nil {
			return tool.Result{}, err
		}
		defer p.Close()
		if isDir, err := o.isDir(p, a.Path); err != nil {
			return tool.Result{}, err
		} else if !isDir {
			return tool.Result{}, fmt.Errorf("%s is a file, not a directory", a.Path)
		}
		found := make([][]string, walkWorkers())
		w := walk{base: p.abs, visit: func(worker int, rel, name string) {
			if match(rel, name) {
				found[worker] = append(found[worker], rel)
			}
		}}
		if err := w.run(ctx, ignoresAbove(p.abs, o.Workspace.dir)); err != nil {
			return tool.Result{}, fmt.Errorf("look for files in %s: %w", o.Workspace.show(p.abs), err)
		}
		return o.globResult(p, a.Pattern, slices.Concat(found...)), nil
	}))
}

// fileFilter returns a function that matches files by path and name. A pattern
// without a slash is matched with the whole path, or with the name alone if
// byName is set.
func fileFilter(pattern string, byName bool) (func(rel, name string) bool, error) {
	if pattern == "" || !doublestar.ValidatePattern(pattern) {
		return nil, fmt.Errorf("%q is not a valid pattern: examples are *.go, **/*_test.go, src/{a,b}/*.ts", pattern)
	}
	pattern = strings.TrimPrefix(pattern, "./")
	ending, ok := strings.CutPrefix(pattern, "**/*")
	if !ok && byName {
		ending, ok = strings.CutPrefix(pattern, "*")
	}
	switch {
	case ok && !strings.ContainsAny(ending, `*?[\{/`):
		return func(_, name string) bool { return strings.HasSuffix(name, ending) }, nil
	case byName && !strings.Contains(pattern, "/"):
		return func(_, name string) bool { return doublestar.MatchUnvalidated(pattern, name) }, nil
	}
	return func(rel, _ string) bool { return doublestar.MatchUnvalidated(pattern, rel) }, nil
}

// globResult words the files that were found, relative to the workspace.
func (o Options) globResult(p place, pattern string, found []string) tool.Result {
	if len(found) == 0 {
		hint := ""
		if !strings.Contains(pattern, "/") {
			hint = "; for all directories use **/" + pattern
		}
		return tool.Result{Text: "No file matches " + pattern + hint + "."}
	}
	slices.Sort(found)
	var b strings.Builder
	prefix := o.prefix(p.abs)
	for _, rel := range found[:min(len(found), globFound)] {
		b.WriteString(prefix + rel + "\n")
	}
	more := len(found) - globFound
	if more > 0 {
		fmt.Fprintf(&b, "[%d more files: narrow the pattern]\n", more)
	}
	return tool.Result{Text: b.String(), Truncated: more > 0}
}

// prefix returns what stands before paths below dir when they are shown.
func (o Options) prefix(dir string) string {
	if shown := o.Workspace.show(dir); shown != "." {
		return strings.TrimSuffix(shown, "/") + "/"
	}
	return ""
}
