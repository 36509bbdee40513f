package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestEveryCommandExplainsItself looks for a short and a long description and
// an example that begins with the command.
func TestEveryCommandExplainsItself(t *testing.T) {
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		if path := c.CommandPath(); path != "rondo" {
			if c.Short == "" || strings.HasSuffix(c.Short, ".") {
				t.Errorf("%s: short description %q", path, c.Short)
			}
			if len(c.Long) < len(c.Short) || !strings.HasSuffix(c.Long, ".") {
				t.Errorf("%s: long description %q", path, c.Long)
			}
			if !strings.Contains(c.Example, path) && !strings.Contains(c.Example, "rondo ") {
				t.Errorf("%s: example %q", path, c.Example)
			}
		}
		for line := range strings.Lines(c.Long + "\n" + c.Example) {
			if len([]rune(line)) > 121 {
				t.Errorf("%s: a line of the help is %d long", c.CommandPath(), len(line))
			}
		}
		for _, sub := range c.Commands() {
			look(sub)
		}
	}
	look(newRootCommand(&environment{}))
}

// A command is made by its name alone, so the names must be those that the
// commands have.
func TestSubcommandsHaveTheirNames(t *testing.T) {
	for _, s := range subcommands() {
		env := &environment{Args: []string{s.name}}
		root := newRootCommand(env)
		if made := root.Commands(); len(made) != 1 || made[0].Name() != s.name {
			t.Errorf("%s makes %d commands", s.name, len(made))
		}
	}
	if all := newRootCommand(&environment{Args: []string{"help"}}).Commands(); len(all) != len(subcommands()) {
		t.Errorf("help knows %d commands of %d", len(all), len(subcommands()))
	}
}
