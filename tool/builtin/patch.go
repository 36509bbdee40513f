package builtin

import (
	"context"
	_ "embed" // for the text of the tool
	stdjson "encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/rondo-engine/rondo/tool"
)

//go:embed patch.md
var patchDescription string

type patchArgs struct {
	Patch string `json:"patch"`
}

// PatchDetails are the Details of a patch that was applied.
type PatchDetails struct {
	// Files are the files that it changed, in its order, without their diffs.
	Files []FileChange `json:"files"`
	// Diff is a unified diff of all of them; files that are too large for
	// one are left out of it.
	Diff string `json:"diff,omitzero"`
}

func applyPatch(o Options) *tool.Tool {
	return tool.Must(tool.New(tool.Tool{
		Name: "apply_patch", Description: strings.TrimSpace(patchDescription), Toolset: filesToolset,
		Access: o.Workspace.patchAccess,
	}, func(ctx context.Context, _ tool.Call, a patchArgs) (tool.Result, error) {
		sections, err := parsePatch(a.Patch)
		if err != nil {
			return tool.Result{}, fmt.Errorf("the patch cannot be read: %w", err)
		}
		s := &stage{o: o}
		defer s.close()
		return s.apply(ctx, sections)
	}))
}

// patchAccess returns what a patch touches: all of its files.
func (w *Workspace) patchAccess(raw stdjson.RawMessage) tool.Access {
	var args patchArgs
	if err := json.Unmarshal(raw, &args); err != nil {
		return tool.Access{Exclusive: true}
	}
	sections, err := parsePatch(args.Patch)
	if err != nil {
		return tool.Access{} // it is refused
	}
	var a tool.Access
	for _, s := range sections {
		a.Writes = append(a.Writes, tool.PathKeys(w.join(s.path))...)
		if s.target != "" {
			a.Writes = append(a.Writes, tool.PathKeys(w.join(s.target))...)
		}
	}
	return a
}

// apply checks a patch and carries it out.
func (s *stage) apply(ctx context.Context, sections []section) (tool.Result, error) {
	if err := s.open(sections); err != nil {
		return tool.Result{}, notApplied(err)
	}
	defer s.o.Workspace.lockAll(s.paths())()
	var report strings.Builder
	for _, section := range sections {
		line, err := s.section(section)
		if err != nil {
			return tool.Result{}, notApplied(fmt.Errorf("%s: %w", section.path, err))
		}
		report.WriteString("\n" + line)
	}
	if err := ctx.Err(); err != nil {
		return tool.Result{}, err
	}
	note, err := s.commit()
	if err != nil {
		return tool.Result{}, err
	}
	return tool.Result{Text: "Patch applied:" + report.String() + note, Details: s.details()}, nil
}

func notApplied(err error) error {
	return fmt.Errorf("the patch was not applied, no file was changed: %w", err)
}

// details tell the screen what was changed.
func (s *stage) details() PatchDetails {
	var d PatchDetails
	for _, f := range s.files {
		if !f.isChanged() {
			continue
		}
		path := s.o.Workspace.show(f.place.abs)
		d.Files = append(d.Files, FileChange{Path: path, Created: f.info == nil, Deleted: !f.exists})
		if sniffBinary([]byte(f.before[:min(len(f.before), 8000)])) == "" {
			d.Diff += diff(path, f.before, f.after)
		}
	}
	return d
}
