// Package builtin has the tools that every agent has: read_file, write_file,
// edit_file, apply_patch, list_dir, glob and grep in the toolset "files", and
// shell and process in the toolset "shell". Noop is for benchmarks.
//
// Processes are what the shell has running in the background; their Hooks belong to
// those of the agent, and their Close to the end of the program.
//
// What the model is told of a tool stands in the Markdown file of its name.
package builtin

import (
	"context"
	_ "embed" // for the texts of the tools
	stdjson "encoding/json"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/rondo-engine/rondo/internal/proc"
	"github.com/rondo-engine/rondo/tool"
)

// Options are what the tools of one session work with.
type Options struct {
	// Workspace is where they work. It must be set.
	Workspace *Workspace
	// Tracker remembers what the session has read; nil makes a new one.
	Tracker *Tracker
	// SpillDir is where the shell saves output that is too long to keep. The
	// Workspace must let it be read. Empty saves nothing.
	SpillDir string
	// MaxTimeout bounds the timeout that a shell command can ask for, 600 s
	// by default.
	MaxTimeout time.Duration
	// Run runs a shell command; nil stands for proc.Run. It is the place for
	// a sandbox.
	Run func(ctx context.Context, c proc.Cmd) (proc.Result, error)
	// Processes keeps what the shell starts in the background; nil lets it
	// start nothing there, and offers no tool for it.
	Processes *Processes
}

func (o Options) withDefaults() Options {
	if o.Tracker == nil {
		o.Tracker = NewTracker()
	}
	if o.MaxTimeout <= 0 {
		o.MaxTimeout = 600 * time.Second
	}
	if o.Run == nil {
		o.Run = proc.Run
	}
	return o
}

// The toolsets.
const (
	filesToolset = "files"
	shellToolset = "shell"
	benchToolset = "bench"
)

// All returns the default set: the file tools and the shell, with the tool for its
// processes in the background.
func All(o Options) []*tool.Tool {
	o = o.withDefaults()
	all := append(Files(o), Shell(o))
	if o.Processes != nil {
		all = append(all, processTool(o))
	}
	return all
}

// Files returns the tools that work on files.
func Files(o Options) []*tool.Tool {
	o = o.withDefaults()
	return []*tool.Tool{readFile(o), writeFile(o), editFile(o), applyPatch(o), listDir(o), globFiles(o), grepFiles(o)}
}

// pathArgs is what the arguments of all file tools have in common.
type pathArgs struct {
	Path string `json:"path"`
}

// accessTo returns the Access function of a tool that touches what its path
// argument names: a file, or a directory with all below it.
func (w *Workspace) accessTo(touch func(path string) tool.Access) func(stdjson.RawMessage) tool.Access {
	return func(raw stdjson.RawMessage) tool.Access {
		var args pathArgs
		if err := json.Unmarshal(raw, &args); err != nil {
			return tool.Access{Exclusive: true}
		}
		return touch(w.join(args.Path))
	}
}

func readsFile(path string) tool.Access  { return tool.Access{Reads: tool.PathKeys(path)} }
func writesFile(path string) tool.Access { return tool.Access{Writes: tool.PathKeys(path)} }
func readsDir(path string) tool.Access   { return tool.Access{Reads: []string{tool.DirKey(path)}} }
