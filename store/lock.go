package store

import (
	"context"
	"fmt"
	"time"
)

// Locker is a Store that lets one process at a time use a session.
type Locker interface {
	// Lock claims session id, which need not exist. It does not wait: the
	// error is a *LockedError if the session is in use, also by this process.
	// The claim ends with unlock, or with the process.
	Lock(ctx context.Context, id string) (unlock func() error, err error)
	// Holder returns who uses session id; ok is false if nobody does.
	Holder(ctx context.Context, id string) (h Holder, ok bool, err error)
}

// Holder is a process that uses a session. What is not known is zero.
type Holder struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

// LockedError says that a session is in use.
type LockedError struct {
	Session string
	Holder  Holder
}

// Error says who uses the session.
func (e *LockedError) Error() string {
	h := e.Holder
	if h.PID == 0 {
		return fmt.Sprintf("session %s is in use by another process: wait for its end, or stop it", e.Session)
	}
	return fmt.Sprintf("session %s is in use by process %d on %s since %s: wait for its end, or stop it",
		e.Session, h.PID, h.Host, h.Since.Local().Format(time.DateTime))
}
