package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/internal/config"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/store"
)

// runOptions are the flags of run that are not settings.
type runOptions struct {
	resume, cwd, system  string
	json, quiet, verbose bool
	plan, execute        bool
	settings             *settingFlags
}

func newRunCommand(env *environment) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run [flags] [PROMPT...]",
		Short: "Carry one task to its end",
		Long: `Carries one task to its end without asking questions. The prompt comes from the
arguments, or from stdin when there are none; when there are both, stdin is
attached to the prompt.

With --plan the task is not carried out: the agent looks with tools that change
nothing, and its final response is a plan. The session plans until --resume ID
--execute approves the plan; a prompt then says what is to be different. With
--resume ID and a prompt alone, another plan is made after these remarks.

The final response alone goes to stdout. On stderr, when it is a terminal, stands
what is going on. With --json each event is a line of JSON on stdout; the last
one is of type done.

Exit status: 0 the task is done; 3 a limit ended it (a summary is on stdout);
4 it failed; 130 it was stopped; 2 wrong usage or configuration; 1 an internal
error.`,
		Example: `  rondo run "Find out why the tests fail, and mend it."
  git diff | rondo run "Review this change."
  rondo run --model anthropic/claude-sonnet-4-5 --max-turns 50 --json "Port it to Go 1.26."
  rondo run --resume last "And now the docs."
  rondo run --plan "Move the store to PostgreSQL."
  rondo run --resume last --execute "But leave the tests as they are."`,
		RunE: func(c *cobra.Command, args []string) error { return runTask(c.Context(), env, &o, args) },
	}
	f := c.Flags()
	f.StringVar(&o.resume, "resume", "", "go on with the session `ID`, \"last\" or its title")
	f.StringVar(&o.cwd, "cwd", "", "work in `DIR` instead of the current directory")
	f.StringVar(&o.system, "system", "", "system prompt, `TEXT` or @FILE, in place of rondo's own")
	f.BoolVar(&o.json, "json", false, "print each event as a line of JSON")
	f.BoolVar(&o.quiet, "quiet", false, "nothing on stderr but errors")
	f.BoolVar(&o.verbose, "verbose", false, "progress on stderr even if it is no terminal, with thinking and usage")
	f.BoolVar(&o.plan, "plan", false, "only look, print a plan and stop; --resume ID --execute carries it out")
	f.BoolVar(&o.execute, "execute", false, "with --resume: carry out the plan of that session")
	c.MarkFlagsMutuallyExclusive("quiet", "verbose")
	c.MarkFlagsMutuallyExclusive("plan", "execute")
	o.settings = addSettings(c, modelFlags, limitFlags, toolFlags)
	return c
}

// runTask is the whole of rondo run: settings, agent, run, exit status.
func runTask(ctx context.Context, env *environment, o *runOptions, args []string) error {
	ctx, signals := stopOnSignal(ctx, env)
	defer signals.end()
	out := newOutput(env, o)
	t, err := readTask(env, o, args)
	if err != nil {
		return out.finish(rondo.Result{}, err)
	}
	signals.arm()
	return t.carryOut(ctx, env, o, out, signals)
}

// task is what a run is asked for.
type task struct {
	dir, text, system string
	settings          *config.Loaded
}

func readTask(env *environment, o *runOptions, args []string) (t task, err error) {
	if t.dir, err = workspaceDir(env, o.cwd); err != nil {
		return t, err
	}
	if t.settings, err = env.load(t.dir, o.settings.given()); err != nil {
		return t, err
	}
	if t.text, err = promptText(env, args, o); err != nil {
		return t, err
	}
	t.system, err = systemText(env, o.system)
	return t, err
}

// carryOut makes the agent that the settings ask for, runs the task and tells how
// it ended. What can wait is done when the answer is out.
func (t *task) carryOut(ctx context.Context, env *environment, o *runOptions, out *output, signals *stopper) error {
	set, err := newSetup(ctx, env, t.settings, t.dir, t.system)
	if err != nil {
		return out.finish(rondo.Result{}, err)
	}
	defer set.close()
	id, err := set.find(ctx, o.resume)
	if err != nil {
		return out.finish(rondo.Result{}, err)
	}
	env.note(set.notes)
	agent, err := set.agent(agentOptions{listener: out.listener(), denied: out.denied})
	if err != nil {
		return out.finish(rondo.Result{}, err)
	}
	defer agent.Close()
	<-signals.listening
	res, err := agent.Run(ctx, rondo.Request{Text: t.text, SessionID: id, Mode: o.mode()})
	err = out.finish(res, err)
	env.tidySessions(t.settings, set.store, res.SessionID)
	return err
}

// mode is what --plan and --execute ask for.
func (o *runOptions) mode() rondo.Mode {
	switch {
	case o.plan:
		return rondo.PlanFirst
	case o.execute:
		return rondo.ExecutePlan
	}
	return ""
}

func workspaceDir(env *environment, cwd string) (string, error) {
	dir := env.Dir
	if cwd != "" {
		dir = env.path(cwd)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", usagef("the workspace cannot be used: %w", err)
	}
	if !info.IsDir() {
		return "", usagef("the workspace %s is not a directory", dir)
	}
	return dir, nil
}

// maxStdin bounds the prompt that is read from stdin, in bytes.
const maxStdin = 8 << 20

// promptText is the text of the arguments and what stdin holds, if it is no
// terminal. It may be empty only where a session is resumed.
func promptText(env *environment, args []string, o *runOptions) (string, error) {
	text := strings.TrimSpace(strings.Join(args, " "))
	in, err := readStdin(env)
	if err != nil {
		return "", err
	}
	switch {
	case in != "" && text != "":
		text += "\n\n<stdin>\n" + in + "\n</stdin>"
	case in != "":
		text = in
	}
	switch {
	case o.execute && o.resume == "":
		return "", usagef("--execute carries out the plan of a session: name it with --resume")
	case text == "" && o.resume == "":
		return "", usagef(`there is no prompt: give one, as in rondo run "Explain this repository.", or send it to stdin`)
	}
	return text, nil
}

// readStdin reads all of stdin, unless it is a terminal.
func readStdin(env *environment) (string, error) {
	if isTerminal(env.Stdin) {
		return "", nil
	}
	in, err := io.ReadAll(io.LimitReader(env.Stdin, maxStdin+1))
	if err != nil {
		return "", fmt.Errorf("read the prompt from stdin: %w", err)
	}
	if len(in) > maxStdin {
		return "", usagef("stdin holds more than %d MiB: put it into a file of the workspace and name that in the prompt", maxStdin>>20)
	}
	return strings.TrimSpace(string(in)), nil
}

// systemText is what --system says, "" for nothing.
func systemText(env *environment, s string) (string, error) {
	name, isFile := strings.CutPrefix(s, "@")
	if !isFile {
		return s, nil
	}
	b, err := os.ReadFile(env.path(name))
	if err != nil {
		return "", usagef("--system: %w", err)
	}
	return string(b), nil
}

// statusOf is the exit status that tells a reason.
func statusOf(r loop.Reason) int {
	switch r {
	case loop.EndTurn:
		return 0
	case loop.MaxRounds, loop.MaxBudget, loop.Deadline, loop.MaxErrors, loop.LoopDetected:
		return 3
	case loop.UserCancel:
		return statusStopped
	case "":
		return statusInternal
	}
	return 4
}

// runStatus turns the end of a run into the program's.
func runStatus(res rondo.Result, err error) error {
	if re, ok := errors.AsType[*rondo.RunError](err); ok {
		err = nil
		if re.Reason != loop.UserCancel {
			err = errors.New(advice(re))
		}
		return &statusError{status: statusOf(re.Reason), err: err}
	}
	switch {
	case errors.Is(err, rondo.ErrNoPlan):
		return usagef("%w: rondo run --plan makes one, --resume alone goes on with a session", err)
	case errors.Is(err, rondo.ErrNothingToDo), locked(err):
		return usage(err)
	case errors.Is(err, loop.ErrOverflow):
		return &statusError{status: statusOf(loop.ContextOverflow), err: err}
	}
	if err != nil || res.Reason == loop.EndTurn {
		return err
	}
	return &statusError{status: statusOf(res.Reason)}
}

// locked reports whether a session could not be used because another process
// uses it.
func locked(err error) bool {
	_, ok := errors.AsType[*store.LockedError](err)
	return ok
}
