// Package guard decides which tool calls may run: by itself what is harmless or
// never allowed, by the user's rules, and by asking a person. A program that
// embeds rondo makes one Guard and gives it to its agents:
//
//	g := guard.New(guard.Options{Workspace: dir, Ask: ask})
//	agent, err := rondo.New(rondo.Options{Approve: rondo.GuardedBy(g), …})
//
// Commands of the toolset "shell" are parsed as the shell parses them and judged
// wherever they stand in the text. What other tools write, by their
// tool.Tool.Access, is judged by where it leads once links are followed: a write
// to .git, .rondo, a start-up file of a shell and the like becomes execution
// later, so it is asked for like a dangerous command. Everything else is for the
// tools themselves to hold.
//
// A person's answer is once, session, always or no. It binds to one call by id
// and digest; no answer, an error and an answer to another call are a no. What
// no mode, rule or answer opens is the floor: see Options.Mode.
package guard

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rondo-engine/rondo/internal/approval"
	"github.com/rondo-engine/rondo/tool"
)

// Mode says what becomes of what has to be asked for.
type Mode string

// The modes. In all of them the floor holds: removing the root, a home or a
// system directory, raw devices, fork bombs, switching the machine off and the
// like.
const (
	// AskMode asks; where there is nobody to ask, that is a no. The empty
	// value is the same.
	AskMode Mode = "ask"
	// DenyMode refuses without asking.
	DenyMode Mode = "deny"
	// AllMode lets everything run but the floor and what the rules deny.
	AllMode Mode = "all"
)

// Options say what a Guard knows and whom it asks. Only Workspace is needed.
type Options struct {
	// Workspace is the directory that calls may change, absolute.
	Workspace string
	// Home is the user's home, by default that of the process.
	Home string
	// Temp are directories for temporary files, by default those of the system.
	Temp []string
	// Secrets are files and directories that are asked for before a command
	// reads them; sandbox.Secrets lists the usual ones of a home.
	Secrets []string
	// Getenv returns a variable that commands see; nil is os.LookupEnv.
	Getenv func(name string) (string, bool)
	// Allow and Deny are the user's rules: patterns for simple commands, such
	// as "git push *", and for files that are written, such as "> .git/config".
	// Deny wins.
	Allow, Deny []string
	Mode        Mode
	// Ask asks a person and waits for the answer; nil says that there is
	// nobody. It is called by the goroutine of the run, whose context ends
	// when the run is stopped.
	Ask func(ctx context.Context, p Prompt) (Answer, error)
	// Timeout bounds the wait for an answer; 0 is 300 s.
	Timeout time.Duration
	// Persist keeps rules for Allow that stand for what was answered with
	// Always, in the user's own settings and never in those of a project. nil
	// keeps them as long as the Guard.
	Persist func(rules []string) error
}

// Guard decides on tool calls. It is safe for concurrent use.
type Guard struct {
	o       Options
	checker *approval.Checker
	// always holds for all sessions of the Guard.
	always Grants
}

// New makes a Guard.
func New(o Options) *Guard {
	if o.Getenv == nil {
		o.Getenv = os.LookupEnv
	}
	if o.Home == "" {
		o.Home, _ = os.UserHomeDir() // without one there is no home to keep
	}
	if dir, err := tool.ResolvePath(o.Workspace); err == nil {
		o.Workspace = dir
	}
	return &Guard{o: o, checker: approval.New(approval.Options{
		Workspace: o.Workspace, Home: o.Home, Temp: o.Temp, Secrets: o.Secrets, Getenv: o.Getenv, Resolve: tool.ResolvePath, ReadFile: readScript,
		Rules: approval.Rules{Allow: o.Allow, Deny: o.Deny},
	})}
}

// Request is a tool call that wants to run.
type Request struct {
	Tool *tool.Tool
	Call tool.Call
	// Alone says that nobody is to be asked about it, as for a child agent.
	Alone bool
	// Asking, if not nil, is called when a person is about to be asked.
	Asking func(reason string)
	// Grants are what was answered with Session for the session of the call;
	// nil remembers nothing.
	Grants *Grants
}

// Outcome is what becomes of a request. Reason says why not, in words that fit
// behind "Denied:" and without a full stop.
type Outcome struct {
	Allow  bool
	Reason string
	// Check is to be called right before the call runs, if it is not nil: a
	// call before it may have led its paths elsewhere. An error says that it
	// must not run.
	Check func() error
	// Notice is for the user: the answer was taken, but could not be kept.
	Notice string
}

// Decide says whether a request may run, and asks if it has to.
func (g *Guard) Decide(ctx context.Context, r Request) Outcome {
	switch {
	case r.Tool.Types != nil:
		return g.decideTyped(ctx, r)
	case r.Tool.Toolset == "shell":
		return g.decideCommand(ctx, r)
	}
	paths := written(r)
	v := g.judgeWrites(paths)
	out := g.decide(ctx, subject{Request: r, Files: paths, verdict: v})
	if out.Allow && len(paths) > 0 {
		out.Check = func() error { return g.unmoved(r, paths) }
	}
	return out
}

// commandArgs is what the arguments of tools that run commands have in common.
type commandArgs struct {
	Command string `json:"command"`
	Input   string `json:"input"`
	Workdir string `json:"workdir"`
}

// decideCommand decides on a call of a tool that runs commands: on the command
// and on what is typed into it.
func (g *Guard) decideCommand(ctx context.Context, r Request) (out Outcome) {
	var args commandArgs
	if err := json.Unmarshal(r.Call.Args, &args); err != nil {
		return Outcome{Reason: "its arguments cannot be read: " + err.Error()}
	}
	dir := g.o.Workspace
	if args.Workdir != "" {
		if dir = args.Workdir; !filepath.IsAbs(dir) {
			dir = filepath.Join(g.o.Workspace, dir)
		}
	}
	out.Allow = true
	for _, command := range []string{args.Command, args.Input} {
		if command == "" {
			continue
		}
		out = g.decide(ctx, subject{Request: r, Command: command, Dir: dir, verdict: g.checker.Check(command, dir)})
		if !out.Allow {
			break
		}
	}
	return out
}

// written are the files that a call is going to write, by its tool's word.
func written(r Request) []string {
	if r.Tool.ReadOnly || r.Tool.Access == nil {
		return nil
	}
	var paths []string
	for _, key := range r.Tool.Access(r.Call.Args).Writes {
		if path := filepath.FromSlash(key); filepath.IsAbs(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// judgeWrites puts together what is said of each of several files.
func (g *Guard) judgeWrites(paths []string) approval.Verdict {
	var all approval.Verdict
	for _, path := range paths {
		v := g.checker.Write(g.otherName(path))
		all.Asks = append(all.Asks, v.Asks...)
		if v.Level > all.Level {
			all.Level, all.Reason = v.Level, v.Reason
		}
	}
	return all
}

// unmoved reports that a call would now write to other files than those it was
// allowed for.
func (g *Guard) unmoved(r Request, allowed []string) error {
	now := written(r)
	for _, path := range now {
		known := false
		for _, a := range allowed {
			known = known || a == path
		}
		if !known && g.judgeWrites([]string{path}).Level != approval.Allow {
			return fmt.Errorf("what it would write to leads to %s since it was allowed, so it was not run", path)
		}
	}
	return nil
}

// otherName returns the name of a file in .git or .rondo of the workspace if
// path is another name of that very file, by a hard link; else path.
func (g *Guard) otherName(path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || !hasOtherNames(info) {
		return path
	}
	for _, pattern := range []string{".git/*", ".git/hooks/*", ".git/info/*", ".rondo/*"} {
		names, _ := filepath.Glob(filepath.Join(escapeGlob(g.o.Workspace), pattern)) // the patterns are well-formed
		for _, name := range names {
			if other, err := os.Lstat(name); err == nil && os.SameFile(info, other) {
				return name
			}
		}
	}
	return path
}

func escapeGlob(dir string) string {
	if filepath.Separator == '\\' {
		return dir
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}
