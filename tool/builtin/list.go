package builtin

import (
	"context"
	_ "embed" // for the text of the tool
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rondo-engine/rondo/tool"
)

//go:embed list.md
var listText string

type listArgs struct {
	Path string `json:"path,omitzero"`
}

// listEntries bounds how many names are listed.
const listEntries = 1000

func listDir(o Options) *tool.Tool {
	return tool.Must(tool.New(tool.Tool{
		Name: "list_dir", Description: strings.TrimSpace(listText), Toolset: filesToolset, ReadOnly: true,
		Access: o.Workspace.accessTo(readsDir),
	}, func(_ context.Context, _ tool.Call, a listArgs) (tool.Result, error) {
		if a.Path == "" {
			a.Path = "."
		}
		p, err := o.Workspace.at(a.Path, false)
		if err != nil {
			return tool.Result{}, err
		}
		defer p.Close()
		if isDir, err := o.isDir(p, a.Path); err != nil {
			return tool.Result{}, err
		} else if !isDir {
			return tool.Result{}, fmt.Errorf("%s is a file: use read_file", a.Path)
		}
		entries, err := fs.ReadDir(p.root.FS(), filepath.ToSlash(p.rel))
		if err != nil {
			return tool.Result{}, fmt.Errorf("list %s: %w", a.Path, err)
		}
		return listing(p, a.Path, entries), nil
	}))
}

// listing words the entries of a directory, directories first.
func listing(p place, path string, entries []fs.DirEntry) tool.Result {
	if len(entries) == 0 {
		return tool.Result{Text: path + " is empty."}
	}
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int {
		switch {
		case a.IsDir() == b.IsDir():
			return strings.Compare(a.Name(), b.Name())
		case a.IsDir():
			return -1
		}
		return 1
	})
	var b strings.Builder
	for _, e := range entries[:min(len(entries), listEntries)] {
		b.WriteString(e.Name())
		switch {
		case e.IsDir():
			b.WriteString("/")
		case e.Type()&fs.ModeSymlink != 0:
			if target, err := p.root.Readlink(filepath.Join(p.rel, e.Name())); err == nil {
				b.WriteString(" -> " + target)
			}
		default:
			if info, err := e.Info(); err == nil {
				fmt.Fprintf(&b, " %d", info.Size())
			}
		}
		b.WriteByte('\n')
	}
	more := len(entries) - listEntries
	if more > 0 {
		fmt.Fprintf(&b, "[%d more entries]\n", more)
	}
	return tool.Result{Text: b.String(), Truncated: more > 0}
}
