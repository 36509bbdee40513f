package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// environment is all that the program takes from its surroundings. It is
// filled once and passed down; nothing below main asks the process for more.
type environment struct {
	// Args are the command line's words after the program's name.
	Args []string
	// Getenv returns an environment variable, "" when it is not set.
	Getenv func(name string) string
	// Dir is the current directory, absolute.
	Dir            string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Now            func() time.Time
	// Random is where ids come from.
	Random io.Reader
	// Processors are those of the process; nil leaves them as they are.
	Processors *processors
}

// path makes a file name from the command line absolute.
func (e *environment) path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(e.Dir, name)
}

// home returns the directory that holds all state: $RONDO_HOME, by default
// .rondo in the user's home.
func (e *environment) home() (string, error) {
	if h := e.Getenv("RONDO_HOME"); h != "" {
		return e.path(h), nil
	}
	user := cmp.Or(e.Getenv("HOME"), e.Getenv("USERPROFILE"))
	if user == "" {
		return "", usagef("neither RONDO_HOME nor HOME is set: set RONDO_HOME to a directory that rondo may keep its state in")
	}
	return filepath.Join(user, ".rondo"), nil
}

// checkHome refuses a home that cannot be one; it need not be there yet.
func checkHome(home string) error {
	info, err := os.Stat(home)
	switch {
	case err == nil && !info.IsDir():
		return badHome(fmt.Errorf("%s is not a directory", home))
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return badHome(err)
}

// badHome says what to do about a home that cannot be used because of err.
func badHome(err error) error {
	return usagef("the directory that rondo keeps its state in cannot be used: %w: set RONDO_HOME to one that can be written", err)
}

// The exit statuses that do not depend on how a run ended.
const (
	statusInternal = 1
	statusUsage    = 2
)

// statusError ends the program with a status of its own. A nil err says that
// all there is to say was said.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *statusError) Unwrap() error { return e.err }

// usagef makes an error for wrong usage or configuration.
func usagef(format string, a ...any) error {
	return &statusError{status: statusUsage, err: fmt.Errorf(format, a...)}
}

// usage marks err as wrong usage or configuration.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &statusError{status: statusUsage, err: err}
}

// fail tells err on stderr and returns the exit status for it.
func (e *environment) fail(err error) int {
	status, quiet := statusInternal, false
	if se, ok := errors.AsType[*statusError](err); ok {
		status, quiet = se.status, se.err == nil
	}
	if !quiet {
		fmt.Fprintf(e.Stderr, "rondo: %s\n", strings.TrimRight(err.Error(), "\n"))
	}
	return status
}
