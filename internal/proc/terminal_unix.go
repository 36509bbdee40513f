//go:build linux || darwin

package proc

import (
	"fmt"
	"os"
	"syscall"

	"github.com/creack/pty"
)

// openTerminal opens a pseudo-terminal: what its user sees, and what programs take
// for their terminal.
func openTerminal(size Terminal) (user, program *os.File, err error) {
	master, program, err := pty.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("open a terminal: %w", err)
	}
	defer master.Close()
	if err = pty.Setsize(master, &pty.Winsize{Rows: uint16(size.Rows), Cols: uint16(size.Columns)}); err == nil {
		user, err = pollable(master)
	}
	if err != nil {
		_ = program.Close()
		return nil, nil, fmt.Errorf("open a terminal: %w", err)
	}
	return user, program, nil
}

// pollable returns f as a file whose reads end when it is closed and that knows
// deadlines: asking for its number has made f one that blocks.
func pollable(f *os.File) (*os.File, error) {
	syscall.ForkLock.RLock()
	fd, err := syscall.Dup(int(f.Fd()))
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, err
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		_ = syscall.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// onTerminal makes the terminal that a command has as its input the one of its
// session.
func onTerminal(attr *syscall.SysProcAttr) { attr.Setctty, attr.Ctty = true, 0 }
