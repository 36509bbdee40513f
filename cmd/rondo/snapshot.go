package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/snapshot"
)

// snapshotDir is where the snapshots of the user's sessions are.
func (e *environment) snapshotDir() (snapshot.Dir, error) {
	home, err := e.home()
	return snapshot.Dir(filepath.Join(home, "snapshots")), err
}

// keepSnapshots has an agent write snapshots as the settings say.
func (s *setup) keepSnapshots(o *rondo.Options) error {
	dir, err := s.env.snapshotDir()
	o.Snapshots, o.Snapshot = dir, snapshot.Strategy(s.settings.Agent.Snapshot)
	if shared, ok := s.store.(snapshot.Sessions); ok {
		o.Snapshots = snapshot.Shared{Files: dir, Sessions: shared}
	}
	return err
}

func newSnapshotCommand(env *environment) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "snapshot",
		Short: "Save, show and list snapshots of sessions",
		Long: `A snapshot is one JSON file that says where a session stands: its messages, how
far the run is and what of its limits is used up, which calls are open. rondo run
writes them as --snapshot says; with --snapshot manual only rondo snapshot save
does. A session whose messages were lost is resumed from its snapshot.`,
		Example: `  rondo snapshot save last
  rondo snapshot list`,
	})
	c.AddCommand(newSnapshotSave(env), newSnapshotShow(env), newSnapshotList(env))
	return c
}

func newSnapshotSave(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:     "save SESSION",
		Short:   "Write the snapshot of a session",
		Long:    "Write the snapshot of a session that is not in use. The name of the file goes to stdout.",
		Example: "  rondo snapshot save last",
		Args:    argCount(1, 1, "a session"),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := env.snapshotDir()
			if err != nil {
				return err
			}
			return env.withSession(c.Context(), args[0], func(s store.Full, found store.Session) error {
				if err := saveSnapshot(c.Context(), env, s, dir, found.ID); err != nil {
					return err
				}
				fmt.Fprintln(env.Stdout, dir.File(found.ID))
				return nil
			})
		},
	}
}

func saveSnapshot(ctx context.Context, env *environment, s store.Full, dir snapshot.Dir, id string) (err error) {
	unlock, err := s.Lock(ctx, id)
	if err != nil {
		return usage(err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	session, msgs, err := s.Load(ctx, id)
	if err != nil {
		return err
	}
	snap := &snapshot.Snapshot{
		SavedAt: env.Now(), Strategy: snapshot.Manual, Session: snapshot.SessionOf(session),
		Reason: session.EndReason, System: session.System, Messages: msgs,
	}
	history, _, _ := message.NormaliseOpen(msgs)
	for _, call := range history.OpenCalls() {
		snap.OpenCalls = append(snap.OpenCalls, snapshot.OpenCall{ID: call.ID, Name: call.Name})
	}
	old, err := dir.Load(ctx, id)
	switch {
	case err == nil && old.Session.Messages == len(msgs):
		snap.TaskID, snap.Run, snap.Calibration, snap.Todo, snap.Approvals = old.TaskID, old.Run, old.Calibration, old.Todo, old.Approvals
	case err != nil && !errors.Is(err, snapshot.ErrNotFound):
		fmt.Fprintf(env.Stderr, "rondo: the old snapshot is replaced: %v\n", err)
	}
	w := dir.Writer(id)
	return errors.Join(w.Write(ctx, snap), w.Close())
}

func newSnapshotShow(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:     "show SESSION",
		Short:   "Print the snapshot of a session",
		Long:    "Print the snapshot of a session as it is in its file, which need not be in use by the store any more.",
		Example: "  rondo snapshot show last",
		Args:    argCount(1, 1, "a session"),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := env.snapshotDir()
			if err != nil {
				return err
			}
			id := args[0]
			if _, err := os.Stat(dir.File(id)); err != nil {
				err := env.withSession(c.Context(), id, func(_ store.Full, found store.Session) error {
					id = found.ID
					return nil
				})
				if err != nil {
					return err
				}
			}
			if _, err := dir.Load(c.Context(), id); errors.Is(err, snapshot.ErrNotFound) {
				return usagef("session %s has no snapshot: rondo snapshot save %s writes one", id, id)
			} else if err != nil {
				return err
			}
			text, err := os.ReadFile(dir.File(id))
			if err != nil {
				return err
			}
			_, err = env.Stdout.Write(text)
			return err
		},
	}
}

func newSnapshotList(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List snapshots, the newest session first",
		Long:    "List the snapshots that there are: when each was written, how many messages it holds, how its run ended.",
		Example: "  rondo snapshot list",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := env.snapshotDir()
			if err != nil {
				return err
			}
			ids, err := dir.List()
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "ID\twritten\tmessages\tend\tstrategy\ttitle")
			for _, id := range ids {
				s, err := dir.Load(c.Context(), id)
				if err != nil {
					fmt.Fprintf(w, "%s\t-\t-\t%v\t-\t\n", id, err)
					continue
				}
				end := s.Reason
				if end == "" {
					end = "-"
				}
				fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\n", id, s.SavedAt.Local().Format(time.DateTime), len(s.Messages), end, s.Strategy, oneLine(s.Session.Title))
			}
			return w.Flush()
		},
	}
}
