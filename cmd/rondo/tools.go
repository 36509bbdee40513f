package main

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/internal/config"
	"github.com/rondo-engine/rondo/tool"
	"github.com/rondo-engine/rondo/tool/builtin"
	"github.com/rondo-engine/rondo/tool/web"
)

func newToolsCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "tools [NAME]",
		Short: "List the tools and what each costs",
		Long: `List the tools that a run offers by default, the set that each belongs to, and
about how many tokens of every request its description takes. With a name, show
what the model is told of that tool.`,
		Example: `  rondo tools
  rondo tools edit_file`,
		Args: argCount(0, 1, "at most one tool"),
		RunE: func(_ *cobra.Command, args []string) error {
			ws, err := builtin.OpenWorkspace(env.Dir, builtin.WorkspaceOptions{})
			if err != nil {
				return usage(err)
			}
			settings := config.Default()
			tools := append(builtin.All(builtin.Options{Workspace: ws, Processes: builtin.NewProcesses(builtin.ProcessesOptions{})}), agentTools(&settings, nil)...)
			tools = append(tools, web.Tools(web.Options{Look: rondo.Aside{}.Ask})...)
			if len(args) == 1 {
				err = showTool(env, tools, args[0])
			} else {
				err = listTools(env, tools)
			}
			return errors.Join(err, ws.Close())
		},
	}
}

func listTools(env *environment, tools []*tool.Tool) error {
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	total := 0
	fmt.Fprintln(w, "name\ttoolset\ttokens\tdoes")
	for _, t := range tools {
		n := toolTokens(t)
		total += n
		first, _, _ := strings.Cut(t.Description, "\n")
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", t.Name, t.Toolset, n, brief(first, 70))
	}
	fmt.Fprintf(w, "total\t\t%d\t\n", total)
	return w.Flush()
}

func showTool(env *environment, tools []*tool.Tool, name string) error {
	var names []string
	for _, t := range tools {
		if t.Name == name {
			fmt.Fprintf(env.Stdout, "%s (%s, about %d tokens)\n\n%s\n\n%s\n", t.Name, t.Toolset, toolTokens(t), strings.TrimSpace(t.Description), t.Schema)
			return nil
		}
		names = append(names, t.Name)
	}
	return usagef("there is no tool %q: it is one of %s", name, strings.Join(names, ", "))
}

// charsPerToken is how many characters of a request make a token before a
// model's own number is known.
const charsPerToken = 3.0

// toolTokens estimates what a tool takes of each request.
func toolTokens(t *tool.Tool) int {
	const around = len(`{"type":"function","function":{"name":"","description":"","parameters":}},`)
	n := around + utf8.RuneCountInString(t.Name) + utf8.RuneCountInString(t.Description) + utf8.RuneCount(t.Schema)
	return int(float64(n)/charsPerToken + 0.5)
}
