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
	root.PersistentPreRun = func(c *cobra.Command, _ []string) {
		if c.Name() != "run" {
			env.Processors.all()
		}
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	addCommands(root, env)
	return root
}

// subcommand makes the command of a name.
type subcommand struct {
	name string
	make func(*environment) *cobra.Command
}

// subcommands are all commands, in the order in which the help lists them.
func subcommands() []subcommand {
	return []subcommand{
		{"run", newRunCommand},
		{"demo", newDemoCommand},
		{"config", newConfigCommand},
		{"doctor", newDoctorCommand},
		{"hooks", newHooksCommand},
		{"mcp", newMCPCommand},
		{"models", newModelsCommand},
		{"memory", newMemoryCommand},
		{"sessions", newSessionsCommand},
		{"snapshot", newSnapshotCommand},
		{"skills", newSkillsCommand},
		{"prompt-size", newPromptSizeCommand},
		{"tools", newToolsCommand},
		{"wire", newWireCommand},
		{"version", newVersionCommand},
	}
}

// addCommands adds the command that the first argument names. Where it names
// none, as for help, all are added: to make one takes a moment, and every start
// would spend it on each.
func addCommands(root *cobra.Command, env *environment) {
	all := subcommands()
	for _, s := range all {
		if len(env.Args) > 0 && env.Args[0] == s.name {
			root.AddCommand(s.make(env))
			root.CompletionOptions.DisableDefaultCmd = true
			return
		}
	}
	for _, s := range all {
		root.AddCommand(s.make(env))
	}
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
