//go:build !linux && !darwin

package proc

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// openTerminal refuses.
func openTerminal(Terminal) (user, program *os.File, err error) {
	return nil, nil, fmt.Errorf("commands cannot be given a terminal on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func onTerminal(*syscall.SysProcAttr) {}
