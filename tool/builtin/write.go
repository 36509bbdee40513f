package builtin

import (
	"context"
	_ "embed" // for the text of the tool
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/rondo-engine/rondo/tool"
)

//go:embed write.md
var writeText string

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// FileChange are the Details of a call that changed a file.
type FileChange struct {
	Path string `json:"path"`
	// Diff is a unified diff; empty where it would be too large.
	Diff string `json:"diff,omitzero"`
	// Created says that the file is new, Deleted that it is gone.
	Created bool `json:"created,omitzero"`
	Deleted bool `json:"deleted,omitzero"`
}

// diffBytes bounds the files that a diff is made of.
const diffBytes = 1 << 20

func writeFile(o Options) *tool.Tool {
	return tool.Must(tool.New(tool.Tool{
		Name: "write_file", Description: strings.TrimSpace(writeText), Toolset: filesToolset,
		Access: o.Workspace.accessTo(writesFile),
	}, func(_ context.Context, _ tool.Call, a writeArgs) (tool.Result, error) {
		p, err := o.Workspace.at(a.Path, true)
		if err != nil {
			return tool.Result{}, err
		}
		defer p.Close()
		defer o.Workspace.lock(p.abs)()
		old, exists, err := o.overwritable(p, a.Path)
		if err != nil {
			return tool.Result{}, err
		}
		if err := o.save(p, a.Path, a.Content); err != nil {
			return tool.Result{}, err
		}
		did := "Wrote"
		if !exists {
			did = "Created"
		}
		return tool.Result{
			Text:    fmt.Sprintf("%s %s: %d lines, %d bytes.", did, a.Path, countLines(a.Content), len(a.Content)),
			Details: FileChange{Path: o.Workspace.show(p.abs), Diff: diff(a.Path, old, a.Content), Created: !exists},
		}, nil
	}))
}

// overwritable returns the content of the file at p, or why it must not be
// overwritten: the model would destroy what it does not know.
func (o Options) overwritable(p place, path string) (old string, exists bool, err error) {
	info, err := p.root.Stat(p.rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("write %s: %w", path, err)
	case info.IsDir():
		return "", false, fmt.Errorf("%s is a directory", path)
	case !info.Mode().IsRegular():
		return "", false, fmt.Errorf("%s is not a regular file but %s", path, describeMode(info.Mode()))
	}
	data, err := p.root.ReadFile(p.rel)
	if err != nil {
		return "", false, fmt.Errorf("write %s: %w", path, err)
	}
	if len(data) == 0 {
		return "", true, nil
	}
	switch o.Tracker.check(p.abs, info, data) {
	case unseen:
		return "", false, fmt.Errorf("%s exists and was not read in this session, so nothing was written: "+
			"read it first, then write it or change a part of it with edit_file", path)
	case changed:
		return "", false, fmt.Errorf("%s was changed by something else after it was last read here, so nothing was written: "+
			"read it again first", path)
	}
	return string(data), true, nil
}

// save writes the file and notes its new state.
func (o Options) save(p place, path, content string) error {
	if err := p.write([]byte(content)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	info, err := p.root.Stat(p.rel)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	o.Tracker.saw(p.abs, info, maphash.String(o.Tracker.seed, content))
	return nil
}

func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

func diff(path, before, after string) string {
	if len(before) > diffBytes || len(after) > diffBytes {
		return ""
	}
	return udiff.Unified("a/"+path, "b/"+path, before, after)
}
