//go:build !unix

package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
)

// family is a command and the processes that it started.
type family struct {
	leader int
	id     string
}

// startInSession refuses: a command that cannot be ended with its children is
// not started.
func startInSession(*exec.Cmd, *wiring) error {
	return fmt.Errorf("commands cannot be run on %s yet: %w", runtime.GOOS, errors.ErrUnsupported)
}

func (*family) identify()                        {}
func (*family) terminate()                       {}
func (*family) kill()                            {}
func (*family) endLeft()                         {}
func (*family) alive() bool                      { return false }
func (*family) rest() []int                      { return nil }
func (*family) killHolders(*os.File, string) int { return 0 }

func signalName(*os.ProcessState) string { return "" }
