package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

func newSessionsImport(env *environment) *cobra.Command {
	title := ""
	c := &cobra.Command{
		Use:   "import [FILE]",
		Short: "Make a session of a history",
		Long: `Make a session of a history, as sessions export writes it, or another program: a
JSON array of messages or of Responses input items, or the body of a Messages
request. It is repaired; what that changed is told on stderr. The new session's
ID goes to stdout.`,
		Example: `  rondo sessions import --title "from elsewhere" history.json`,
		Args:    fileArg,
		RunE: func(c *cobra.Command, args []string) (err error) {
			data, err := env.slurp(args)
			if err != nil {
				return err
			}
			system, msgs, err := parseMessages(data)
			if err != nil {
				return badInput("history", err)
			}
			history, changes := message.Normalise(msgs)
			for _, ch := range changes {
				fmt.Fprintf(env.Stderr, "message %d, %s: %s\n", ch.Index, ch.Rule, ch.Detail)
			}
			if history.Len() == 0 {
				return usagef("the history holds no messages: there is nothing to import")
			}
			s, err := env.sessionStore(c.Context())
			if err != nil {
				return usage(err)
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			return importHistory(c, env, s, history, store.Session{Title: title, System: system})
		},
	}
	c.Flags().StringVar(&title, "title", "", "title of the new session")
	return c
}

// importHistory stores history as the session s, to which it gives the rest.
func importHistory(c *cobra.Command, env *environment, st store.Full, history message.History, s store.Session) error {
	var random [4]byte
	if _, err := io.ReadFull(env.Random, random[:]); err != nil {
		return fmt.Errorf("make an id: %w", err)
	}
	now := env.Now()
	s.ID = now.UTC().Format("20060102-150405-") + hex.EncodeToString(random[:])
	s.Workspace, s.CreatedAt, s.UpdatedAt = env.Dir, now, now
	if err := st.Create(c.Context(), s); err != nil {
		return usage(err)
	}
	msgs := make([]*message.Message, history.Len())
	for i, m := range history.Messages() {
		copied := *m // messages of a history do not change
		copied.ID = s.ID + "-" + strconv.Itoa(i+1)
		msgs[i] = &copied
	}
	if err := st.Append(c.Context(), s.ID, msgs, store.Update{EndReason: "imported"}); err != nil {
		return err
	}
	_, err := fmt.Fprintln(env.Stdout, s.ID)
	return err
}
