package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

func newSessionsRename(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "rename SESSION TITLE",
		Short: "Give a session a title",
		Long: `Give a session a title, by which it can be named. No two sessions have the
same: where the title is taken, a number is added.`,
		Example: `  rondo sessions rename last "mend the parser"`,
		Args:    argCount(2, 2, "a session and a title"),
		RunE: func(c *cobra.Command, args []string) error {
			title := strings.TrimSpace(args[1])
			if title == "" {
				return usagef("the title is empty: give the session a name")
			}
			return env.withSession(c.Context(), args[0], func(s store.Full, found store.Session) error {
				if err := s.Append(c.Context(), found.ID, nil, store.Update{Title: title}); err != nil {
					return err
				}
				now, err := s.Find(c.Context(), found.ID, "")
				if err != nil {
					return err
				}
				fmt.Fprintf(env.Stderr, "session %s is now called %q\n", now.ID, now.Title)
				return nil
			})
		},
	}
}

func newSessionsExport(env *environment) *cobra.Command {
	format, output := "json", ""
	c := &cobra.Command{
		Use:   "export SESSION",
		Short: "Write a session as JSON or text",
		Long: `Write all messages of a session: as a JSON array that rondo wire reads (json), a
message a line (jsonl), or as text to read (markdown).`,
		Example: `  rondo sessions export last > history.json
  rondo sessions export last --format markdown -o session.md`,
		Args: argCount(1, 1, "a session"),
		RunE: func(c *cobra.Command, args []string) error {
			write, ok := map[string]func(io.Writer, store.Session, []*message.Message) error{
				"json": exportJSON, "jsonl": exportLines, "markdown": exportMarkdown,
			}[format]
			if !ok {
				return usagef("--format %q is none of json, jsonl, markdown", format)
			}
			return env.withSession(c.Context(), args[0], func(s store.Full, found store.Session) error {
				session, msgs, err := s.Load(c.Context(), found.ID)
				if err != nil {
					return err
				}
				if output == "" {
					return write(env.Stdout, session, msgs)
				}
				var text bytes.Buffer
				if err := write(&text, session, msgs); err != nil {
					return err
				}
				return os.WriteFile(env.path(output), text.Bytes(), 0o600)
			})
		},
	}
	c.Flags().StringVar(&format, "format", "json", "json, jsonl or markdown")
	c.Flags().StringVarP(&output, "output", "o", "", "write to `FILE` instead of stdout")
	return c
}

func exportJSON(w io.Writer, _ store.Session, msgs []*message.Message) error {
	var text jsontext.Value
	text = append(text, '[')
	for i, m := range msgs {
		if i > 0 {
			text = append(text, ',')
		}
		text = message.AppendJSON(text, m)
	}
	text = append(text, ']')
	if err := text.Indent(jsontext.WithIndent("  "), jsontext.AllowDuplicateNames(true)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s\n", text)
	return err
}

func exportLines(w io.Writer, _ store.Session, msgs []*message.Message) error {
	for _, m := range msgs {
		if _, err := fmt.Fprintf(w, "%s\n", message.AppendJSON(nil, m)); err != nil {
			return err
		}
	}
	return nil
}

func exportMarkdown(w io.Writer, s store.Session, msgs []*message.Message) error {
	title := s.Title
	if title == "" {
		title = s.ID
	}
	fmt.Fprintf(w, "# %s\n", title)
	for _, m := range msgs {
		if m.Role == message.Tool {
			fmt.Fprintf(w, "\n## %s (%s)\n\n%s\n", m.ToolName, m.Status, fenced(m.Text()))
			continue
		}
		fmt.Fprintf(w, "\n## %s\n", m.Role)
		if text := m.Text(); text != "" {
			fmt.Fprintf(w, "\n%s\n", text)
		}
		for _, call := range m.Calls() {
			fmt.Fprintf(w, "\n%s:\n\n%s\n", call.Name, fenced(call.Arguments))
		}
	}
	return nil
}

// fenced puts text into a code block with a fence longer than any in it.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}

func newSessionsDelete(env *environment) *cobra.Command {
	yes := false
	c := &cobra.Command{
		Use:     "delete SESSION...",
		Short:   "Delete sessions for good",
		Long:    "Delete sessions with all their messages. This cannot be undone.",
		Example: "  rondo sessions delete --yes 01J8",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("%s takes the sessions to delete: rondo sessions list shows them", c.CommandPath())
			}
			for _, ref := range args {
				err := env.withSession(c.Context(), ref, func(s store.Full, found store.Session) error {
					if !yes {
						return usagef("session %s (%s) has %s: add --yes to delete it for good", found.ID, oneLine(found.Title), counted(found.Messages, "message"))
					}
					return deleteSession(c.Context(), env, s, found.ID)
				})
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "delete without further asking")
	return c
}

// deleteSession deletes a session that is not in use, and its snapshot.
func deleteSession(ctx context.Context, env *environment, s store.Full, id string) (err error) {
	dir, err := env.snapshotDir()
	if err != nil {
		return err
	}
	unlock, err := s.Lock(ctx, id)
	if err != nil {
		return usage(err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	return errors.Join(s.Delete(ctx, id), dir.Remove(id))
}
