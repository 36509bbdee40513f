//go:build unix

package sqlite

import (
	"errors"
	"fmt"
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

// The bytes of a database that SQLite's locks are on; see its os.h.
const (
	sqliteLocks    = 0x40000000
	sqliteLocksLen = 512
)

// seize locks a database against every process that has it open or wants to,
// until a file of it is closed in this process.
func seize(f *os.File) error {
	l := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: 0, Start: sqliteLocks, Len: sqliteLocksLen}
	err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &l)
	if !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EACCES) {
		return err
	}
	l.Type = syscall.F_WRLCK
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &l); err == nil && l.Pid > 0 {
		return fmt.Errorf("%w by process %d: end that first", ErrInUse, l.Pid)
	}
	return fmt.Errorf("%w: end the process that uses it first", ErrInUse)
}
