package builtin

import (
	"context"
	_ "embed" // for the text of the tool
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rondo-engine/rondo/internal/proc"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/tool"
)

var (
	//go:embed shell.md
	shellText string
	//go:embed background.md
	backgroundText string
	//go:embed nohup.md
	nohupText string
)

// shellName is what a model calls the tool.
const shellName = "shell"

type foregroundArgs struct {
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitzero" jsonschema:"seconds, 180 by default"`
	Workdir string `json:"workdir,omitzero"`
}

// shellArgs are the arguments where processes can run in the background.
type shellArgs struct {
	Command    string `json:"command"`
	Timeout    int    `json:"timeout,omitzero" jsonschema:"seconds, 180 by default; none in the background"`
	Workdir    string `json:"workdir,omitzero"`
	Background bool   `json:"background,omitzero"`
	PTY        bool   `json:"pty,omitzero" jsonschema:"give a background process a terminal"`
	Columns    int    `json:"columns,omitzero" jsonschema:"of the terminal, 120 by default"`
	Rows       int    `json:"rows,omitzero" jsonschema:"40 by default"`
}

// ShellDetails are the Details of a shell call.
type ShellDetails struct {
	ExitCode  int    `json:"exit_code"`
	Signal    string `json:"signal,omitzero"`
	TimedOut  bool   `json:"timed_out,omitzero"`
	Cancelled bool   `json:"cancelled,omitzero"`
	Left      []int  `json:"left_running,omitempty"`
}

// shellTimeout is the timeout of a command that asks for none.
const shellTimeout = 180 * time.Second

// Shell returns the tool that runs commands. Whether a command may run is for
// the session to ask before it runs the tool.
func Shell(o Options) *tool.Tool {
	o = o.withDefaults()
	s := &shell{Options: o, program: "sh"}
	if bash, err := exec.LookPath("bash"); err == nil {
		s.program = bash
	}
	t := tool.Tool{
		Name: shellName, Description: strings.TrimSpace(shellText), Toolset: shellToolset, Looks: onlyLooks,
		Timeout: o.MaxTimeout + 10*time.Second,
	}
	if o.Processes != nil {
		t.Description += "\n" + strings.TrimSpace(backgroundText)
		return tool.Must(tool.New(t, s.run))
	}
	t.Description += " " + strings.TrimSpace(nohupText)
	return tool.Must(tool.New(t, func(ctx context.Context, call tool.Call, a foregroundArgs) (tool.Result, error) {
		return s.run(ctx, call, shellArgs{Command: a.Command, Timeout: a.Timeout, Workdir: a.Workdir})
	}))
}

type shell struct {
	Options
	program string
	calls   atomic.Int64
}

func (s *shell) run(ctx context.Context, call tool.Call, a shellArgs) (tool.Result, error) {
	dir, err := s.workdir(a.Workdir)
	if err != nil {
		return tool.Result{}, err
	}
	id := fmt.Sprintf("%d-%d", os.Getpid(), s.calls.Add(1))
	cmd := proc.Cmd{
		Argv: []string{s.program, "-c", a.Command}, Dir: dir, ID: id + "-" + call.ID,
		Env: shellEnv(proc.Environ(os.Environ()), a.PTY),
	}
	if s.SpillDir != "" {
		cmd.Spill = filepath.Join(s.SpillDir, "shell-"+id+".txt")
	}
	switch {
	case a.Background:
		return s.background(ctx, call, a, cmd)
	case a.PTY:
		return tool.Result{}, errors.New("pty goes with background: a command that is waited for has no terminal")
	}
	return s.foreground(ctx, a, cmd)
}

// foreground runs a command to its end.
func (s *shell) foreground(ctx context.Context, a shellArgs, cmd proc.Cmd) (tool.Result, error) {
	cmd.Timeout = shellTimeout
	if a.Timeout > 0 {
		cmd.Timeout = time.Duration(min(a.Timeout, 1<<20)) * time.Second
	}
	cmd.Timeout = min(cmd.Timeout, s.MaxTimeout)
	res, err := s.Run(ctx, cmd)
	if err != nil {
		return tool.Result{}, err
	}
	out := tool.Result{
		Text: shellResult(res, cmd.Timeout), Truncated: res.Dropped > 0, Source: res.Spill,
		Details: ShellDetails{res.ExitCode, res.Signal, res.TimedOut, res.Cancelled, res.Left},
	}
	switch {
	case res.Cancelled:
		return out, ctx.Err()
	case res.TimedOut:
		out.Status = message.StatusError
	}
	return out, nil
}

// workdir returns the directory that a command starts in.
func (s *shell) workdir(path string) (string, error) {
	p, err := s.Workspace.at(path, false)
	if err != nil {
		return "", err
	}
	defer p.Close()
	isDir, err := s.isDir(p, path)
	if err == nil && !isDir {
		err = fmt.Errorf("%s is not a directory", path)
	}
	return p.abs, err
}

// shellEnv adds to an environment what keeps programs from asking, paging and, if
// they have no terminal, drawing.
func shellEnv(env []string, terminal bool) []string {
	term := "TERM=dumb"
	if terminal {
		term = "TERM=xterm"
	}
	return append(env, term, "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0",
		"SSH_ASKPASS_REQUIRE=never", "DEBIAN_FRONTEND=noninteractive")
}

// shellResult words how a command ended: its output, then what else is to say,
// a line each.
func shellResult(res proc.Result, timeout time.Duration) string {
	var notes []string
	if res.Ended > 0 {
		notes = append(notes, fmt.Sprintf("ended %d background processes that still held the output", res.Ended))
	}
	if len(res.Left) > 0 {
		notes = append(notes, fmt.Sprintf("still running in the background: pid %s", strings.Trim(fmt.Sprint(res.Left), "[]")))
	}
	switch {
	case res.TimedOut:
		notes = append(notes, fmt.Sprintf("timed out after %v; it was ended with all that it had started", timeout))
	case res.Cancelled:
		notes = append(notes, "cancelled; it was ended with all that it had started")
	case res.Signal != "":
		notes = append(notes, "ended by signal: "+res.Signal)
	case res.ExitCode != 0:
		notes = append(notes, fmt.Sprintf("exit status %d", res.ExitCode))
	}
	return outputText(res, notes)
}

// outputText is what is kept of an output, with notes below it, a line each.
func outputText(res proc.Result, notes []string) string {
	var b strings.Builder
	b.WriteString(res.Head)
	if res.Dropped > 0 {
		fmt.Fprintf(&b, "\n[%d bytes dropped%s]\n", res.Dropped, whereSaved(res))
	}
	b.WriteString(res.Tail)
	if b.Len() == 0 && len(notes) == 0 {
		return "[no output]"
	}
	for _, note := range notes {
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString("[" + note + "]")
	}
	return b.String()
}

func whereSaved(res proc.Result) string {
	switch {
	case res.SpillErr != nil:
		return "; saving the whole failed: " + res.SpillErr.Error()
	case res.Spill == "":
		return ""
	case res.SpillCut:
		return "; the beginning, up to a limit, is in " + res.Spill
	}
	return "; the whole is in " + res.Spill
}
