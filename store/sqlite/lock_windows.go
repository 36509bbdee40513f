package sqlite

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// What LockFileEx is told, and how it says that another process was first.
const (
	lockAtOnce  = 1
	lockAlone   = 2
	errLockHeld = syscall.Errno(33)
	// lockAt is the place of the byte that is locked: far behind what the file
	// says of its holder, which others may read.
	lockAt = 1 << 30
)

// lock locks f without waiting, for itself alone or with others. The lock ends
// when f is closed.
func lock(f *os.File, alone bool) error {
	how := uintptr(lockAtOnce)
	if alone {
		how |= lockAlone
	}
	return lockRange(f, how, lockAt, 1)
}

func lockRange(f *os.File, how uintptr, at, length uint32) error {
	lockFileEx := syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")
	o := syscall.Overlapped{Offset: at}
	ok, _, err := lockFileEx.Call(f.Fd(), how, 0, uintptr(length), 0, uintptr(unsafe.Pointer(&o)))
	switch {
	case ok != 0:
		return nil
	case errors.Is(err, errLockHeld):
		return errHeld
	}
	return err
}

// unlock gives up a lock and removes its file, which the system refuses if
// another process has it open by then.
func unlock(f *os.File) error {
	err := f.Close()
	_ = os.Remove(f.Name())
	return err
}

// The bytes of a database that SQLite's locks are on; see its os.h.
const (
	sqliteLocks    = 0x40000000
	sqliteLocksLen = 512
)

// seize locks a database against every process that has it open or wants to,
// until f is closed.
func seize(f *os.File) error {
	err := lockRange(f, lockAtOnce|lockAlone, sqliteLocks, sqliteLocksLen)
	if errors.Is(err, errHeld) {
		return fmt.Errorf("%w: end the process that uses it first", ErrInUse)
	}
	return err
}
