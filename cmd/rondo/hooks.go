package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rondo-engine/rondo/hook"
	"github.com/rondo-engine/rondo/internal/atomicfile"
	"github.com/rondo-engine/rondo/internal/config"
	"github.com/rondo-engine/rondo/internal/hookcmd"
)

// commandHooks are the hooks of the settings, and which of them are agreed to.
type commandHooks struct {
	all []hookcmd.Command
	// fromProject says that the setting of the event stands in the project's
	// file.
	fromProject []bool
	agreed      agreement
}

// agreement is the record of the hooks that the user agreed to: their commands by
// their digests, in hooks.json of RONDO_HOME.
type agreement struct {
	file     string
	commands map[string]string
}

func (e *environment) agreement() (agreement, error) {
	home, err := e.home()
	if err != nil {
		return agreement{}, err
	}
	a := agreement{filepath.Join(home, "hooks.json"), map[string]string{}}
	b, err := os.ReadFile(a.file)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &a.commands)
	}
	if err != nil {
		return a, fmt.Errorf("read which hooks are agreed to in %s: %w: mend it, or move it aside and run rondo hooks trust", a.file, err)
	}
	return a, nil
}

func (a agreement) has(c hookcmd.Command) bool { _, ok := a.commands[c.Digest()]; return ok }

// add records commands as agreed to.
func (a agreement) add(commands ...hookcmd.Command) error {
	for _, c := range commands {
		a.commands[c.Digest()] = c.Event + ": " + c.Command
	}
	b, err := json.MarshalIndent(a.commands, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(a.file), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(a.file, append(b, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("record that hooks are agreed to: %w", err)
	}
	return nil
}

// commandHooks reads the hooks of the settings.
func (e *environment) commandHooks(l *config.Loaded) (*commandHooks, error) {
	h := &commandHooks{}
	var err error
	if h.agreed, err = e.agreement(); err != nil {
		return nil, err
	}
	c := &l.Hooks
	byEvent := map[string][]config.Hook{
		"pre_tool_call": c.PreToolCall, "post_tool_call": c.PostToolCall, "pre_model_call": c.PreModelCall, "post_model_call": c.PostModelCall,
		"session_start": c.SessionStart, "session_end": c.SessionEnd, "subagent_start": c.SubagentStart, "subagent_stop": c.SubagentStop,
	}
	for _, event := range hookcmd.Events() {
		for _, s := range byEvent[event] {
			command := hookcmd.Command{Event: event, Matcher: s.Matcher, Command: s.Command, Timeout: s.Timeout}
			if err := command.Check(); err != nil {
				return nil, usage(err)
			}
			h.all = append(h.all, command)
			h.fromProject = append(h.fromProject, l.Layer("hooks."+event) == config.ProjectLayer)
		}
	}
	return h, nil
}

// usable returns the hooks that may run, and notes on those that run for the
// first time or may not. The user's own are agreed to by being there.
func (h *commandHooks) usable() (may []hookcmd.Command, notes []string, err error) {
	var fresh []hookcmd.Command
	for i, c := range h.all {
		switch {
		case h.agreed.has(c):
		case h.fromProject[i]:
			notes = append(notes, fmt.Sprintf("the project's %s hook is not run: %s: rondo hooks trust agrees to it", c.Event, c.Command))
			continue
		default:
			fresh = append(fresh, c)
			notes = append(notes, fmt.Sprintf("the %s hook of your settings runs from now on: %s", c.Event, c.Command))
		}
		may = append(may, c)
	}
	if len(fresh) > 0 {
		err = h.agreed.add(fresh...)
	}
	return may, notes, err
}

// openHooks makes the hooks of a run.
func (s *setup) openHooks() error {
	h, err := s.env.commandHooks(s.settings)
	if err != nil || len(h.all) == 0 {
		return err
	}
	may, notes, err := h.usable()
	if err != nil {
		return err
	}
	s.notes = append(s.notes, notes...)
	if len(may) > 0 {
		s.hooks = []hook.Hooks{s.hookRunner().Hooks(may, func(err error) { fmt.Fprintf(s.env.Stderr, "rondo: %v\n", err) })}
	}
	return nil
}

func (s *setup) hookRunner() *hookcmd.Runner {
	return &hookcmd.Runner{Dir: s.workspace.Dir(), Run: s.confined.command}
}

func newHooksCommand(env *environment) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "hooks",
		Short: "Show, try and agree to hooks",
		Long: `Hooks are commands of the settings that are told of what happens in a run and may
block tool calls; docs/configuration.md tells how. Your own run from their first
use on, those of a project once you have agreed to them.`,
		Example: `  rondo hooks list
  rondo hooks test pre_tool_call shell '{"command":"ls"}'
  rondo hooks trust`,
	})
	c.AddCommand(newHooksList(env), newHooksTest(env), newHooksTrust(env))
	return c
}

// loadHooks reads the settings of the current directory and their hooks.
func (e *environment) loadHooks() (*commandHooks, error) {
	l, err := e.load(e.Dir, nil)
	if err != nil {
		return nil, err
	}
	return e.commandHooks(l)
}

func newHooksList(env *environment) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List hooks", Long: "List the hooks of the settings, and which of them are agreed to.",
		Example: "  rondo hooks list", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			h, err := env.loadHooks()
			if err != nil {
				return err
			}
			for i, c := range h.all {
				state := "new"
				switch {
				case h.agreed.has(c):
					state = "agreed"
				case h.fromProject[i]:
					state = "not agreed"
				}
				fmt.Fprintf(env.Stdout, "%-15s %-12s %-10s %s\n", c.Event, strings.Join(strings.Fields(c.Matcher + " *")[:1], ""), state, c.Command)
			}
			return nil
		},
	}
}

func newHooksTrust(env *environment) *cobra.Command {
	return &cobra.Command{
		Use: "trust", Short: "Agree to all hooks that are listed here",
		Long:    "Agree to the hooks that rondo hooks list shows, as they are now: one that is\nchanged has to be agreed to again. Read them first.",
		Example: "  rondo hooks trust", Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			h, err := env.loadHooks()
			if err != nil {
				return err
			}
			if len(h.all) == 0 {
				return usagef("there are no hooks here: add them to the settings under hooks")
			}
			if err := h.agreed.add(h.all...); err != nil {
				return err
			}
			fmt.Fprintf(env.Stderr, "agreed to %s\n", counted(len(h.all), "hook"))
			return nil
		},
	}
}

func newHooksTest(env *environment) *cobra.Command {
	return &cobra.Command{
		Use: "test EVENT [TOOL [ARGUMENTS]]", Short: "Run the hooks of an event",
		Long:    "Run the hooks of an event with made-up input, not confined, and print what they\nanswer. The exit status is 1 if one fails.",
		Example: `  rondo hooks test pre_tool_call shell '{"command":"rm -rf build"}'`, Args: argCount(1, 3, "an event, a tool and its arguments"),
		RunE: func(c *cobra.Command, args []string) error {
			if !slices.Contains(hookcmd.Events(), args[0]) {
				return usagef("there is no event %q: it is one of %s", args[0], strings.Join(hookcmd.Events(), ", "))
			}
			h, err := env.loadHooks()
			if err != nil {
				return err
			}
			in := hookcmd.Input{Session: "test", Extra: map[string]any{"test": true}}
			if len(args) > 1 {
				in.Tool, in.Arguments = args[1], json.RawMessage("{}")
			}
			if len(args) > 2 {
				in.Arguments = json.RawMessage(args[2])
			}
			if len(in.Arguments) > 0 && !json.Valid(in.Arguments) {
				return usagef("the arguments are no JSON: %s", args[2])
			}
			return h.try(c, env, args[0], in)
		},
	}
}

// try runs the hooks of an event and prints their answers.
func (h *commandHooks) try(c *cobra.Command, env *environment, event string, in hookcmd.Input) error {
	r := &hookcmd.Runner{Dir: env.Dir}
	var errs []error
	for i, command := range h.all {
		if command.Event != event {
			continue
		}
		if h.fromProject[i] && !h.agreed.has(command) {
			fmt.Fprintf(env.Stdout, "%s\n  not run: rondo hooks trust agrees to it\n", command.Command)
			continue
		}
		a, err := r.Ask(c.Context(), command, in)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		said, err := json.Marshal(a)
		if err != nil {
			return err
		}
		fmt.Fprintf(env.Stdout, "%s\n  %s\n", command.Command, said)
	}
	return errors.Join(errs...)
}
