package pgtest

import (
	"os/exec"
	"runtime"
)

// run starts cmd and returns what is closed when it has ended. The thread that
// starts it lives as long: a process that is to end with its parent ends with
// the parent's thread.
func run(cmd *exec.Cmd) (<-chan struct{}, error) {
	started, ended := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(ended)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in its log
		}
	}()
	return ended, <-started
}
