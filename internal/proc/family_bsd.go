//go:build unix && !linux

package proc

import (
	"os"
	"syscall"
)

// member is a process outside of the command's group; none are found here.
type member struct{ pid int }

func (member) same() bool { return false }

// identify does nothing: the group's id is all that is used here.
func (*family) identify() {}

func (f *family) strays() []member { return nil }

// rest returns the command's group as one id if any of it lives.
func (f *family) rest() []int {
	if len(f.killed) == 0 && f.groupAlive() {
		return []int{f.leader}
	}
	return nil
}

// killHolders ends the whole group: which of it holds the output is not known.
func (f *family) killHolders(*os.File, string) int {
	if syscall.Kill(-f.leader, syscall.SIGKILL) != nil {
		return 0
	}
	f.killed = []member{{pid: f.leader}}
	return 1
}
