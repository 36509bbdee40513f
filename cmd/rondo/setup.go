package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/guard"
	"github.com/rondo-engine/rondo/hook"
	"github.com/rondo-engine/rondo/internal/config"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/memory"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/tool"
	"github.com/rondo-engine/rondo/tool/builtin"
	"github.com/rondo-engine/rondo/tool/mcp"
)

// setup is everything that a run needs, made from the settings.
type setup struct {
	env       *environment
	settings  *config.Loaded
	models    *models
	model     model.Model
	workspace *builtin.Workspace
	commands  commands
	confined  confinement
	processes *builtin.Processes
	hooks     []hook.Hooks
	// temp is a directory for temporary files that goes away with the setup;
	// empty for none.
	temp  string
	tools []*tool.Tool
	mcp   *mcp.Servers // nil where none are configured
	spill string
	store store.Full
	// memory is nil where nothing is remembered.
	memory      *memory.Store
	summariser  rondo.Aside
	title       rondo.Aside
	calibration *calibration
	prompt      systemPrompt
	guard       *guard.Guard
	// notes are for the user, on stderr.
	notes []string
}

// newSetup opens the sessions, the model and the tools; system stands in place of
// the built prompt.
func newSetup(ctx context.Context, env *environment, settings *config.Loaded, dir, system string) (*setup, error) {
	set := &setup{env: env, settings: settings, models: newModels(env, settings)}
	opened, openErr := env.openSessions(ctx, settings)
	err := set.make(ctx, dir, system)
	set.store, set.notes = opened, append(set.notes, set.models.notes...)
	if err == nil && openErr != nil {
		err = usage(openErr)
	}
	if err != nil {
		set.close()
		return nil, err
	}
	return set, nil
}

// make makes all but the sessions.
func (s *setup) make(ctx context.Context, dir, system string) (err error) {
	if s.model, err = s.models.main(ctx); err != nil {
		return err
	}
	if err := s.openTools(ctx, dir); err != nil {
		return err
	}
	if s.summariser, err = s.models.auxiliary(ctx, "compression"); err != nil {
		return err
	}
	if s.title, err = s.models.auxiliary(ctx, "title"); err != nil {
		return err
	}
	if err := s.buildPrompt(system); err != nil {
		return err
	}
	s.guard, err = s.newGuard(nil)
	return err
}

// close releases what newSetup opened.
func (s *setup) close() {
	s.closeMCP()
	s.endProcesses()
	s.commands.wait()
	if s.calibration != nil {
		if err := s.calibration.save(); err != nil {
			fmt.Fprintf(s.env.Stderr, "rondo: %v\n", err)
		}
	}
	if s.store != nil {
		if err := s.store.Close(); err != nil {
			fmt.Fprintf(s.env.Stderr, "rondo: close the sessions: %v\n", err)
		}
	}
	if s.workspace != nil {
		s.workspace.Close()
	}
	if s.temp != "" {
		if err := os.RemoveAll(s.temp); err != nil {
			fmt.Fprintf(s.env.Stderr, "rondo: remove the temporary directory: %v\n", err)
		}
	}
}

// openTools makes the tools that the settings ask for.
func (s *setup) openTools(ctx context.Context, dir string) error {
	home, err := s.env.home()
	if err != nil {
		return err
	}
	s.spill = filepath.Join(home, "spill")
	skills, err := s.env.skillDirs(s.settings, dir)
	if err != nil {
		return err
	}
	s.workspace, err = builtin.OpenWorkspace(dir, builtin.WorkspaceOptions{Readable: append(skills, s.spill)})
	if err != nil {
		return usage(err)
	}
	if err := s.confine(home); err != nil {
		return err
	}
	if err := s.openHooks(); err != nil {
		return err
	}
	children, err := s.models.delegated(ctx)
	if err != nil {
		return err
	}
	fromWeb, err := s.openWeb(ctx)
	if err != nil {
		return err
	}
	s.tools, err = s.env.chosenTools(s.settings, builtin.Options{
		Workspace: s.workspace, SpillDir: s.spill, Run: s.confined.command, Processes: s.openProcesses(),
	}, slices.Concat(agentTools(&s.settings.Config, children), fromWeb, s.openMemory(home), s.openMCP(ctx, dir))...)
	s.tools = s.env.Processors.give(s.tools)
	if s.settings.Prompt.ContextFiles {
		s.showContextFiles()
	}
	return usage(err)
}

// chosenTools are the tools, built in and more, that the settings ask for.
func (e *environment) chosenTools(settings *config.Loaded, o builtin.Options, more ...*tool.Tool) ([]*tool.Tool, error) {
	if settings.NoTools {
		return nil, nil
	}
	size, err := e.noopSize()
	if err != nil {
		return nil, err
	}
	all, err := tool.NewRegistry(slices.Concat(builtin.All(o), []*tool.Tool{builtin.Noop(size)}, more)...)
	if err != nil {
		return nil, err
	}
	var sets []string
	if settings.Toolset != "" {
		sets = []string{settings.Toolset}
	}
	chosen, err := all.Select(settings.Tools, sets)
	if err != nil {
		return nil, fmt.Errorf("%w: rondo tools lists what there is", err)
	}
	return chosen.Tools(), nil
}

// noopSize is how many bytes the tool that does nothing returns, which is for
// benchmarks: RONDO_NOOP_BYTES, 0 for its default.
func (e *environment) noopSize() (int, error) {
	v := e.Getenv("RONDO_NOOP_BYTES")
	if v == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("RONDO_NOOP_BYTES is %q: it must be a number of bytes", v)
	}
	return n, nil
}

// agentOptions are what differs between the agents of one setup.
type agentOptions struct {
	listener rondo.Listener
	// denied is told of each command that is not run.
	denied func(text string)
}

func (s *setup) agent(o agentOptions) (*rondo.Agent, error) {
	opts := rondo.Options{
		Model: s.model, Tools: s.tools, System: s.prompt.text, Store: s.store, Workspace: s.workspace.Dir(),
		Limits: s.limits(), Effort: s.settings.Effort, ResultLimits: tool.Limits{SpillDir: s.spill}, Now: s.env.Now,
		Secrets: s.models.secrets, Context: s.contextOptions(), Approve: approval(s.guard, o.denied), Hooks: s.hooks,
		Title: s.title,
	}
	if o.listener != nil {
		opts.Listeners = []rondo.Listener{o.listener}
	}
	if err := s.keepSnapshots(&opts); err != nil {
		return nil, err
	}
	return rondo.New(opts)
}

func (s *setup) limits() loop.Limits {
	a := s.settings.Agent
	return loop.Limits{
		MaxRounds: a.MaxTurns, MaxErrors: a.MaxErrors, MaxInputTokens: a.MaxBudgetInputTokens, MaxExecution: a.MaxExecution,
		RepeatTold: a.RepeatTold, RepeatStop: a.RepeatStop, WarnAt: a.BudgetWarningAt,
	}
}

// find turns what --resume says into the id of a session; empty for none.
func (s *setup) find(ctx context.Context, ref string) (string, error) {
	if ref == "" {
		return "", nil
	}
	found, err := s.store.Find(ctx, ref, s.workspace.Dir())
	if errors.Is(err, store.ErrNotFound) && ref == store.Last {
		if other, err := s.store.Find(ctx, ref, ""); err == nil {
			return "", usagef("--resume: no session was used in %s yet: the last one, in %s, is --resume %s", s.workspace.Dir(), other.Workspace, other.ID)
		}
	}
	if err != nil {
		return "", usage(fmt.Errorf("--resume: %w", sessionError(ref, err)))
	}
	return found.ID, nil
}

// note tells the user what is worth knowing before a run.
func (e *environment) note(notes []string) {
	for _, n := range notes {
		fmt.Fprintf(e.Stderr, "rondo: %s\n", n)
	}
}

// isFile returns v as a file, if it is one.
func isFile(v any) (*os.File, bool) {
	f, ok := v.(*os.File)
	return f, ok
}
