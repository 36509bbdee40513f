package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Terminal is the size of a terminal that a command is given.
type Terminal struct{ Columns, Rows int }

// Background is a command that runs beside its caller: what it prints is taken
// from time to time, and it can be written to. It is ended by Stop, or else by the
// end of the program where the system can do that (Linux, for the command itself;
// its children then see their terminal or pipes end). Its methods are safe for
// concurrent use.
type Background struct {
	p      *process
	feed   *feed
	input  *os.File
	cancel context.CancelFunc
	done   chan struct{}
	res    Result // once done is closed
}

// Start starts a command in the background. Its input stays open until CloseInput;
// Cmd.Stdin and Cmd.Stderr are not used. With a Terminal it runs in one: that takes
// its input, and what it prints has the terminal's escapes in it. Cmd.Timeout ends
// it, too; HeadBytes and TailBytes bound what is kept between two calls of Poll.
func Start(c Cmd, terminal *Terminal) (*Background, error) {
	if len(c.Argv) == 0 {
		return nil, errors.New("run command: no program is named")
	}
	c = c.withDefaults()
	w, err := wire(terminal)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", c.Argv[0], err)
	}
	b := &Background{feed: newFeed(c), input: w.toInput, done: make(chan struct{})}
	b.p, err = launch(c, w, b.feed)
	if err != nil {
		_ = w.toInput.Close()
		return nil, fmt.Errorf("run %s: %w", c.Argv[0], err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	go func() {
		defer close(b.done)
		defer cancel()
		res := b.p.wait(ctx, c)
		b.p.linger(ctx, c, &res)
		b.p.gather(&res)
		res.Duration = time.Since(b.p.begun)
		_ = b.input.Close() // of a terminal it is closed already
		b.res = res
	}()
	return b, nil
}

// linger waits for those that the command left with its output, such as a server
// that it started with &: as long as they have it, it is not over.
func (p *process) linger(ctx context.Context, c Cmd, res *Result) {
	if res.Cancelled || res.TimedOut {
		return
	}
	var timeout <-chan time.Time
	if c.Timeout > 0 {
		timer := time.NewTimer(time.Until(p.begun.Add(c.Timeout)))
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-p.read:
		return
	case <-ctx.Done():
		res.Cancelled = true
	case <-timeout:
		res.TimedOut = true
	}
	p.stop(c.Grace)
}

// Begun is when it was started.
func (b *Background) Begun() time.Time { return b.p.begun }

// Done is closed when the command has ended, nobody has its output any more, and
// all that was printed is read.
func (b *Background) Done() <-chan struct{} { return b.done }

// Ended reports how the command ended, if it has. The Result has no output.
func (b *Background) Ended() (Result, bool) {
	select {
	case <-b.done:
		return b.res, true
	default:
		return Result{}, false
	}
}

// settle is how long output must pause to be taken for whole.
const settle = 100 * time.Millisecond

// Poll returns what was printed since the last call, in the Head, Tail, Dropped and
// Spill of a Result. If that is nothing it waits for output or the end, at most so
// long; output that comes is given a moment to be whole.
func (b *Background) Poll(ctx context.Context, wait time.Duration) Result {
	if wait > 0 {
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		b.await(ctx)
	}
	_, ended := b.Ended()
	return b.feed.take(ended)
}

// await waits for output that pauses, or for the end.
func (b *Background) await(ctx context.Context) {
	var pause <-chan time.Time
	if b.feed.waiting() {
		pause = time.After(settle)
	}
	for {
		select {
		case <-b.done:
			return
		case <-ctx.Done():
			return
		case <-pause:
			return
		case <-b.feed.grown:
			if b.feed.waiting() {
				pause = time.After(settle)
			}
		}
	}
}

// writeTime bounds how long a command may take to read what is written to it.
const writeTime = 5 * time.Second

// Write writes to the command's input. The error says how much was taken, if the
// command does not read.
func (b *Background) Write(text string) error {
	if _, ended := b.Ended(); ended {
		return errors.New("the process has ended")
	}
	if err := b.input.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return fmt.Errorf("write to the process: %w", err)
	}
	n, err := b.input.WriteString(text)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("the process does not read its input: it took %d of %d bytes", n, len(text))
	case errors.Is(err, os.ErrClosed), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.EIO):
		return errors.New("the process's input is closed")
	}
	return fmt.Errorf("write to the process: %w", err)
}

// CloseInput ends the command's input; in a terminal it types the character for
// that (^D).
func (b *Background) CloseInput() error {
	if b.p.terminal != "" {
		return b.Write("\x04")
	}
	if err := b.input.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("close the process's input: %w", err)
	}
	return nil
}

// Stop ends the command with all that it has started, and what it left running if
// it has ended. It returns when that is done, or ctx ends.
func (b *Background) Stop(ctx context.Context) {
	b.cancel()
	select {
	case <-b.done:
		b.p.family.endLeft()
	case <-ctx.Done():
	}
}
