// Package hookcmd makes hooks of commands: each gets a JSON object on its input
// and may answer with one on its output.
//
// The input is {"hook_event_name", "tool_name", "tool_input", "session_id",
// "cwd", "extra"}. The answers are {"action":"block","message":…} or
// {"decision":"block","reason":…}, {"tool_input":{…}}, {"context":…} and
// {"result":…}; what means nothing to an event is ignored. No output is no
// answer. Anything else, an exit status other than 0 and no end in time are
// errors, which the engine tells and otherwise ignores.
package hookcmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rondo-engine/rondo/internal/proc"
)

// The bounds of a command's time.
const (
	DefaultTimeout = 60 * time.Second
	MaxTimeout     = 300 * time.Second
)

// Events are the names of the events, in the order of a run.
func Events() []string {
	return []string{
		"session_start", "pre_model_call", "post_model_call", "pre_tool_call", "post_tool_call", "subagent_start", "subagent_stop", "session_end",
	}
}

// Command is a command for an event.
type Command struct {
	Event string
	// Matcher is a regular expression for the whole name of a tool; empty
	// matches every one. It counts for the events of tool calls alone.
	Matcher string
	// Command is a command line for the shell.
	Command string
	// Timeout bounds it, 60 s by default and 300 s at most.
	Timeout time.Duration
}

// Digest names the command for consent: what it runs, and when.
func (c Command) Digest() string {
	sum := sha256.Sum256([]byte(c.Event + "\x00" + c.Matcher + "\x00" + c.Command))
	return hex.EncodeToString(sum[:16])
}

// Check says what is wrong with a command.
func (c Command) Check() error {
	if strings.TrimSpace(c.Command) == "" {
		return fmt.Errorf("a %s hook has no command", c.Event)
	}
	if _, err := regexp.Compile(c.Matcher); err != nil {
		return fmt.Errorf("the matcher of the %s hook %q: %w", c.Event, c.Command, err)
	}
	return nil
}

func (c Command) matches(tool string) bool {
	if c.Matcher == "" || tool == "" {
		return true
	}
	re, err := regexp.Compile("^(?:" + c.Matcher + ")$")
	return err == nil && re.MatchString(tool)
}

// Input is what a command gets.
type Input struct {
	Event     string          `json:"hook_event_name"`
	Tool      string          `json:"tool_name,omitempty"`
	Arguments json.RawMessage `json:"tool_input,omitempty"`
	Session   string          `json:"session_id"`
	Dir       string          `json:"cwd"`
	Extra     map[string]any  `json:"extra,omitempty"`
}

// Answer is what a command says. The zero value says nothing.
type Answer struct {
	Action    string          `json:"action,omitempty"`
	Message   string          `json:"message,omitempty"`
	Decision  string          `json:"decision,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Context   string          `json:"context,omitempty"`
	Result    *string         `json:"result,omitempty"`
	Arguments json.RawMessage `json:"tool_input,omitempty"`
}

// Blocks reports whether the answer keeps a call from running, and why.
func (a Answer) Blocks() (why string, ok bool) {
	switch {
	case a.Action == "block":
		return a.Message, true
	case a.Decision == "block":
		return a.Reason, true
	}
	return "", false
}

// Runner runs commands.
type Runner struct {
	// Dir is where they run.
	Dir string
	// Run runs one, for example confined; nil is proc.Run.
	Run func(ctx context.Context, c proc.Cmd) (proc.Result, error)

	runs atomic.Int64
}

// maxAnswer bounds what a command may print, in bytes.
const maxAnswer = 256 << 10

// Ask runs a command and reads its answer.
func (r *Runner) Ask(ctx context.Context, c Command, in Input) (Answer, error) {
	in.Event, in.Dir = c.Event, r.Dir
	text, err := json.Marshal(in)
	if err != nil {
		return Answer{}, fmt.Errorf("%s: %w", c.Command, err)
	}
	input, err := inputFile(text)
	if err != nil {
		return Answer{}, fmt.Errorf("%s: %w", c.Command, err)
	}
	defer input.Close()
	errOut, err := inputFile(nil)
	if err != nil {
		return Answer{}, fmt.Errorf("%s: %w", c.Command, err)
	}
	defer errOut.Close()
	timeout := c.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	run := r.Run
	if run == nil {
		run = proc.Run
	}
	res, err := run(ctx, proc.Cmd{
		Argv: []string{"sh", "-c", c.Command}, Dir: r.Dir, ID: fmt.Sprintf("hook-%d-%d", os.Getpid(), r.runs.Add(1)),
		Timeout: min(timeout, MaxTimeout), HeadBytes: maxAnswer, TailBytes: 1, Stdin: input, Stderr: errOut,
	})
	if err != nil {
		return Answer{}, fmt.Errorf("%s: %w", c.Command, err)
	}
	return read(c, res, said(errOut))
}

// read makes an answer of how a command ended and what it printed.
func read(c Command, res proc.Result, complaint string) (Answer, error) {
	var a Answer
	switch {
	case res.Cancelled:
		return a, fmt.Errorf("%s: %w", c.Command, context.Canceled)
	case res.TimedOut:
		return a, fmt.Errorf("%s: it did not end within its time", c.Command)
	case res.ExitCode != 0:
		return a, fmt.Errorf("%s: exit status %d%s", c.Command, res.ExitCode, complaint)
	case res.Dropped > 0:
		return a, fmt.Errorf("%s: it printed more than %d bytes", c.Command, maxAnswer)
	}
	out := strings.TrimSpace(res.Head + res.Tail)
	if out == "" {
		return a, nil
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		return Answer{}, fmt.Errorf("%s: its answer is no JSON object of the known form: %w", c.Command, err)
	}
	return a, nil
}

// inputFile makes a file that has no name and begins with text.
func inputFile(text []byte) (*os.File, error) {
	f, err := os.CreateTemp("", "rondo-hook-")
	if err != nil {
		return nil, err
	}
	err = os.Remove(f.Name())
	if err == nil {
		_, err = f.Write(text)
	}
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// maxComplaint bounds what is told of a command's standard error, in bytes.
const maxComplaint = 500

// said is the beginning of what a command wrote to its standard error.
func said(f *os.File) string {
	b := make([]byte, maxComplaint)
	n, _ := f.ReadAt(b, 0) // at its end that is an error, too
	if s := strings.TrimSpace(string(b[:n])); s != "" {
		return ": " + strings.ToValidUTF8(s, "")
	}
	return ""
}
