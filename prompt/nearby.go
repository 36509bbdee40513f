package prompt

import (
	"context"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/rondo-engine/rondo/tool"
)

// Nearby shows a model the context files of the directories below a workspace
// that its tools go to, once in each session, behind the result of the tool.
type Nearby struct {
	workspace string
	mu        sync.Mutex
	shown     map[nearKey]bool
}

type nearKey struct{ session, dir string }

// NewNearby returns one for a workspace, of which it has shown nothing.
func NewNearby(workspace string) *Nearby {
	return &Nearby{workspace: workspace, shown: map[nearKey]bool{}}
}

// Wrap returns t, which shows context files if it takes a path.
func (n *Nearby) Wrap(t *tool.Tool) *tool.Tool {
	if !strings.Contains(string(t.Schema), `"path"`) {
		return t
	}
	wrapped := *t
	wrapped.Run = func(ctx context.Context, call tool.Call) (tool.Result, error) {
		res, err := t.Run(ctx, call)
		if err != nil {
			return res, err
		}
		var args struct {
			Path string `json:"path"`
		}
		if json.Unmarshal(call.Args, &args) == nil && args.Path != "" {
			res.Text += n.text(call.Session, args.Path)
		}
		return res, nil
	}
	return &wrapped
}

// text returns the context files on the way to path that session has not seen.
func (n *Nearby) text(session, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(n.workspace, path)
	}
	rel, err := filepath.Rel(n.workspace, path)
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return ""
	}
	var b strings.Builder
	dir := n.workspace
	for _, name := range strings.Split(rel, string(filepath.Separator)) {
		dir = filepath.Join(dir, name)
		if !n.first(session, dir) {
			continue
		}
		if f, err := fileIn(n.workspace, dir); err == nil && f != nil {
			b.WriteString("\n\n[What the project says of this directory, in " + f.Path + "]\n" + f.Text)
		}
	}
	return b.String()
}

// first reports whether session comes to dir for the first time.
func (n *Nearby) first(session, dir string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := nearKey{session, dir}
	seen := n.shown[k]
	n.shown[k] = true
	return !seen
}
