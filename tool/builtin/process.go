package builtin

import (
	"context"
	_ "embed" // for the text of the tool
	stdjson "encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/rondo-engine/rondo/internal/proc"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/tool"
)

// processName is what a model calls the tool.
const processName = "process"

//go:embed process.md
var processText string

type processArgs struct {
	Action string `json:"action" enum:"list,poll,write,kill"`
	ID     int    `json:"id,omitzero"`
	Input  string `json:"input,omitzero"`
	EOF    bool   `json:"eof,omitzero"`
	Wait   int    `json:"wait,omitzero" jsonschema:"milliseconds; for write 1000 by default"`
}

// ProcessDetails are the Details of a call of the tool process, and of a shell call
// that starts a process in the background.
type ProcessDetails struct {
	ID      int    `json:"id"`
	Command string `json:"command"`
	Running bool   `json:"running"`
	// ExitCode is meaningful once it no longer runs; -1 if it did not exit by
	// itself.
	ExitCode int `json:"exit_code,omitzero"`
}

// The limits of waiting for a process.
const (
	writeWait = time.Second
	mostWait  = 300 * time.Second
)

// processTool returns the tool that looks after what shell started.
func processTool(o Options) *tool.Tool {
	return tool.Must(tool.New(tool.Tool{
		Name: processName, Description: strings.TrimSpace(processText), Toolset: shellToolset, Access: processAccess,
		Types: o.Processes.types,
	}, func(ctx context.Context, call tool.Call, a processArgs) (tool.Result, error) {
		return o.Processes.call(ctx, call, a)
	}))
}

// processAccess keeps the calls on one process in order.
func processAccess(raw stdjson.RawMessage) tool.Access {
	var a processArgs
	switch err := json.Unmarshal(raw, &a); {
	case err != nil:
		return tool.Access{Exclusive: true}
	case a.Action == "list":
		return tool.Access{Reads: []string{"process/"}}
	}
	return tool.Access{Writes: []string{fmt.Sprintf("process/%d", a.ID)}}
}

func (p *Processes) call(ctx context.Context, call tool.Call, a processArgs) (tool.Result, error) {
	if a.Action == "list" {
		return p.list(call.Session), nil
	}
	b, err := p.get(call.Session, a.ID)
	if err != nil {
		return tool.Result{}, err
	}
	wait := min(time.Duration(a.Wait)*time.Millisecond, mostWait)
	switch a.Action {
	case "write":
		if err := p.write(b, a); err != nil {
			return tool.Result{}, err
		}
		if a.Wait <= 0 {
			wait = writeWait
		}
	case "kill":
		ctx, cancel := context.WithTimeout(ctx, endTime)
		defer cancel()
		b.Stop(ctx)
		wait = 0
	}
	return p.poll(ctx, b, wait)
}

func (p *Processes) write(b *background, a processArgs) error {
	if a.Input == "" && !a.EOF {
		return fmt.Errorf("there is nothing to write to process %d: give input, or eof", b.id)
	}
	if err := p.typing(b, a.Input); err != nil {
		return fmt.Errorf("process %d: %w", b.id, err)
	}
	if a.Input != "" {
		if err := b.Write(a.Input); err != nil {
			return fmt.Errorf("process %d (%s): %w", b.id, b.brief(), err)
		}
	}
	if !a.EOF {
		return nil
	}
	if err := b.CloseInput(); err != nil {
		return fmt.Errorf("process %d (%s): %w", b.id, b.brief(), err)
	}
	return nil
}

// types returns what a call types into a process, for whoever approves of it.
func (p *Processes) types(call tool.Call) *tool.Typed {
	var a processArgs
	if json.Unmarshal(call.Args, &a) != nil || a.Action != "write" || isKeys(a.Input) {
		return nil
	}
	b, err := p.get(call.Session, a.ID)
	if err != nil {
		return nil // the call will say so
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return &tool.Typed{Command: b.command, Dir: b.dir, Before: b.input, Text: a.Input, Terminal: b.terminal}
}

// isKeys reports whether input is no text, but only ^C and ^D, or nothing at all.
func isKeys(input string) bool { return strings.Trim(input, "\x03\x04") == "" }

// inputMost bounds what may be written to a process in all, since each input is
// judged with all before it.
const inputMost = 256 << 10

// typing takes input into the books of a process.
func (p *Processes) typing(b *background, input string) error {
	if isKeys(input) {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(b.input)+len(input) > inputMost {
		return fmt.Errorf("nothing was written: it takes at most %d KiB of input in this way; put it into a file that it can read", inputMost>>10)
	}
	b.input += input
	return nil
}

// poll returns what a process printed, and how far it is.
func (p *Processes) poll(ctx context.Context, b *background, wait time.Duration) (tool.Result, error) {
	res := b.Poll(ctx, wait)
	if b.terminal {
		res.Head, res.Tail = screenText(res.Head), screenText(res.Tail)
	}
	details := ProcessDetails{ID: b.id, Command: b.command, Running: true}
	if end, ended := b.Ended(); ended {
		p.tell(b)
		details.Running, details.ExitCode = false, end.ExitCode
	}
	note := fmt.Sprintf("process %d %s", b.id, b.state())
	if res.Head == "" && res.Tail == "" {
		note = "nothing new was printed; " + note
	}
	return tool.Result{
		Text: outputText(res, []string{note}), Details: details, Truncated: res.Dropped > 0, Source: res.Spill,
	}, ctx.Err()
}

// list words all processes of a session.
func (p *Processes) list(session string) tool.Result {
	var out strings.Builder
	for _, b := range p.of(session) {
		fmt.Fprintf(&out, "%d %s: %s\n", b.id, b.state(), b.brief())
		if _, ended := b.Ended(); ended {
			p.tell(b)
		}
	}
	if out.Len() == 0 {
		return tool.Result{Text: "There are no processes in the background."}
	}
	return tool.Result{Text: out.String()}
}

func (b *background) brief() string { return brief(b.command) }

// brief is the beginning of a command, on one line.
func brief(command string) string {
	text := strings.Join(strings.Fields(command), " ")
	if len(text) > 100 {
		text = string(wholeRunes([]byte(text[:100]))) + "…"
	}
	return text
}

// startText begins the result of a shell call that started a process; the process
// id follows. A resumed session knows by it what it had running.
const startText = "Started in the background as process "

// background starts a command and returns at once, or nearly: one that fails at
// once is worth a moment.
func (s *shell) background(ctx context.Context, call tool.Call, a shellArgs, cmd proc.Cmd) (tool.Result, error) {
	var terminal *proc.Terminal
	if a.PTY {
		terminal = &proc.Terminal{Columns: within(a.Columns, 120, 1000), Rows: within(a.Rows, 40, 1000)}
	}
	cmd.Timeout = 0
	if a.Timeout > 0 {
		cmd.Timeout = time.Duration(min(a.Timeout, 1<<20)) * time.Second
	}
	cmd.HeadBytes, cmd.TailBytes = backgroundHead, backgroundTail
	b, err := s.Processes.start(call.Session, cmd, terminal, a.Command)
	if err != nil {
		return tool.Result{}, err
	}
	timer := time.NewTimer(failTime)
	defer timer.Stop()
	select {
	case <-b.Done():
		res, err := s.Processes.poll(ctx, b, 0)
		res.Text = fmt.Sprintf("%s%d.\n%s", startText, b.id, res.Text)
		if end, _ := b.Ended(); end.ExitCode != 0 {
			res.Status = message.StatusError
		}
		return res, err
	case <-timer.C:
	case <-ctx.Done():
	}
	return tool.Result{
		Text:    fmt.Sprintf("%s%d.", startText, b.id),
		Details: ProcessDetails{ID: b.id, Command: a.Command, Running: true},
	}, nil
}

// What is kept of a process's output between two polls, and how long one that
// fails at once is waited for.
const (
	backgroundHead = 20_000
	backgroundTail = 20_000
	failTime       = 100 * time.Millisecond
)

// within returns n if it is from 1 to most, and otherwise what it is by default.
func within(n, byDefault, most int) int {
	if n <= 0 || n > most {
		return byDefault
	}
	return n
}
