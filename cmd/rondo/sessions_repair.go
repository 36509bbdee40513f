package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/snapshot"
	"github.com/rondo-engine/rondo/store/sqlite"
)

// statusAmiss is the exit status of a check that found something.
const statusAmiss = 4

func newSessionsCheck(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Check that all sessions are whole",
		Long: `Look through all that is kept of sessions: the pages of the file, every message,
the index of texts, which session continues which, the journal of tool calls, the
snapshots. What is amiss is printed, a line each; nothing is changed.

Exit status: 0 all is whole; 4 something is amiss.`,
		Example: "  rondo sessions check",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			report, err := env.checkSessions(c.Context())
			if err != nil {
				return err
			}
			for _, p := range report.Problems {
				fmt.Fprintln(env.Stdout, p)
			}
			if n := len(report.Problems); n > 0 {
				return &statusError{status: statusAmiss, err: fmt.Errorf("%s amiss: rondo sessions repair mends what can be mended", counted(n, "thing"))}
			}
			fmt.Fprintf(env.Stdout, "whole: %s with %s\n", counted(report.Sessions, "session"), counted(report.Messages, "message"))
			return nil
		},
	}
}

// checkSessions checks the store and the snapshots. A store that cannot be
// opened is a problem like others, if its file is to blame.
func (e *environment) checkSessions(ctx context.Context) (r store.Report, err error) {
	dir, err := e.snapshotDir()
	if err != nil {
		return r, err
	}
	err = e.withStore(ctx, func(s store.Full) error {
		checker, ok := s.(store.Checker)
		if !ok {
			return usagef("the sessions are kept in a store that checks itself: ask those who run it")
		}
		if r, err = checker.Check(ctx); err != nil {
			return err
		}
		if _, shared := s.(store.Stater); shared { // another machine may have deleted what has a snapshot here
			return nil
		}
		found, err := checkSnapshots(ctx, dir, s)
		r.Problems = append(r.Problems, found...)
		return err
	})
	switch {
	case errors.Is(err, errNoSessions):
		ids, listErr := dir.List()
		if listErr != nil || len(ids) == 0 {
			return r, errors.Join(err, listErr)
		}
		r.Problems = append(r.Problems, store.Problem{Area: store.AreaFile, Text: fmt.Sprintf("the file of the sessions is gone; there are %d snapshots", len(ids))})
	case sqlite.IsDamaged(err):
		r.Problems = append(r.Problems, store.Problem{Area: store.AreaFile, Text: err.Error()})
	case err != nil:
		return r, err
	}
	return r, nil
}

// checkSnapshots compares the snapshots with the sessions. Messages are saved in
// the store first: a snapshot that knows more says that the store lost some.
func checkSnapshots(ctx context.Context, dir snapshot.Dir, s store.Store) (found []store.Problem, err error) {
	ids, err := dir.List()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		tell := func(format string, args ...any) {
			found = append(found, store.Problem{Area: store.AreaSnapshot, Session: id, Text: fmt.Sprintf(format, args...)})
		}
		snap, err := dir.Load(ctx, id)
		switch {
		case errors.Is(err, snapshot.ErrNotFound), errors.Is(err, snapshot.ErrNewer):
			continue
		case err != nil:
			tell("its snapshot cannot be read: %v", err)
			continue
		}
		_, msgs, err := s.Load(ctx, id)
		if _, damaged := errors.AsType[*store.DamagedError](err); damaged {
			continue // told by the store
		}
		switch {
		case errors.Is(err, store.ErrNotFound):
			tell("there is a snapshot of %s, and no session", counted(len(snap.Messages), "message"))
		case err != nil:
			return found, err
		case len(snap.Messages) > len(msgs):
			tell("its snapshot has %s, the session %d", counted(len(snap.Messages), "message"), len(msgs))
		case !sameMessages(snap.Messages, msgs[:len(snap.Messages)]):
			tell("its snapshot tells of other messages than the session has")
		}
	}
	return found, nil
}

func sameMessages(a, b []*message.Message) bool {
	for i := range a {
		if a[i].ID != b[i].ID {
			return false
		}
	}
	return true
}

func newSessionsRepair(env *environment) *cobra.Command {
	force := false
	c := &cobra.Command{
		Use:   "repair",
		Short: "Recover what can be read of damaged sessions",
		Long: `Recover all that can be read of a damaged store of sessions into a new file, which
takes the place of the old one. A copy of that is kept, and named. Messages that
are lost are taken from the snapshots as far as those have them; the index of
texts is made anew. What could not be recovered is told, session by session. No
other rondo may run meanwhile. Without damage nothing is done, unless --force is
given.`,
		Example: "  rondo sessions repair",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			settings, err := env.load(env.Dir, nil)
			if err != nil {
				return err
			}
			if settings.Store != "" {
				return usagef("the sessions are in a database (store, from %s), which its server keeps whole: rondo sessions check looks at them; restore the database from a backup if they are damaged", settings.Source("store"))
			}
			report, err := env.checkSessions(c.Context())
			if err != nil {
				return err
			}
			if len(report.Problems) == 0 && !force {
				fmt.Fprintf(env.Stdout, "nothing to repair: %s with %s\n", counted(report.Sessions, "session"), counted(report.Messages, "message"))
				return nil
			}
			for _, p := range report.Problems {
				fmt.Fprintf(env.Stdout, "found: %s\n", p)
			}
			return env.repairSessions(c.Context())
		},
	}
	c.Flags().BoolVar(&force, "force", false, "make a new file even if nothing is amiss")
	return c
}

// repairSessions makes a new file of what can be read, then sessions of the
// snapshots that have none.
func (e *environment) repairSessions(ctx context.Context) error {
	home, err := e.home()
	if err != nil {
		return err
	}
	dir, err := e.snapshotDir()
	if err != nil {
		return err
	}
	file := filepath.Join(home, "sessions.db")
	r, err := sqlite.Repair(ctx, file, sqlite.RepairOptions{Now: e.Now, Spare: func(id string) []*message.Message {
		snap, err := dir.Load(ctx, id)
		if err != nil {
			return nil // told by setAside
		}
		return snap.Messages
	}})
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, sqlite.ErrNothingReadable):
		if err := e.makeWay(dir, file, err); err != nil {
			return err
		}
	case errors.Is(err, sqlite.ErrInUse):
		return usage(err)
	case err != nil:
		return err
	default:
		e.tellRepaired(r)
	}
	return e.restoreSnapshots(ctx, dir)
}

func (e *environment) tellRepaired(r sqlite.Repaired) {
	fmt.Fprintf(e.Stdout, "kept: the file as it was, as %s\n", r.Backup)
	fmt.Fprintf(e.Stdout, "recovered: %s with %s, %d of them from snapshots\n", counted(r.Sessions, "session"), counted(r.Messages, "message"), r.Filled)
	for _, text := range r.Lost {
		fmt.Fprintf(e.Stdout, "lost: %s\n", text)
	}
	for _, text := range r.Remarks {
		fmt.Fprintf(e.Stdout, "note: %s\n", text)
	}
}

// makeWay moves a file aside in which nothing can be read, if there are
// snapshots to begin a new one with; said is what is told otherwise.
func (e *environment) makeWay(dir snapshot.Dir, file string, said error) error {
	if ids, err := dir.List(); err != nil || len(ids) == 0 {
		return usage(errors.Join(said, err))
	}
	aside := file + ".damaged-" + e.Now().UTC().Format("20060102-150405.000")
	if err := os.Rename(file, aside); err != nil {
		return err
	}
	if err := os.Rename(file+"-wal", aside+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fmt.Fprintf(e.Stdout, "kept: the file, in which nothing can be read, as %s\n", aside)
	return nil
}

// restoreSnapshots makes sessions of the snapshots that have none, and moves
// those aside that cannot be read.
func (e *environment) restoreSnapshots(ctx context.Context, dir snapshot.Dir) (err error) {
	ids, err := dir.List()
	if err != nil {
		return err
	}
	s, err := e.sessionStore(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, id := range ids {
		snap, err := dir.Load(ctx, id)
		if errors.Is(err, snapshot.ErrNewer) {
			continue
		}
		if err != nil {
			if renameErr := os.Rename(dir.File(id), dir.File(id)+".damaged"); renameErr != nil {
				return errors.Join(err, renameErr)
			}
			fmt.Fprintf(e.Stdout, "kept: the snapshot of session %s, which cannot be read, as %s.damaged\n", id, dir.File(id))
			continue
		}
		if err := e.restoreSnapshot(ctx, s, snap); err != nil {
			return fmt.Errorf("session %s: %w", id, err)
		}
	}
	return nil
}

// restoreSnapshot makes a session of a snapshot, unless there is one. The
// journal knows nothing of the calls in it, which is noted before they are there.
func (e *environment) restoreSnapshot(ctx context.Context, s store.Full, snap *snapshot.Snapshot) error {
	err := s.Create(ctx, snap.Stored())
	if errors.Is(err, store.ErrExists) {
		return nil
	}
	if err != nil {
		return err
	}
	body, err := json.Marshal(store.Unjournalled{Messages: len(snap.Messages)})
	if err != nil {
		return err
	}
	notes := append(snap.Notes, store.Note{Time: e.Now(), Kind: store.NoteUnjournalled, Body: body})
	if err := s.Note(ctx, snap.Session.ID, notes...); err != nil {
		return err
	}
	if err := s.Append(ctx, snap.Session.ID, snap.Messages, store.Update{EndReason: snap.Reason}); err != nil {
		return err
	}
	fmt.Fprintf(e.Stdout, "recovered: session %s with %s, from its snapshot\n", snap.Session.ID, counted(len(snap.Messages), "message"))
	return nil
}
