package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/rondo-engine/rondo/memory"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/prompt"
	"github.com/rondo-engine/rondo/tool/builtin"
	"github.com/rondo-engine/rondo/window"
)

func newMemoryCommand(env *environment) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "memory",
		Short: "Show and change what is remembered",
		Long: `Show what the agent remembers from session to session: MEMORY.md for the work,
USER.md for you, both in memories in RONDO_HOME. You may edit them by hand; a
line of § stands between entries.`,
		Example: `  rondo memory
  rondo memory add "Tests of this machine run with make check."
  rondo memory remove --user "likes tea"`,
	})
	c.RunE = func(*cobra.Command, []string) error { return showMemory(env) }
	c.AddCommand(
		newMemoryChange(env, "add ENTRY", "Remember something", `  rondo memory add --user "Prefers British spelling."`, 1, func(s *memory.Store, t memory.Target, a []string) error {
			_, err := s.Add(t, a[0])
			return err
		}),
		newMemoryChange(env, "replace PART ENTRY", "Replace the entry that holds PART", `  rondo memory replace "make check" "Tests run with make test."`, 2, func(s *memory.Store, t memory.Target, a []string) error {
			return s.Replace(t, a[0], a[1])
		}),
		newMemoryChange(env, "remove PART", "Forget the entry that holds PART", `  rondo memory remove "make check"`, 1, func(s *memory.Store, t memory.Target, a []string) error {
			return s.Remove(t, a[0])
		}),
	)
	return c
}

// openMemory opens the memory for a command, also where runs do not use it.
func openMemory(env *environment) (*memory.Store, error) {
	l, err := env.load(env.Dir, nil)
	if err != nil {
		return nil, err
	}
	home, err := env.home()
	if err != nil {
		return nil, err
	}
	l.Memory.Enabled = true
	return env.memoryStore(home, l), nil
}

func showMemory(env *environment) error {
	s, err := openMemory(env)
	if err != nil {
		return err
	}
	for _, t := range []memory.Target{memory.Memory, memory.User} {
		entries, err := s.Entries(t)
		if err != nil {
			return err
		}
		size := utf8.RuneCountInString(strings.Join(entries, "\n§\n"))
		fmt.Fprintf(env.Stdout, "%s (%d of %d characters)\n", s.Path(t), size, s.Limit(t))
		for _, e := range entries {
			fmt.Fprintf(env.Stdout, "  - %s\n", strings.ReplaceAll(e, "\n", "\n    "))
		}
	}
	return nil
}

func newMemoryChange(env *environment, use, short, example string, args int, change func(*memory.Store, memory.Target, []string) error) *cobra.Command {
	user := false
	c := &cobra.Command{
		Use: use, Short: short, Example: example, Args: argCount(args, args, "an entry or a part of one, in quotes"),
		Long: short + ". New sessions see the change; running ones keep the prompt that they began with.",
		RunE: func(_ *cobra.Command, given []string) error {
			s, err := openMemory(env)
			if err != nil {
				return err
			}
			target := memory.Memory
			if user {
				target = memory.User
			}
			return usage(change(s, target, given))
		},
	}
	c.Flags().BoolVar(&user, "user", false, "what is known of you (USER.md)")
	return c
}

func newSkillsCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "skills [NAME]",
		Short: "List the skills, or show one",
		Long: `List the skills that the agent can read up on, with where each lies, or print
one. A skill is a directory with a file SKILL.md that begins with a name and a
description between lines of ---, as agentskills.io describes it. They are
looked for in skills in RONDO_HOME, in .rondo/skills and .agents/skills of the
workspace, and in prompt.skill_dirs.`,
		Example: `  rondo skills
  rondo skills release`,
		Args: argCount(0, 1, "at most one skill"),
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := env.load(env.Dir, nil)
			if err != nil {
				return err
			}
			dirs, err := env.skillDirs(l, env.Dir)
			if err != nil {
				return err
			}
			skills, wrong := prompt.Skills(dirs...)
			if wrong != nil {
				fmt.Fprintf(env.Stderr, "rondo: %v\n", wrong)
			}
			if len(args) == 1 {
				return showSkill(env, skills, args[0])
			}
			w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
			for _, s := range skills {
				fmt.Fprintf(w, "%s\t%s\t%s\n", s.Name, brief(s.Description, 70), s.Path)
			}
			return w.Flush()
		},
	}
}

func showSkill(env *environment, skills []prompt.Skill, name string) error {
	var names []string
	for _, s := range skills {
		if s.Name == name {
			text, err := readOptional(s.Path)
			if err != nil {
				return err
			}
			fmt.Fprintln(env.Stdout, strings.TrimRight(text, "\n"))
			return nil
		}
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return usagef("there is no skill %q, nor any other: rondo skills --help tells where they are looked for", name)
	}
	return usagef("there is no skill %q: it is one of %s", name, strings.Join(names, ", "))
}

func newPromptSizeCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "prompt-size",
		Short: "Show what each part of the prompt costs",
		Long: `Show about how many tokens of every request each part of the system prompt takes,
and the tools. What is the same from request to request is read from the
provider's cache where it has one.`,
		Example: "  rondo prompt-size",
		Args:    noArgs,
		RunE:    func(*cobra.Command, []string) error { return showPromptSize(env) },
	}
}

func showPromptSize(env *environment) error {
	l, err := env.load(env.Dir, nil)
	if err != nil {
		return err
	}
	home, err := env.home()
	if err != nil {
		return err
	}
	mem := env.memoryStore(home, l)
	f, notes, err := env.facts(l, env.Dir, mem)
	if err != nil {
		return err
	}
	env.note(notes)
	f.Tools = true
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	total := 0
	row := func(name string, weight window.Weight) {
		n := weight.Tokens(window.DefaultCharsPerToken)
		total += n
		fmt.Fprintf(w, "%d\t  %s\t\n", n, name)
	}
	for _, p := range prompt.Parts(f) {
		row(p.Name, window.Weight{Chars: window.Text(p.Text)})
	}
	ws, err := builtin.OpenWorkspace(env.Dir, builtin.WorkspaceOptions{})
	if err != nil {
		return usage(err)
	}
	defer ws.Close()
	tools := builtin.All(builtin.Options{Workspace: ws, Processes: builtin.NewProcesses(builtin.ProcessesOptions{})})
	if mem != nil {
		tools = append(tools, mem.Tool())
	}
	for _, t := range tools {
		row("tool "+t.Name, window.Tools(&model.ToolSet{Specs: []model.ToolSpec{{Name: t.Name, Description: t.Description, Schema: t.Schema}}}))
	}
	fmt.Fprintf(w, "%d\t  total\t\n", total)
	return w.Flush()
}
