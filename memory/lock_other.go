//go:build !unix

package memory

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// A lock file that is this old was left behind by a process that was killed.
const (
	lockLife = 10 * time.Second
	lockPoll = 20 * time.Millisecond
)

// lock waits until it can make the lock file at path.
func lock(path string) (unlock func(), err error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err == nil {
			return func() { f.Close(); os.Remove(path) }, nil
		}
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > lockLife {
			os.Remove(path)
		}
		time.Sleep(lockPoll)
	}
}
