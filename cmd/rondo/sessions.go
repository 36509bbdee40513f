package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

func newSessionsCommand(env *environment) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "sessions",
		Short: "List, show, search and change sessions",
		Long: `A session is a conversation with all that was said in it. It is named by its ID,
by the beginning of one, by its title, or as "last", the one used last here.`,
		Example: `  rondo sessions list
  rondo sessions search "flaky test"
  rondo sessions show last`,
	})
	c.AddCommand(
		newSessionsList(env), newSessionsShow(env), newSessionsSearch(env),
		newSessionsRename(env), newSessionsExport(env), newSessionsImport(env),
		newSessionsDelete(env), newSessionsPrune(env), newSessionsCheck(env), newSessionsRepair(env),
		newSessionsPin(env, true), newSessionsPin(env, false),
	)
	return c
}

// withSession finds the session that ref names for f.
func (e *environment) withSession(ctx context.Context, ref string, f func(store.Full, store.Session) error) error {
	return e.withStore(ctx, func(s store.Full) error {
		found, err := s.Find(ctx, ref, lastIn(ref, e.Dir))
		if errors.Is(err, store.ErrNotFound) && ref == "last" {
			found, err = s.Find(ctx, ref, "")
		}
		if err != nil {
			return sessionError(ref, err)
		}
		return f(s, found)
	})
}

// lastIn restricts only "last" to a workspace.
func lastIn(ref, dir string) string {
	if ref == "last" {
		return dir
	}
	return ""
}

// sessionError says what to do about a reference that finds no session.
func sessionError(ref string, err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return usagef("no session %q: rondo sessions list shows them", ref)
	}
	if _, ok := errors.AsType[*store.AmbiguousError](err); ok {
		return usagef("%w; name one by its whole ID", err)
	}
	return err
}

func newSessionsList(env *environment) *cobra.Command {
	limit, here := 20, false
	c := &cobra.Command{
		Use:     "list",
		Short:   "List sessions, the one used last first",
		Long:    "List sessions with their size, model and title, the one used last first.",
		Example: "  rondo sessions list --here --limit 5",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o := store.ListOptions{Limit: limit}
			if here {
				o.Workspace = env.Dir
			}
			err := env.withStore(c.Context(), func(s store.Full) error {
				all, err := s.List(c.Context(), o)
				if err != nil {
					return err
				}
				return printSessions(c.Context(), env, s, all)
			})
			if errors.Is(err, errNoSessions) {
				fmt.Fprintln(env.Stderr, err)
				return nil
			}
			return err
		},
	}
	c.Flags().IntVar(&limit, "limit", 20, "at most `N` of them; 0 for all")
	c.Flags().BoolVar(&here, "here", false, "only those of the current directory")
	return c
}

// printSessions prints a line for each session. One whose run has no end is
// running if a process holds it, else it was interrupted.
func printSessions(ctx context.Context, env *environment, st store.Full, all []store.Session) error {
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tused\tmessages\tcost\tend\tmodel\ttitle")
	for _, s := range all {
		end := s.EndReason
		if end == "" {
			end = "interrupted"
		}
		_, held, err := st.Holder(ctx, s.ID)
		if err != nil {
			return err
		}
		if held {
			end = "running"
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%s\n", s.ID, s.UpdatedAt.Local().Format(time.DateTime), s.Messages,
			cost(s.CostUSD), end, strings.Trim(s.Provider+"/"+s.Model, "/"), oneLine(s.Title))
	}
	return w.Flush()
}

func cost(usd float64) string {
	if usd == 0 {
		return "-"
	}
	return fmt.Sprintf("$%.4f", usd)
}

func newSessionsShow(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:     "show SESSION",
		Short:   "Show what was said in a session",
		Long:    "Show a session and all its messages. Results of tools are shown by their beginning; export has them whole.",
		Example: "  rondo sessions show last",
		Args:    argCount(1, 1, "a session"),
		RunE: func(c *cobra.Command, args []string) error {
			return env.withSession(c.Context(), args[0], func(s store.Full, found store.Session) error {
				session, msgs, err := s.Load(c.Context(), found.ID)
				if _, damaged := errors.AsType[*store.DamagedError](err); err != nil && !damaged {
					return err
				}
				printSession(env, session, msgs)
				return err
			})
		},
	}
}

func printSession(env *environment, s store.Session, msgs []*message.Message) {
	fmt.Fprintf(env.Stdout, "%s  %s\n%s in %s, %s, %d input and %d output tokens, %s\n", s.ID, s.Title,
		strings.Trim(s.Provider+"/"+s.Model, "/"), s.Workspace, counted(s.Messages, "message"), s.Usage.Input, s.Usage.Output, cost(s.CostUSD))
	if s.Parent != "" {
		fmt.Fprintf(env.Stdout, "continues %s (%s)\n", s.Parent, s.Relation)
	}
	for _, m := range msgs {
		fmt.Fprintln(env.Stdout)
		if m.Role == message.Tool {
			fmt.Fprintf(env.Stdout, "[%s: %s]\n", m.ToolName, m.Status)
			fmt.Fprintln(env.Stdout, brief(m.Text(), 400))
			continue
		}
		fmt.Fprintf(env.Stdout, "[%s]\n", m.Role)
		if text := m.Text(); text != "" {
			fmt.Fprintln(env.Stdout, text)
		}
		for _, call := range m.Calls() {
			fmt.Fprintf(env.Stdout, "> %s %s\n", call.Name, brief(call.Arguments, 200))
		}
	}
}

func newSessionsSearch(env *environment) *cobra.Command {
	limit, here := store.DefaultSearchLimit, false
	c := &cobra.Command{
		Use:   "search WORDS...",
		Short: "Find sessions by what was said in them",
		Long: `Find messages that hold all words, the newest session first. Words in double
quotes are a phrase. Output of tools is not searched.`,
		Example: `  rondo sessions search flaky test
  rondo sessions search '"connection refused"'`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("%s takes the words to look for: %s --help shows an example", c.CommandPath(), c.CommandPath())
			}
			o := store.SearchOptions{Limit: limit}
			if here {
				o.Workspace = env.Dir
			}
			return env.withStore(c.Context(), func(s store.Full) error {
				hits, err := s.Search(c.Context(), strings.Join(args, " "), o)
				for _, h := range hits {
					fmt.Fprintf(env.Stdout, "%s  %s\n  %s: %s\n", h.Session, h.Title, h.Role, h.Snippet)
				}
				return err
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", store.DefaultSearchLimit, "at most `N` messages")
	c.Flags().BoolVar(&here, "here", false, "only in sessions of the current directory")
	return c
}
