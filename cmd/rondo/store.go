package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rondo-engine/rondo/internal/config"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/postgres"
	"github.com/rondo-engine/rondo/store/sqlite"
)

// openSessions opens the user's sessions where the settings say: in a database
// of a server, or else in a file of RONDO_HOME.
func (e *environment) openSessions(ctx context.Context, settings *config.Loaded) (store.Full, error) {
	if settings.Store != "" {
		return openDatabase(ctx, settings)
	}
	home, err := e.home()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, badHome(err)
	}
	s, err := sqlite.Open(ctx, filepath.Join(home, "sessions.db"), sqlite.Options{})
	if err != nil { // no nil of a type is to become a store
		return nil, err
	}
	return s, nil
}

func openDatabase(ctx context.Context, settings *config.Loaded) (store.Full, error) {
	if !postgres.IsURL(settings.Store) { // it may be a URL with a mistake, and hold a password
		return nil, usagef("store (from %s) must be the URL of a PostgreSQL database, as in postgres://USER@HOST/DATABASE, or empty for a file in RONDO_HOME", settings.Source("store"))
	}
	s, err := postgres.Open(ctx, settings.Store, postgres.Options{})
	if err != nil {
		return nil, usage(err)
	}
	return s, nil
}

// sessionStore opens the user's sessions.
func (e *environment) sessionStore(ctx context.Context) (store.Full, error) {
	settings, err := e.load(e.Dir, nil)
	if err != nil {
		return nil, err
	}
	return e.openSessions(ctx, settings)
}

// withStore opens the sessions for f; before there are any it makes none.
func (e *environment) withStore(ctx context.Context, f func(store.Full) error) error {
	settings, err := e.load(e.Dir, nil)
	if err != nil {
		return err
	}
	return e.withSessions(ctx, settings, f)
}

// withSessions is withStore for the store that the settings name.
func (e *environment) withSessions(ctx context.Context, settings *config.Loaded, f func(store.Full) error) (err error) {
	home, err := e.home()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(home, "sessions.db")); settings.Store == "" && errors.Is(err, fs.ErrNotExist) {
		return errNoSessions
	}
	s, err := e.openSessions(ctx, settings)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return f(s)
}

var errNoSessions = usagef("there are no sessions yet: rondo run \"TASK\" makes the first")
