package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/internal/approval"
	"github.com/rondo-engine/rondo/internal/config"
	"github.com/rondo-engine/rondo/internal/sandbox"
	"github.com/rondo-engine/rondo/tool"
)

// approver decides which tool calls of a run may run.
type approver struct {
	gate *approval.Gate
	dir  string
	// denied is told of each call that is not run; nil tells nobody.
	denied func(text string)
}

// newApprover makes the approver that the settings ask for. ask asks a person;
// nil where there is none.
func (s *setup) newApprover(ask func(context.Context, approval.Prompt) (approval.Answer, error), denied func(string)) (*approver, error) {
	home, err := s.env.home()
	if err != nil {
		return nil, err
	}
	user := s.env.Getenv("HOME")
	checker := approval.New(approval.Options{
		Workspace: s.workspace.Dir(), Home: user, Temp: s.env.tempDirs(),
		Secrets: append(sandbox.Secrets(user), filepath.Join(home, "config.yaml")),
		Getenv:  func(name string) (string, bool) { v := s.env.Getenv(name); return v, v != "" },
		Resolve: tool.ResolvePath, ReadFile: readScript,
		Rules: approval.Rules{Allow: s.settings.Approvals.Allow, Deny: s.settings.Approvals.Deny},
	})
	return &approver{dir: s.workspace.Dir(), denied: denied, gate: &approval.Gate{
		Checker: checker, Mode: approval.Mode(s.settings.Approve), Ask: ask, Timeout: s.settings.Approvals.Timeout,
		Persist: func(rules []string) error { return config.AllowCommands(s.settings.HomeFile, rules) },
	}}, nil
}

// maxScript bounds the scripts that are looked into, in bytes.
const maxScript = 256 << 10

// readScript reads the beginning of a file, one byte more than is looked into.
func readScript(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxScript+1))
}

// tempDirs are the directories for temporary files.
func (e *environment) tempDirs() []string {
	dirs := []string{"/tmp", "/var/tmp"}
	if dir := e.Getenv("TMPDIR"); filepath.IsAbs(dir) {
		dirs = append([]string{filepath.Clean(dir)}, dirs...)
	}
	for _, dir := range dirs[:len(dirs):len(dirs)] {
		if r, err := filepath.EvalSymlinks(dir); err == nil && r != dir {
			dirs = append(dirs, r)
		}
	}
	return dirs
}

// commandArgs is what the arguments of tools that run commands have in common.
type commandArgs struct {
	Command string `json:"command"`
	Input   string `json:"input"`
	Workdir string `json:"workdir"`
}

// approve answers rondo.Options.Approve. Calls of tools that run no commands are
// allowed: those tools keep to their bounds by themselves.
func (a *approver) approve(ctx context.Context, r rondo.ApprovalRequest) rondo.Approval {
	var args commandArgs
	if r.Tool.Toolset != "shell" || json.Unmarshal(r.Call.Args, &args) != nil {
		return rondo.Approval{Allow: true}
	}
	dir := a.dir
	if args.Workdir != "" {
		dir = args.Workdir
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(a.dir, dir)
		}
	}
	for _, command := range []string{args.Command, args.Input} {
		if command == "" {
			continue
		}
		got := a.gate.Decide(ctx, approval.Request{
			Session: r.Call.Session, CallID: r.Call.ID, Arguments: r.Call.Args, Command: command, Dir: dir, Alone: len(r.Agent) > 0, Asking: r.Asking,
		})
		if !got.Allow {
			if a.denied != nil {
				a.denied(fmt.Sprintf("not run: %s: %s", brief(command, 100), got.Reason))
			}
			return rondo.Approval{Reason: got.Reason}
		}
	}
	return rondo.Approval{Allow: true}
}
