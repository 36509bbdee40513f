package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/internal/config"
	"github.com/rondo-engine/rondo/tool"
	"github.com/rondo-engine/rondo/tool/builtin"
	"github.com/rondo-engine/rondo/tool/mcp"
	"github.com/rondo-engine/rondo/tool/web"
)

func newToolsCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "tools [NAME]",
		Short: "List the tools and what each costs",
		Long: `List the tools that a run here offers by default, the set that each belongs to,
and about how many tokens of every request its description takes; then the sets,
which --toolset chooses from. The MCP servers of the settings are started for it;
one that does not answer is named on stderr. With the name of a tool, show what
the model is told of it; with that of a set, list that set alone.`,
		Example: `  rondo tools
  rondo tools edit_file
  rondo tools files`,
		Args: argCount(0, 1, "at most one tool or set"),
		RunE: func(c *cobra.Command, args []string) error {
			settings, err := env.load(env.Dir, nil)
			if err != nil {
				return err
			}
			ws, err := builtin.OpenWorkspace(env.Dir, builtin.WorkspaceOptions{})
			if err != nil {
				return usage(err)
			}
			tools, err := env.allTools(ws, settings)
			if err != nil {
				return errors.Join(err, ws.Close())
			}
			servers := mcp.Open(c.Context(), env.mcpServers(settings, env.Dir), env.mcpOptions())
			env.note(servers.Warnings())
			err = showTools(env, append(tools, servers.Tools()...), args)
			return errors.Join(err, servers.Close(), ws.Close())
		},
	}
}

// allTools are the tools that a run with these settings offers by default,
// without those of MCP servers. They are not to be run.
func (e *environment) allTools(ws *builtin.Workspace, settings *config.Loaded) ([]*tool.Tool, error) {
	home, err := e.home()
	if err != nil {
		return nil, err
	}
	tools := builtin.All(builtin.Options{Workspace: ws, Processes: builtin.NewProcesses(builtin.ProcessesOptions{})})
	tools = append(tools, agentTools(&settings.Config, nil)...)
	tools = append(tools, web.Tools(web.Options{Look: rondo.Aside{}.Ask})...)
	if m := e.memoryStore(home, settings); m != nil {
		tools = append(tools, m.Tool())
	}
	return tools, nil
}

// showTools lists tools and their sets, one set, or one tool.
func showTools(env *environment, tools []*tool.Tool, args []string) error {
	if len(args) == 0 {
		return errors.Join(listTools(env, tools), listToolsets(env, tools))
	}
	set := slices.DeleteFunc(slices.Clone(tools), func(t *tool.Tool) bool { return t.Toolset != args[0] })
	if len(set) > 0 && !slices.ContainsFunc(tools, func(t *tool.Tool) bool { return t.Name == args[0] }) {
		return listTools(env, set)
	}
	return showTool(env, tools, args[0])
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

// listToolsets sums the tools up by their sets, in the order of the tools.
func listToolsets(env *environment, tools []*tool.Tool) error {
	var names []string
	tokens, of := map[string]int{}, map[string][]string{}
	for _, t := range tools {
		if !slices.Contains(names, t.Toolset) {
			names = append(names, t.Toolset)
		}
		tokens[t.Toolset] += toolTokens(t)
		of[t.Toolset] = append(of[t.Toolset], t.Name)
	}
	w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\ntoolset\ttools\ttokens\tholds")
	for _, name := range names {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\n", name, len(of[name]), tokens[name], brief(strings.Join(of[name], ", "), 90))
	}
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
	return usagef("there is no tool or toolset %q: the tools are %s", name, strings.Join(names, ", "))
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
