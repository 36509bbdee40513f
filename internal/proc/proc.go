// Package proc runs commands for tools so that nothing of them is left behind:
// in a session of their own without a terminal, with bounded memory whatever
// they print, and with everything they started ended when they are stopped.
//
// A command that ends by itself may leave processes behind on purpose, such as
// a server that was started in the background. Those that took their output
// elsewhere (nohup server >log 2>&1 &) are left running and reported. Those
// that still hold the command's output would make its reader wait for ever and
// die at their next write when it stops; they are ended and reported.
//
// A command that is cancelled or whose time is up is ended with all its
// descendants: its process group, its session, the processes found below it, and
// those that moved to another session but still carry the RONDO_CALL_ID variable
// that every command gets. A process that does both, move to another session and
// clear its environment, after its parent has ended, escapes. Only Linux lets
// other than the process group be found.
package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// Cmd is a command to run.
type Cmd struct {
	// Argv is the program and its arguments; a program without a slash is
	// looked up in PATH.
	Argv []string
	// Dir is where it runs; the current directory when empty.
	Dir string
	// Env is its environment. nil stands for Environ(os.Environ()).
	Env []string
	// Stdin is what it reads; nil is empty. Stderr, if not nil, takes its
	// standard error in place of the Result.
	Stdin, Stderr *os.File
	// ID marks the command and its children; it is RONDO_CALL_ID in their
	// environment. It must be unique among the commands that run.
	ID string
	// Timeout ends the command; 0 for none.
	Timeout time.Duration
	// Grace is how long it may live after SIGTERM, 50 ms by default.
	Grace time.Duration
	// HeadBytes and TailBytes are how much of the output is kept from its
	// beginning and its end, 33,000 and 14,000 by default.
	HeadBytes, TailBytes int
	// Spill is a file that the whole output is saved to once it is more than
	// is kept, up to SpillBytes, 64 MiB by default. Empty saves nothing.
	Spill      string
	SpillBytes int64
}

// Result is how a command ended and what it printed.
type Result struct {
	// Head and Tail are what is kept of the standard output and error, in
	// the order in which they arrived. Tail follows Head directly where
	// Dropped is 0.
	Head, Tail string
	// Dropped is how many bytes are missing between the two.
	Dropped int64
	// Spill is the file that has the whole, "" if there is none; SpillCut
	// says that it has only the first SpillBytes. SpillErr is why saving
	// failed.
	Spill    string
	SpillCut bool
	SpillErr error
	// ExitCode is the exit status, -1 if the command did not exit by itself.
	ExitCode int
	// Signal names the signal that ended it, if one did.
	Signal string
	// TimedOut and Cancelled say why the command was ended.
	TimedOut, Cancelled bool
	// Left are the processes in the background that were left running, Ended
	// the number of those that were ended because they held the output.
	Left  []int
	Ended int
	// Duration is how long it ran.
	Duration time.Duration
}

// The drain bounds how long output is waited for that processes in the
// background may still write: until there was none for drainIdle, at most
// drainMax.
const (
	drainIdle = 100 * time.Millisecond
	drainMax  = 300 * time.Millisecond
)

// exitTime is what a process that has closed its output gets to be gone before it
// counts as left running.
const exitTime = 5 * time.Millisecond

// killWait bounds how long a command is waited for after SIGKILL. A process in
// an uninterruptible system call does not end any sooner.
const killWait = 100 * time.Millisecond

func (c Cmd) withDefaults() Cmd {
	if c.Env == nil {
		c.Env = Environ(os.Environ())
	}
	if c.Grace <= 0 {
		c.Grace = 50 * time.Millisecond
	}
	if c.HeadBytes <= 0 {
		c.HeadBytes = 33_000
	}
	if c.TailBytes <= 0 {
		c.TailBytes = 14_000
	}
	if c.SpillBytes <= 0 {
		c.SpillBytes = 64 << 20
	}
	return c
}

// Run runs c until it ends, its time is up or ctx ends. It waits for the command
// itself and not for what that leaves in the background. The error says why the
// command could not be started; how it ended is in the Result.
func Run(ctx context.Context, c Cmd) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	if len(c.Argv) == 0 {
		return Result{}, errors.New("run command: no program is named")
	}
	c = c.withDefaults()
	p, err := start(c)
	if err != nil {
		return Result{}, fmt.Errorf("run %s: %w", c.Argv[0], err)
	}
	res := p.wait(ctx, c)
	p.gather(&res)
	res.Duration = time.Since(p.begun)
	return res, nil
}

// process is a running command.
type process struct {
	cmd    *exec.Cmd
	family family
	begun  time.Time
	exited chan struct{}
	pipe   *os.File // that its output comes from
	// terminal names the terminal that it runs in; empty for none.
	terminal string
	out      sink
	read     chan struct{} // closed when nothing more is read from pipe
}

// sink takes what a command prints. size may be called while readFrom runs.
type sink interface {
	readFrom(r io.Reader)
	size() int64
	finish(res *Result)
}

func start(c Cmd) (*process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	lines := &wiring{from: r, out: w, errs: w, in: c.Stdin}
	if c.Stderr != nil {
		lines.errs = c.Stderr
	}
	lines.own = []*os.File{w}
	return launch(c, lines, newOutput(c))
}

// launch starts a command with its input and output connected, and has what it
// prints read into out.
func launch(c Cmd, w *wiring, out sink) (*process, error) {
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	cmd.Dir = c.Dir
	cmd.Env = append(c.Env[:len(c.Env):len(c.Env)], callID+"="+c.ID)
	cmd.Stdout, cmd.Stderr = w.out, w.errs
	if w.in != nil {
		cmd.Stdin = w.in
	}
	err := startInSession(cmd, w)
	for _, f := range w.own {
		_ = f.Close() // the command has its own
	}
	if err != nil {
		_ = w.from.Close()
		return nil, err
	}
	p := &process{
		cmd: cmd, family: family{leader: cmd.Process.Pid, id: c.ID}, begun: time.Now(),
		exited: make(chan struct{}), pipe: w.from, terminal: w.terminal, out: out, read: make(chan struct{}),
	}
	p.family.identify()
	go func() {
		defer close(p.exited)
		_ = cmd.Wait() // how it ended is in cmd.ProcessState
	}()
	go func() {
		defer close(p.read)
		out.readFrom(w.from)
	}()
	return p, nil
}

// wait waits for the command to end, or ends it.
func (p *process) wait(ctx context.Context, c Cmd) Result {
	res := Result{ExitCode: -1}
	var timeout <-chan time.Time
	if c.Timeout > 0 {
		timer := time.NewTimer(c.Timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-p.exited:
	case <-ctx.Done():
		res.Cancelled = true
		p.stop(c.Grace)
	case <-timeout:
		res.TimedOut = true
		p.stop(c.Grace)
	}
	select {
	case <-p.exited:
		res.ExitCode = p.cmd.ProcessState.ExitCode()
		res.Signal = signalName(p.cmd.ProcessState)
	default:
	}
	return res
}

// stop ends the command and its descendants, politely first.
func (p *process) stop(grace time.Duration) {
	p.family.terminate()
	for deadline := time.Now().Add(grace); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if !p.family.alive() {
			break
		}
	}
	p.family.kill()
	select {
	case <-p.exited:
	case <-time.After(killWait):
	}
}

// gather takes what output is still to come and looks after what is left in the
// background.
func (p *process) gather(res *Result) {
	stopped := res.Cancelled || res.TimedOut
	whole := p.drain()
	if !stopped && !whole {
		res.Ended = p.family.killHolders(p.pipe, p.terminal)
		_ = p.pipe.SetReadDeadline(time.Now().Add(drainIdle))
		<-p.read
	}
	_ = p.pipe.Close()
	<-p.read
	p.out.finish(res)
	if stopped {
		return
	}
	if res.Left = p.family.rest(); len(res.Left) > 0 {
		time.Sleep(exitTime)
		res.Left = p.family.rest()
	}
}

// drain reads until the end of the output, and reports whether it came to it.
func (p *process) drain() bool {
	over := time.Now().Add(drainMax)
	for seen := p.out.size(); ; {
		select {
		case <-p.read:
			return true
		case <-time.After(min(drainIdle, time.Until(over))):
		}
		if n := p.out.size(); n == seen || !time.Now().Before(over) {
			return false
		} else {
			seen = n
		}
	}
}
