//go:build unix

package proc

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// family is a command and the processes that it started.
type family struct {
	leader int
	id     string
	since  uint64   // when the leader began, if that is known
	found  []member // those outside of the group that were sent SIGTERM
	killed []member // those that were ended because they held the output
	left   []member // those that were left running
}

// startInSession starts cmd as the leader of a new session, and so of a new
// process group. It has no terminal but the one that it is given.
func startInSession(cmd *exec.Cmd, w *wiring) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if w.terminal != "" {
		onTerminal(cmd.SysProcAttr)
	}
	if w.background {
		diesWithParent(cmd.SysProcAttr)
	}
	return cmd.Start()
}

// endLeft kills those that were left running.
func (f *family) endLeft() {
	for _, m := range f.left {
		if m.same() {
			_ = syscall.Kill(m.pid, syscall.SIGKILL)
		}
	}
}

// terminate asks all of the family to end.
func (f *family) terminate() {
	f.found = f.strays()
	f.signal(syscall.SIGTERM)
}

// kill ends what is left of the family, with those that it started meanwhile.
func (f *family) kill() {
	f.signal(syscall.SIGKILL)
	for range 3 {
		if f.found = f.strays(); len(f.found) == 0 {
			return
		}
		f.signal(syscall.SIGKILL)
	}
}

func (f *family) signal(sig syscall.Signal) {
	_ = syscall.Kill(-f.leader, sig) // an error says that there is nobody left
	for _, m := range f.found {
		if m.same() {
			_ = syscall.Kill(m.pid, sig)
		}
	}
}

// alive reports whether any of the family is known to live.
func (f *family) alive() bool {
	if f.groupAlive() {
		return true
	}
	for _, m := range f.found {
		if m.same() {
			return true
		}
	}
	return false
}

func (f *family) groupAlive() bool {
	return !errors.Is(syscall.Kill(-f.leader, 0), syscall.ESRCH)
}

// signalName names the signal that ended a process, "" if none did.
func signalName(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}
