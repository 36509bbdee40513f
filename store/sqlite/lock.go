package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/rondo-engine/rondo/store"
)

var _ store.Locker = (*Store)(nil)

// lockFile is the file of the lock on session id, in the directory locks beside
// the store's file. The lock is the system's, on the open file: it ends with the
// process, and what the file says is for people.
func (s *Store) lockFile(id string) string {
	return filepath.Join(filepath.Dir(s.path), "locks", "session-"+url.PathEscape(id))
}

// Lock implements store.Locker.
func (s *Store) Lock(ctx context.Context, id string) (func() error, error) {
	name := s.lockFile(id)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := openLock(name)
		if err != nil {
			return nil, fmt.Errorf("lock session %s: %w", id, err)
		}
		err = lock(f, true)
		if errors.Is(err, errHeld) {
			err = &store.LockedError{Session: id, Holder: readHolder(f)}
			return nil, errors.Join(err, f.Close())
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("lock session %s: %w", id, err), f.Close())
		}
		if !isFile(f, name) { // its holder removed it meanwhile
			if err := f.Close(); err != nil {
				return nil, err
			}
			continue
		}
		if err := s.writeHolder(f); err != nil {
			return nil, errors.Join(fmt.Errorf("lock session %s: %w", id, err), f.Close())
		}
		return func() error { return unlock(f) }, nil
	}
}

// Holder implements store.Locker.
func (s *Store) Holder(_ context.Context, id string) (h store.Holder, held bool, err error) {
	f, err := os.Open(s.lockFile(id))
	if errors.Is(err, fs.ErrNotExist) {
		return h, false, nil
	}
	if err != nil {
		return h, false, err
	}
	err = lock(f, false)
	if errors.Is(err, errHeld) {
		return readHolder(f), true, f.Close()
	}
	return h, false, errors.Join(err, f.Close())
}

// errHeld says that another process has a lock.
var errHeld = errors.New("another process has the lock")

func openLock(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return nil, err
		}
		f, err = os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	}
	return f, err
}

// isFile reports whether f is what stands under name.
func isFile(f *os.File, name string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(name)
	return err == nil && os.SameFile(mine, there)
}

func (s *Store) writeHolder(f *os.File) error {
	host, _ := os.Hostname() // a lock without it is still one
	text, err := json.Marshal(store.Holder{PID: os.Getpid(), Host: host, Since: s.o.Now()})
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(append(text, '\n'), 0)
	}
	return err
}

// readHolder reads who holds a lock; zero if that is being written.
func readHolder(f *os.File) (h store.Holder) {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<12))
	if err != nil || json.Unmarshal(text, &h) != nil {
		return store.Holder{}
	}
	return h
}
