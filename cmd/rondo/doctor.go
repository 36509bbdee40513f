package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rondo-engine/rondo/internal/config"
	"github.com/rondo-engine/rondo/internal/mask"
	"github.com/rondo-engine/rondo/internal/sandbox"
	"github.com/rondo-engine/rondo/model/provider"
	"github.com/rondo-engine/rondo/model/wire"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/postgres"
)

func newDoctorCommand(env *environment) *cobra.Command {
	online := false
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check what a first run needs",
		Long: `Check what a run needs and say how to mend what is missing. Nothing is sent to
any provider unless --online is given: then the provider is asked for its models,
which costs nothing.`,
		Example: `  rondo doctor
  rondo doctor --online --model openrouter/qwen/qwen3-coder`,
		Args: noArgs,
	}
	flags := addSettings(c, modelFlags)
	c.RunE = func(c *cobra.Command, _ []string) error {
		d := doctor{env: env, online: online}
		d.examine(c.Context(), flags.given())
		if d.failed > 0 {
			return &statusError{status: statusUsage}
		}
		return nil
	}
	c.Flags().BoolVar(&online, "online", false, "also ask the provider whether the key is right")
	return c
}

// doctor prints a line for each thing it looks at.
type doctor struct {
	env    *environment
	online bool
	failed int
}

func (d *doctor) ok(what, format string, a ...any) { d.line("ok", what, fmt.Sprintf(format, a...), "") }

// warn tells of what a run can do without; advice says how to mend it.
func (d *doctor) warn(what, found, advice string) { d.line("warn", what, found, advice) }

// fail tells of what a run cannot do without.
func (d *doctor) fail(what, found, advice string) {
	d.failed++
	d.line("FAIL", what, found, advice)
}

func (d *doctor) line(verdict, what, found, advice string) {
	fmt.Fprintf(d.env.Stdout, "%-5s %-9s %s\n", verdict, what, found)
	if advice != "" {
		fmt.Fprintf(d.env.Stdout, "%-15s -> %s\n", "", advice)
	}
}

func (d *doctor) examine(ctx context.Context, flags []config.Setting) {
	d.ok("version", "%s", versionLine())
	d.home()
	if l := d.config(flags); l != nil {
		d.sessions(ctx, l)
		d.model(ctx, l)
	}
	d.program("shell", []string{"bash", "sh"}, "install bash: the shell tool runs commands with it")
	d.program("git", []string{"git"}, "install git: without it the agent cannot see or undo changes")
	d.terminal()
	d.sandbox()
}

func (d *doctor) home() {
	home, err := d.env.home()
	if err != nil {
		d.fail("home", err.Error(), "set RONDO_HOME")
		return
	}
	advice := "make it a directory that you may write to, or set RONDO_HOME to another"
	if err := os.MkdirAll(home, 0o700); err != nil {
		d.fail("home", err.Error(), advice)
		return
	}
	f, err := os.CreateTemp(home, ".doctor-*")
	if err != nil {
		d.fail("home", err.Error(), advice)
		return
	}
	err = errors.Join(f.Close(), os.Remove(f.Name()))
	if err != nil {
		d.fail("home", err.Error(), advice)
		return
	}
	d.ok("home", "%s can be written to", home)
}

func (d *doctor) sessions(ctx context.Context, l *config.Loaded) {
	where, advice := "", "move sessions.db in RONDO_HOME aside; a new one is made"
	if l.Store != "" {
		where, advice = " in "+mask.URL(l.Store), "the store is from "+l.Source("store")
	}
	var all []store.Session
	err := d.env.withSessions(ctx, l, func(s store.Full) (err error) {
		all, err = s.List(ctx, store.ListOptions{})
		return err
	})
	switch {
	case errors.Is(err, errNoSessions):
		d.ok("sessions", "none yet")
	case err != nil:
		d.fail("sessions", err.Error(), advice)
	default:
		d.ok("sessions", "%d%s", len(all), where)
	}
}

func (d *doctor) config(flags []config.Setting) *config.Loaded {
	l, err := d.env.load(d.env.Dir, flags)
	if err != nil {
		d.fail("config", err.Error(), "rondo config edit opens the file")
		return nil
	}
	d.ok("config", "%s%s", l.HomeFile, projectNote(l))
	info, err := os.Stat(l.HomeFile)
	if errors.Is(err, fs.ErrNotExist) {
		return l
	}
	if err == nil && info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" && (l.Files.APIKey != "" || postgres.Password(l.Files.Store) != "") {
		d.warn("config", "others can read "+l.HomeFile+", which holds a key or a password", "chmod 600 "+l.HomeFile)
	}
	return l
}

func projectNote(l *config.Loaded) string {
	switch {
	case l.ProjectFile == "":
		return ""
	case l.Trusted:
		return ", " + l.ProjectFile + " (trusted)"
	}
	return ", " + l.ProjectFile + " (not trusted)"
}

func (d *doctor) model(ctx context.Context, l *config.Loaded) {
	r, err := d.env.resolve(ctx, l)
	if err != nil {
		d.fail("model", err.Error(), "rondo models lists what the catalogue knows")
		return
	}
	p := r.Profile
	d.ok("model", "%s/%s: %s", p.Provider, p.Model, r.Why)
	d.ok("endpoint", "%s (%s, from %s)", p.BaseURL, p.Mode, r.URLFrom)
	if r.KeyFrom == "" {
		d.ok("key", "none, and none is needed")
	} else {
		d.ok("key", "from %s", r.KeyFrom)
	}
	if !r.InCatalogue && p.ContextWindow == provider.DefaultWindow {
		d.warn("window", fmt.Sprintf("the catalogue does not know the model; its window is taken to be %d tokens", p.ContextWindow),
			fmt.Sprintf("rondo config set models.%s/%s.context_window TOKENS", p.Provider, p.Model))
	}
	if d.online {
		d.reach(ctx, r)
	}
}

// reach asks the provider for its models.
func (d *doctor) reach(ctx context.Context, r *provider.Resolved) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	names, err := provider.List(ctx, wire.NewHTTPClient(), r.Profile, r.Keys)
	switch {
	case err != nil:
		d.fail("online", err.Error(), "check the endpoint, the key and the network")
	case len(names) > 0 && !contains(names, r.Profile.Model):
		d.warn("online", fmt.Sprintf("the provider answers, but does not list %s among its %d models", r.Profile.Model, len(names)), "check the model's name")
	default:
		d.ok("online", "the provider answers and lists %d models", len(names))
	}
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name || strings.TrimPrefix(n, "models/") == name {
			return true
		}
	}
	return false
}

func (d *doctor) program(what string, names []string, advice string) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			d.ok(what, "%s", path)
			return
		}
	}
	d.warn(what, "no "+strings.Join(names, " or ")+" in PATH", advice)
}

func (d *doctor) terminal() {
	f, ok := d.env.Stdout.(*os.File)
	info, err := os.FileInfo(nil), error(nil)
	if ok {
		info, err = f.Stat()
	}
	if !ok || err != nil || info.Mode()&os.ModeCharDevice == 0 {
		d.ok("terminal", "none: output goes to a file or pipe")
		return
	}
	if t := d.env.Getenv("TERM"); t == "" || t == "dumb" {
		d.warn("terminal", "TERM is not set to a terminal with colours", "set TERM, as in TERM=xterm-256color")
		return
	}
	d.ok("terminal", "%s", d.env.Getenv("TERM"))
}

// sandbox looks whether the kernel can confine the shell.
func (d *doctor) sandbox() {
	ok, text := sandbox.Confined(sandbox.Version())
	switch {
	case ok:
		d.ok("sandbox", "%s", text)
	case runtime.GOOS != "linux":
		d.warn("sandbox", text, "run in a container if the task is not trusted")
	default:
		d.warn("sandbox", text, "boot with landlock in lsm=, or run in a container")
	}
}
