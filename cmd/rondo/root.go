package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
)

// execute runs the program and returns its exit status.
func execute(ctx context.Context, env *environment) int {
	root := newRootCommand(env)
	root.SetArgs(env.Args)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		return env.fail(err)
	}
	return 0
}

func newRootCommand(env *environment) *cobra.Command {
	root := group(&cobra.Command{
		Use:   "rondo",
		Short: "An agent loop for the command line",
		Long: `rondo takes a task, asks a model, runs the tools that the model asks for, and
goes on until the task is done.

Settings come from flags, then RONDO_* variables, then the providers' own such
as OPENAI_API_KEY, then .rondo/config.yaml in the project, then config.yaml in
RONDO_HOME (~/.rondo). rondo config shows what holds and where it comes from.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	})
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef("%w: %s --help shows the flags", err, c.CommandPath())
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		newRunCommand(env),
		newDemoCommand(env),
		newConfigCommand(env),
		newDoctorCommand(env),
		newHooksCommand(env),
		newMCPCommand(env),
		newModelsCommand(env),
		newMemoryCommand(env),
		newSessionsCommand(env),
		newSnapshotCommand(env),
		newSkillsCommand(env),
		newPromptSizeCommand(env),
		newToolsCommand(env),
		newWireCommand(env),
		newVersionCommand(env),
	)
	return root
}

// group makes c a command that only holds others: alone it shows its help, and
// a word that is none of them is an error.
func group(c *cobra.Command) *cobra.Command {
	c.Args = noArgs
	c.SuggestionsMinimumDistance = 2 // else a close name such as "verison" is not found
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	return c
}

// noArgs refuses arguments; one that looks like a subcommand gets suggestions.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !c.HasAvailableSubCommands() {
		return usagef("%s takes no arguments, but got %q", c.CommandPath(), args[0])
	}
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return usagef("%s has no command %q: did you mean %s?", c.CommandPath(), args[0], strings.Join(near, " or "))
	}
	return usagef("%s has no command %q: %s --help lists them", c.CommandPath(), args[0], c.CommandPath())
}

// argCount takes from low to high arguments, named for the error by what.
func argCount(low, high int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < low || len(args) > high {
			return usagef("%s takes %s, but got %d: %s --help shows an example", c.CommandPath(), what, len(args), c.CommandPath())
		}
		return nil
	}
}
