package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rondo-engine/rondo/internal/config"
	"github.com/rondo-engine/rondo/store"
)

func newSessionsPrune(env *environment) *cobra.Command {
	age, size, yes, dry := "", int64(0), false, false
	c := &cobra.Command{
		Use:   "prune [--older-than AGE] [--max-size MB]",
		Short: "Delete sessions that were not used for long",
		Long: `List the sessions that were not used for so long, and the oldest ones that are too
many for the size; with --yes delete them for good, and shrink the file. Sessions
that continue or delegated one another go together. Pinned ones stay, and those
in use. Without flags, the limits of the settings count, which rondo run keeps to
by itself when it has finished: sessions.max_age and sessions.max_size_mb; then
those that were interrupted stay, too.`,
		Example: `  rondo sessions prune --older-than 90d --yes
  rondo sessions prune --dry-run`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p := pruning{env: env, explicit: age != "" || size > 0, size: size << 20}
			var err error
			if age != "" {
				if p.age, err = parseAge(age); err != nil {
					return err
				}
			}
			return p.command(c.Context(), yes && !dry)
		},
	}
	c.Flags().StringVar(&age, "older-than", "", "`AGE`, as in 90d or 12h")
	c.Flags().Int64Var(&size, "max-size", 0, "delete the oldest until all take no more than `MB`")
	c.Flags().BoolVar(&yes, "yes", false, "delete them")
	c.Flags().BoolVar(&dry, "dry-run", false, "only list them")
	c.MarkFlagsMutuallyExclusive("yes", "dry-run")
	return c
}

// pruning deletes sessions by age and size.
type pruning struct {
	env *environment
	// age and size, in bytes, are the limits; negative and 0 are none.
	age  time.Duration
	size int64
	// explicit says that the user named them: interrupted sessions go, too.
	explicit bool
	// spared is a session that stays in any case, with its family.
	spared string
}

// newPruning is the pruning that the settings ask for.
func newPruning(env *environment, c config.Sessions) pruning {
	p := pruning{env: env, age: -1, size: c.MaxSizeMB << 20}
	if c.MaxAge > 0 {
		p.age = c.MaxAge
	}
	return p
}

func (p *pruning) command(ctx context.Context, do bool) error {
	settings, err := p.env.load(p.env.Dir, nil)
	if err != nil {
		return err
	}
	if !p.explicit {
		*p = newPruning(p.env, settings.Sessions)
		if p.age < 0 && p.size == 0 {
			return usagef("there is no limit: name one with --older-than 90d or --max-size 500, or set sessions.max_age or sessions.max_size_mb")
		}
	} else if p.age == 0 && p.size > 0 {
		p.age = -1
	}
	return p.env.withSessions(ctx, settings, func(s store.Full) error {
		old, err := p.choose(ctx, s)
		if err != nil {
			return err
		}
		var all []store.Session
		for _, f := range old {
			all = append(all, f...)
		}
		if err := printSessions(ctx, p.env, s, all); err != nil {
			return err
		}
		if !do {
			fmt.Fprintf(p.env.Stderr, "%s would be deleted: add --yes to do it\n", counted(len(all), "session"))
			return nil
		}
		n, err := p.delete(ctx, s, old)
		fmt.Fprintf(p.env.Stderr, "deleted %s\n", counted(n, "session"))
		if sizer, ok := s.(store.Sizer); ok && err == nil && n > 0 {
			err = sizer.Shrink(ctx, true)
		}
		return err
	})
}

// sizeSlack is the part of the size that is aimed at, so that not each run has
// something to prune.
const sizeSlack = 0.9

// choose returns the families that have to go.
func (p *pruning) choose(ctx context.Context, s store.Full) ([]store.Family, error) {
	excess, shares, err := p.excess(ctx, s)
	if err != nil {
		return nil, err
	}
	all, err := s.List(ctx, store.ListOptions{})
	if err != nil {
		return nil, err
	}
	var old []store.Family
	for _, f := range store.Families(all) {
		aged := p.age >= 0 && !f.UsedAt().After(p.env.Now().Add(-p.age))
		if !aged && excess <= 0 {
			break // families come in the order of their use
		}
		stays, err := p.stays(ctx, s, f)
		if err != nil {
			return nil, err
		}
		if stays {
			continue
		}
		old = append(old, f)
		for _, session := range f {
			excess -= shares[session.ID]
		}
	}
	return old, nil
}

// excess is what part of the room of all sessions is too much, and what the part
// of each is.
func (p *pruning) excess(ctx context.Context, s store.Full) (float64, map[string]float64, error) {
	sizer, ok := s.(store.Sizer)
	if !ok || p.size == 0 {
		return 0, nil, nil
	}
	used, _, err := sizer.Size(ctx)
	if err != nil || used <= p.size {
		return 0, nil, err
	}
	shares, err := sizer.Weights(ctx)
	return 1 - sizeSlack*float64(p.size)/float64(used), shares, err
}

// stays reports whether a family is kept whatever its age.
func (p *pruning) stays(ctx context.Context, s store.Full, f store.Family) (bool, error) {
	if !p.explicit && !f.Finished() {
		return true, nil
	}
	for _, session := range f {
		if session.ID == p.spared {
			return true, nil
		}
		_, held, err := s.Holder(ctx, session.ID)
		if held || err != nil {
			return true, err
		}
		is, err := pinned(ctx, s, session.ID)
		if is || err != nil {
			return true, err
		}
	}
	return false, nil
}

// delete deletes families and returns how many sessions that were. One that is
// taken into use meanwhile stays.
func (p *pruning) delete(ctx context.Context, s store.Full, old []store.Family) (n int, err error) {
	for _, f := range old {
		for _, session := range f {
			if err := ctx.Err(); err != nil {
				return n, err
			}
			err := deleteSession(ctx, p.env, s, session.ID)
			if locked(err) {
				break
			}
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// tidyTime bounds what a run does for the limits when it has finished.
const tidyTime = time.Second

// tidySessions keeps to the limits of the settings, if there are any, when the
// run of a session has finished and its answer is out.
func (e *environment) tidySessions(settings *config.Loaded, s store.Full, used string) {
	p := newPruning(e, settings.Sessions)
	p.spared = used
	if p.age < 0 && p.size == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tidyTime)
	defer cancel()
	old, err := p.choose(ctx, s)
	if err == nil && len(old) > 0 {
		_, err = p.delete(ctx, s, old)
		if sizer, ok := s.(store.Sizer); ok && err == nil {
			err = sizer.Shrink(ctx, false)
		}
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(e.Stderr, "rondo: old sessions are not pruned: %v\n", err)
	}
}

// pinned reports whether a session is kept whatever its age.
func pinned(ctx context.Context, s store.Noter, id string) (is bool, err error) {
	notes, err := s.Notes(ctx, id)
	for _, n := range notes {
		if n.Kind == store.NotePinned {
			is = string(n.Body) == "true"
		}
	}
	return is, err
}

// newSessionsPin makes the command pin, or with pin false unpin.
func newSessionsPin(env *environment, pin bool) *cobra.Command {
	c := &cobra.Command{
		Use:     "pin SESSION",
		Short:   "Keep a session whatever its age",
		Long:    "Keep a session, and those that it continues or delegated, whatever their age: prune leaves them alone.",
		Example: "  rondo sessions pin last",
	}
	if !pin {
		c.Use, c.Short = "unpin SESSION", "Let a session go when it is old"
		c.Long, c.Example = "Take back what pin did: the session, and those that it continues or delegated, go when they are old.", "  rondo sessions unpin last"
	}
	c.Args = argCount(1, 1, "a session")
	c.RunE = func(c *cobra.Command, args []string) error {
		return env.withSession(c.Context(), args[0], func(s store.Full, found store.Session) error {
			body, err := json.Marshal(pin)
			if err != nil {
				return err
			}
			if err := s.Note(c.Context(), found.ID, store.Note{Time: env.Now(), Kind: store.NotePinned, Body: body}); err != nil {
				return err
			}
			fmt.Fprintf(env.Stderr, "session %s is %s\n", found.ID, map[bool]string{true: "pinned", false: "not pinned any more"}[pin])
			return nil
		})
	}
	return c
}

// parseAge reads a number of days such as 90d, or a duration.
func parseAge(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 36500 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return d, nil
	}
	return 0, usagef("--older-than %q is no age: write it as 90d or 12h", s)
}
