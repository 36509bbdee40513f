//go:build unix

package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// lock locks f without waiting, for itself alone or with others. The lock ends
// when f is closed.
func lock(f *os.File, alone bool) error {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errHeld
		case !errors.Is(err, syscall.EINTR):
			return err
		}
	}
}

// unlock gives up a lock and removes its file, while nobody else can have it.
func unlock(f *os.File) error { return errors.Join(os.Remove(f.Name()), f.Close()) }
