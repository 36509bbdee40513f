package sqlite

import (
	"errors"
	"fmt"
	"io/fs"

	sqlite "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// errLocked is what a wait ends with when other processes held the file all
// the time.
var errLocked = errors.New("other processes kept writing to the file for all the time that this one was ready to wait; try again, or find the one that does not let go of it")

// advice says for a result code of SQLite what happened and what to do.
var advice = map[int]string{
	sqlite3.SQLITE_CANTOPEN: "the file cannot be opened; check that its directory exists and that you may write in both",
	sqlite3.SQLITE_READONLY: "the file may not be written; check the permissions of the file and its directory",
	sqlite3.SQLITE_PERM:     "the file may not be used; check its permissions",
	sqlite3.SQLITE_NOTADB:   "the file is not a session store, or its head is damaged; move it away or choose another, or try rondo sessions repair",
	sqlite3.SQLITE_CORRUPT:  "the file is damaged; rondo sessions check says how, rondo sessions repair recovers what can be read",
	sqlite3.SQLITE_FULL:     "the disk is full; nothing of this was saved, make room and try again",
	sqlite3.SQLITE_IOERR:    "the disk does not read or write as it should; check that it has room and is sound",
}

// explain adds to an error the file that it is about and what to do. Errors
// that are not the file's pass unchanged.
func explain(path string, err error) error {
	if err == nil {
		return nil
	}
	if text, ok := advice[code(err)]; ok {
		return fmt.Errorf("%s: %s: %w", path, text, err)
	}
	if code(err) != 0 || errors.Is(err, errLocked) || errors.Is(err, ErrNewerSchema) || errors.Is(err, ErrForeign) {
		return fmt.Errorf("%s: %w", path, err)
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w; check the permissions or choose another file", err)
	}
	return err
}

// code returns the primary result code of SQLite in err's chain, or 0.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// isBusy reports whether waiting for other processes may help.
func isBusy(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return true
	}
	return false
}

// IsDamaged reports whether err says that the file is not sound, or none of a
// store: Repair may help.
func IsDamaged(err error) bool {
	return code(err) == sqlite3.SQLITE_CORRUPT || code(err) == sqlite3.SQLITE_NOTADB
}
