package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/internal/proc"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
	"github.com/rondo-engine/rondo/model/provider"
	"github.com/rondo-engine/rondo/model/wire"
	"github.com/rondo-engine/rondo/tool/builtin"
)

//go:embed demo
var demoFiles embed.FS

// demoTask is what the demo's user asks for.
const demoTask = "The test in this directory fails. Find out why, and mend the program."

func newDemoCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Watch an agent mend a program, without a key or a network",
		Long: `Starts a model server on loopback that speaks from a script, and runs a real task
against it in a new temporary directory: a small program with a failing test is
read, run, mended and run again. Only the model is scripted; the loop, the wire
and the tools are the real ones. Ends with status 0 only if the test passes.`,
		Example: "  rondo demo",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			script, err := demoFiles.ReadFile("demo/script.txt")
			if err != nil {
				return err
			}
			return runDemo(c.Context(), env, string(script))
		},
	}
}

// runDemo runs the task with a model that says what script tells it to.
func runDemo(ctx context.Context, env *environment, script string) (err error) {
	ctx, signals := stopOnSignal(ctx, env)
	defer signals.end()
	signals.arm()
	<-signals.listening
	dir, err := demoWorkspace()
	if err != nil {
		return err
	}
	defer func() {
		if rerr := os.RemoveAll(dir); err == nil && rerr != nil {
			err = fmt.Errorf("remove the demo's directory: %w", rerr)
		}
	}()
	w := env.Stdout
	fmt.Fprintf(w, "This is rondo at work on a small program. The model is scripted, so no key is\nneeded; everything else is real, down to the bytes on the wire.\n\n> %s\n\n", demoTask)
	res, err := demoRun(ctx, env, dir, script)
	if err != nil {
		return runStatus(res, err)
	}
	return demoVerdict(ctx, w, dir, res)
}

// demoWorkspace makes a directory with the program and its test.
func demoWorkspace() (string, error) {
	dir, err := os.MkdirTemp("", "rondo-demo-")
	if err != nil {
		return "", fmt.Errorf("make a directory for the demo: %w", err)
	}
	for _, name := range []string{"leap.sh", "test.sh"} {
		text, err := demoFiles.ReadFile("demo/" + name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			return "", fmt.Errorf("make the demo's program: %w", err)
		}
	}
	return dir, nil
}

// demoRun runs the task in dir against a scripted model and shows it live.
func demoRun(ctx context.Context, env *environment, dir, script string) (rondo.Result, error) {
	scripts, err := modeltest.Parse("demo/script.txt", script)
	if err != nil {
		return rondo.Result{}, err
	}
	srv, err := modeltest.Start(modeltest.Options{Scripts: scripts})
	if err != nil {
		return rondo.Result{}, err
	}
	defer srv.Close()
	m, err := provider.Open(&model.Profile{
		Provider: "demo", Model: "scripted", Mode: model.ChatCompletions, ContextWindow: provider.DefaultWindow,
		BaseURL: srv.BaseURL(model.ChatCompletions),
	}, wire.Options{})
	if err != nil {
		return rondo.Result{}, err
	}
	workspace, err := builtin.OpenWorkspace(dir, builtin.WorkspaceOptions{})
	if err != nil {
		return rondo.Result{}, err
	}
	defer workspace.Close()
	show := &progress{w: env.Stdout, live: true, colour: isTerminal(env.Stdout) && env.Getenv("NO_COLOR") == ""}
	agent, err := rondo.New(rondo.Options{
		Model: m, Tools: builtin.All(builtin.Options{Workspace: workspace}), Workspace: dir, Now: env.Now,
		Listeners: []rondo.Listener{show.event},
	})
	if err != nil {
		return rondo.Result{}, err
	}
	return agent.Run(ctx, rondo.Request{Text: demoTask})
}

// demoVerdict runs the test once more, without the agent, and says how it went.
func demoVerdict(ctx context.Context, w io.Writer, dir string, res rondo.Result) error {
	check, err := proc.Run(ctx, proc.Cmd{Argv: []string{"sh", "test.sh"}, Dir: dir, ID: "demo"})
	if err != nil {
		return fmt.Errorf("run the demo's test: %w", err)
	}
	calls := 0
	for _, m := range res.Messages {
		if m.Role == message.Tool {
			calls++
		}
	}
	fmt.Fprintf(w, "\n%d rounds, %d tool calls, %v. ", res.Rounds, calls, res.Duration.Round(10_000_000))
	if res.Reason != loop.EndTurn || check.ExitCode != 0 {
		fmt.Fprintf(w, "The test still fails:\n%s\n", check.Head)
		return &statusError{status: statusInternal}
	}
	fmt.Fprint(w, `The test passes.

With a real model:

    export ANTHROPIC_API_KEY=...        # or OPENAI_API_KEY, OPENROUTER_API_KEY, ...
    rondo run "Find out why the tests fail, and mend it."

A local server such as Ollama needs no key. rondo doctor says what is missing.
`)
	return nil
}
