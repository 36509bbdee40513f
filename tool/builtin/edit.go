package builtin

import (
	"context"
	_ "embed" // for the text of the tool
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/rondo-engine/rondo/tool"
)

//go:embed edit.md
var editText string

type editArgs struct {
	Path       string        `json:"path"`
	OldString  string        `json:"old_string,omitzero"`
	NewString  string        `json:"new_string,omitzero"`
	ReplaceAll bool          `json:"replace_all,omitzero"`
	Edits      []replacement `json:"edits,omitzero" jsonschema:"instead of the three above"`
}

// replacement is one change of a file.
type replacement struct {
	OldString  string `json:"old_string"`
	NewString  string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all,omitzero"`
}

// editBytes bounds the files that can be edited.
const editBytes = 8 << 20

func editFile(o Options) *tool.Tool {
	return tool.Must(tool.New(tool.Tool{
		Name: "edit_file", Description: strings.TrimSpace(editText), Toolset: filesToolset,
		Access: o.Workspace.accessTo(writesFile),
	}, func(_ context.Context, _ tool.Call, a editArgs) (tool.Result, error) {
		edits, err := a.list()
		if err != nil {
			return tool.Result{}, err
		}
		p, err := o.Workspace.at(a.Path, true)
		if err != nil {
			return tool.Result{}, err
		}
		defer p.Close()
		defer o.Workspace.lock(p.abs)()
		return o.edit(p, a.Path, edits)
	}))
}

// list returns the edits of a call in order.
func (a editArgs) list() ([]replacement, error) {
	edits := a.Edits
	if a.OldString != "" || a.NewString != "" {
		edits = append([]replacement{{a.OldString, a.NewString, a.ReplaceAll}}, edits...)
	}
	if len(edits) == 0 {
		return nil, errors.New("nothing to do: give old_string and new_string, or edits")
	}
	for i, e := range edits {
		if e.OldString == "" {
			return nil, fmt.Errorf("edit %d: old_string is empty; to make a file use write_file", i+1)
		}
		if e.OldString == e.NewString {
			return nil, fmt.Errorf("edit %d: old_string and new_string are the same", i+1)
		}
	}
	return edits, nil
}

// edit applies the edits to the file at p, all or none.
func (o Options) edit(p place, path string, edits []replacement) (tool.Result, error) {
	before, stale, err := o.editable(p, path)
	if err != nil {
		return tool.Result{}, err
	}
	after := before
	var report strings.Builder
	for i, e := range edits {
		changed, note, err := e.apply(after)
		if err != nil {
			which := ""
			if len(edits) > 1 {
				which = fmt.Sprintf("edit %d of %d: ", i+1, len(edits))
			}
			return tool.Result{}, fmt.Errorf("%s was not changed: %s%w", path, which, err)
		}
		after = changed
		report.WriteString("\n" + note)
	}
	if after == before {
		return tool.Result{}, fmt.Errorf("%s was not changed: it already is as the edits would make it", path)
	}
	if err := o.save(p, path, after); err != nil {
		return tool.Result{}, err
	}
	if stale {
		report.WriteString("\nNote: something else had changed the file after you last read it; those changes are kept.")
	}
	return tool.Result{
		Text:    "Edited " + path + ":" + report.String(),
		Details: FileChange{Path: o.Workspace.show(p.abs), Diff: diff(path, before, after)},
	}, nil
}

// editable returns the content of the file at p, and whether it was changed
// after the session last saw it.
func (o Options) editable(p place, path string) (content string, stale bool, err error) {
	info, err := p.root.Stat(p.rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false, o.missing(p, path)
	case err != nil:
		return "", false, fmt.Errorf("edit %s: %w", path, err)
	case !info.Mode().IsRegular():
		return "", false, fmt.Errorf("%s is no regular file", path)
	case info.Size() > editBytes:
		return "", false, fmt.Errorf("%s has %d bytes, more than can be edited (%d): use a program in the shell", path, info.Size(), editBytes)
	}
	data, err := p.root.ReadFile(p.rel)
	if err != nil {
		return "", false, fmt.Errorf("edit %s: %w", path, err)
	}
	if what := sniffBinary(data[:min(len(data), 8000)]); what != "" {
		return "", false, fmt.Errorf("%s is %s, not text", path, what)
	}
	return string(data), o.Tracker.check(p.abs, info, data) == changed, nil
}
