package postgres

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// The codes of errors that have a meaning of their own here; see "PostgreSQL
// Error Codes" in its manual.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	uniqueViolation      = "23505"
	tooManyConnections   = "53300"
	cannotConnectNow     = "57P03"
	undefinedTable       = "42P01"
	// With these the server ends a connection, and what it was doing.
	adminShutdown      = "57P01"
	crashShutdown      = "57P02"
	idleSessionTimeout = "57P05"
)

// lostError says that the connection broke while it was used.
type lostError struct {
	err    error
	passes bool
}

func (e *lostError) Error() string {
	return "the connection broke: " + e.err.Error()
}

func (e *lostError) Unwrap() error { return e.err }

// titleKey is the constraint that two transactions break which choose the same
// free title.
const titleKey = "rondo_sessions_title_key"

// advice says for an error code what happened and what to do.
func advice(code string) string {
	switch code {
	case "28P01":
		return "the server does not accept the password: check the user and the password in the URL, PGPASSWORD or ~/.pgpass"
	case "28000":
		return "the server does not let this user in from here: check the user, the URL's sslmode and the server's pg_hba.conf"
	case "3D000":
		return "the server has no such database: make it with createdb, or correct the URL"
	case "3F000", "42501":
		return "the user may not use or make the tables: let the owner of the database GRANT USAGE, CREATE ON SCHEMA to the user, or name another schema with ?search_path=NAME"
	case tooManyConnections:
		return "the server has no connection left: raise its max_connections, or run fewer processes at a time"
	case cannotConnectNow:
		return "the server starts or stops: try again soon"
	case "53100":
		return "the server's disk is full: nothing of this was saved, make room and try again"
	case "25006":
		return "the server only lets read: name the one that can be written to, or add ?target_session_attrs=read-write"
	}
	return ""
}

// explain adds to an error which store it is about and what to do. Errors that
// are not the database's pass unchanged.
func (s *Store) explain(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		if text := advice(e.Code); text != "" {
			return fmt.Errorf("%s: %s: %w", s.url, text, err)
		}
		return fmt.Errorf("%s: %w", s.url, err)
	}
	if e, ok := errors.AsType[*lostError](err); ok && !e.passes {
		return fmt.Errorf("%s: %w; what was to be written may be there or not: look before doing it again", s.url, err)
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return fmt.Errorf("%s: the server cannot be reached: check that it runs and that host and port are right: %w", s.url, err)
	}
	if _, ok := errors.AsType[*lostError](err); ok {
		return fmt.Errorf("%s: %w", s.url, err)
	}
	if errors.Is(err, ErrNewerSchema) || errors.Is(err, errEncoding) {
		return fmt.Errorf("%s: %w", s.url, err)
	}
	return err
}

// passes reports whether err may be gone when the same is tried again, and
// nothing speaks against it.
func (s *Store) passes(err error) bool {
	if err == nil {
		return false
	}
	if e, ok := errors.AsType[*lostError](err); ok {
		return e.passes
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch e.Code {
		case serializationFailure, deadlockDetected, tooManyConnections, cannotConnectNow,
			adminShutdown, crashShutdown, idleSessionTimeout:
			return true
		case uniqueViolation:
			return e.ConstraintName == titleKey
		}
		return false
	}
	// While the store is opened, a server that does not answer is an error; one
	// that was there is waited for.
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	return s.schema != "" && (connecting || pgconn.SafeToRetry(err))
}
