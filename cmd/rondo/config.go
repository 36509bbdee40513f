package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/rondo-engine/rondo/internal/config"
)

func newConfigCommand(env *environment) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "config",
		Short: "Show and change the settings",
		Long: `Show the settings that hold here and where each comes from. Keys are masked.

Settings come from flags, then variables, then .rondo/config.yaml in the
project, then config.yaml in RONDO_HOME, then defaults. A project's file may not
name a command to run, an approval to skip, a base URL or a key unless you trust
its folder.`,
		Example: `  rondo config
  rondo config set model anthropic/claude-sonnet-4-6
  rondo config get agent`,
	})
	flags := addSettings(c, modelFlags, limitFlags, toolFlags)
	c.RunE = func(c *cobra.Command, _ []string) error { return showConfig(env, flags.given()) }
	c.AddCommand(newConfigPath(env), newConfigGet(env), newConfigSet(env), newConfigEdit(env), newConfigTrust(env))
	return c
}

func showConfig(env *environment, flags []config.Setting) error {
	l, err := env.load(env.Dir, flags)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	for _, v := range l.All() {
		fmt.Fprintf(w, "%s\t%s\t%s\n", v.Path, oneLine(v.Text), v.Source)
	}
	return w.Flush()
}

// oneLine shows an empty value as such and a long one cut.
func oneLine(s string) string {
	if s == "" {
		return "-"
	}
	s = strings.ReplaceAll(s, "\n", " ")
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:57], "") + "..."
	}
	return s
}

func newConfigPath(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:     "path",
		Short:   "Show where the settings are kept",
		Long:    "Show the files that settings are read from, the user's own first. A file need not be there.",
		Example: "  rondo config path",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			home, err := env.home()
			if err != nil {
				return err
			}
			fmt.Fprintln(env.Stdout, filepath.Join(home, "config.yaml"))
			// A file with mistakes is where it is all the same.
			if dir, ok := config.ProjectDir(env.Dir, home); ok {
				fmt.Fprintln(env.Stdout, filepath.Join(dir, ".rondo", "config.yaml"))
			}
			return nil
		},
	}
}

func newConfigGet(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:     "get KEY",
		Short:   "Show one setting",
		Long:    "Show the value of a setting alone, or all settings below a name such as agent.",
		Example: "  rondo config get agent.max_turns",
		Args:    argCount(1, 1, "the name of a setting"),
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := env.load(env.Dir, nil)
			if err != nil {
				return err
			}
			values, err := l.Get(args[0])
			if err != nil {
				return usage(err)
			}
			for _, v := range values {
				if v.Path == args[0] {
					fmt.Fprintln(env.Stdout, v.Text)
				} else {
					fmt.Fprintf(env.Stdout, "%s %s\n", v.Path, v.Text)
				}
			}
			return nil
		},
	}
}

func newConfigSet(env *environment) *cobra.Command {
	project := false
	c := &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Change one setting",
		Long: `Write a setting to config.yaml in RONDO_HOME, or to the project's file. What
else is in the file stays. Lists are written with commas.`,
		Example: `  rondo config set agent.max_turns 100
  rondo config set --project model ollama/qwen3
  rondo config set models.openai/gpt-x.context_window 200000`,
		Args: argCount(2, 2, "the name of a setting and its value"),
		RunE: func(_ *cobra.Command, args []string) error {
			home, err := env.home()
			if err != nil {
				return err
			}
			file := filepath.Join(home, "config.yaml")
			if project {
				dir, ok := config.ProjectDir(env.Dir, home)
				if !ok {
					dir = env.Dir
				}
				file = filepath.Join(dir, ".rondo", "config.yaml")
			}
			if err := config.Set(file, args[0], args[1]); err != nil {
				return usage(err)
			}
			fmt.Fprintf(env.Stderr, "%s is set in %s\n", args[0], file)
			return nil
		},
	}
	c.Flags().BoolVar(&project, "project", false, "write to .rondo/config.yaml of the project")
	return c
}

func newConfigEdit(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:     "edit",
		Short:   "Edit the settings in your editor",
		Long:    "Open config.yaml in $VISUAL or $EDITOR, and check it afterwards.",
		Example: "  EDITOR=nano rondo config edit",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			editor := env.Getenv("VISUAL")
			if editor == "" {
				editor = env.Getenv("EDITOR")
			}
			home, err := env.home()
			if err != nil {
				return err
			}
			file := filepath.Join(home, "config.yaml")
			if editor == "" {
				return usagef("neither VISUAL nor EDITOR is set: set one, or edit %s by hand", file)
			}
			if err := os.MkdirAll(home, 0o700); err != nil {
				return err
			}
			cmd := exec.CommandContext(c.Context(), "sh", "-c", editor+` "$1"`, "sh", file)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = env.Stdin, env.Stdout, env.Stderr
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("editor %s: %w", editor, err)
			}
			_, err = env.load(env.Dir, nil)
			return err
		},
	}
}

func newConfigTrust(env *environment) *cobra.Command {
	remove := false
	c := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Let a project's file say all",
		Long: `Trust a folder: its .rondo/config.yaml may then name commands to run, endpoints
and keys, and skip approvals. Read the file first.`,
		Example: `  rondo config trust
  rondo config trust --remove ~/src/thing`,
		Args: argCount(0, 1, "at most one folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			home, err := env.home()
			if err != nil {
				return err
			}
			dir, ok := config.ProjectDir(env.Dir, home)
			if len(args) == 1 {
				dir, ok = env.path(args[0]), true
			}
			if !ok {
				return usagef("there is no .rondo/config.yaml here: name the folder to trust")
			}
			if err := config.Trust(home, dir, !remove); err != nil {
				return usage(err)
			}
			verb := "trusted"
			if remove {
				verb = "no longer trusted"
			}
			fmt.Fprintf(env.Stderr, "%s is %s\n", dir, verb)
			return nil
		},
	}
	c.Flags().BoolVar(&remove, "remove", false, "trust it no longer")
	return c
}
