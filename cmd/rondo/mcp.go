package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/rondo-engine/rondo/internal/config"
	"github.com/rondo-engine/rondo/tool"
	"github.com/rondo-engine/rondo/tool/mcp"
)

// openMCP starts the servers of the settings and returns their tools.
func (s *setup) openMCP(ctx context.Context, dir string) []*tool.Tool {
	servers := s.env.mcpServers(s.settings, dir)
	if len(servers) == 0 || s.settings.NoTools {
		return nil
	}
	s.mcp = mcp.Open(ctx, servers, s.env.mcpOptions())
	s.notes = append(s.notes, s.mcp.Warnings()...)
	return s.mcp.Tools()
}

func (s *setup) closeMCP() {
	if s.mcp == nil {
		return
	}
	if err := s.mcp.Close(); err != nil {
		fmt.Fprintf(s.env.Stderr, "rondo: close the MCP servers: %v\n", err)
	}
}

func (e *environment) mcpOptions() mcp.Options {
	return mcp.Options{Environ: os.Environ(), Version: version()}
}

// mcpServers are the servers of the settings that are enabled. $NAME in their
// variables and headers is the variable of that name.
func (e *environment) mcpServers(settings *config.Loaded, dir string) map[string]mcp.Server {
	all := map[string]mcp.Server{}
	for name, c := range settings.MCPServers {
		if c.Enabled != nil && !*c.Enabled {
			continue
		}
		s := mcp.Server{
			Command: c.Command, Args: c.Args, Dir: dir, URL: c.URL, Tools: c.Tools, Parallel: c.Parallel, Timeout: c.Timeout,
		}
		if c.Cwd != "" {
			s.Dir = c.Cwd
			if !filepath.IsAbs(s.Dir) {
				s.Dir = filepath.Join(dir, s.Dir)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(c.Env)) {
			s.Env = append(s.Env, key+"="+os.Expand(c.Env[key], e.Getenv))
		}
		for key, value := range c.Headers {
			if s.Headers == nil {
				s.Headers = map[string]string{}
			}
			s.Headers[key] = os.Expand(value, e.Getenv)
		}
		all[name] = s
	}
	return all
}

func newMCPCommand(env *environment) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "mcp",
		Short: "Manage servers of tools",
		Long: `Manage the servers whose tools the agent may use. They speak the Model Context
Protocol: programs on their standard input and output, or endpoints over HTTP.`,
		Example: `  rondo mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  rondo mcp test files`,
	})
	c.AddCommand(newMCPAdd(env), newMCPList(env), newMCPTest(env), newMCPRemove(env))
	return c
}

func newMCPAdd(env *environment) *cobra.Command {
	var s config.MCPServer
	var vars, headers []string
	c := &cobra.Command{
		Use:   "add NAME [flags] [-- COMMAND ARG...]",
		Short: "Add a server",
		Long: `Write a server to config.yaml in RONDO_HOME: a command to start, or the URL of
one that runs. In the values of variables and headers, $NAME stands for the
variable of that name when the server is started.`,
		Example: `  rondo mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  rondo mcp add house --url https://mcp.corp.example/mcp --header 'Authorization=Bearer $CORP_TOKEN'`,
		Args: argCount(1, 1000, "a name and a command"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				s.Command, s.Args = args[1], args[2:]
			}
			var err error
			if (s.Command == "") == (s.URL == "") {
				return usagef("give either a command, as in rondo mcp add %s -- COMMAND ARG..., or --url", args[0])
			}
			if s.Env, err = pairs("--env", vars); err != nil {
				return err
			}
			if s.Headers, err = pairs("--header", headers); err != nil {
				return err
			}
			file, err := env.homeConfig()
			if err != nil {
				return err
			}
			if err := config.AddServer(file, args[0], s); err != nil {
				return usage(err)
			}
			fmt.Fprintf(env.Stderr, "%s is added to %s; rondo mcp test %s tries it\n", args[0], file, args[0])
			return nil
		},
	}
	c.Flags().StringVar(&s.URL, "url", "", "the `URL` of a server that speaks streamable HTTP")
	c.Flags().StringArrayVar(&vars, "env", nil, "a variable for the command, `NAME=VALUE`")
	c.Flags().StringArrayVar(&headers, "header", nil, "a header for the URL, `NAME=VALUE`")
	return c
}

// pairs reads NAME=VALUE.
func pairs(flag string, list []string) (map[string]string, error) {
	m := map[string]string{}
	for _, p := range list {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, usagef("%s %q: want NAME=VALUE", flag, p)
		}
		m[name] = value
	}
	return m, nil
}

// homeConfig is the user's own configuration file.
func (e *environment) homeConfig() (string, error) {
	home, err := e.home()
	return filepath.Join(home, "config.yaml"), err
}

func newMCPList(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the servers",
		Long:    "List the servers of the configuration, without starting them.",
		Example: "  rondo mcp list",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			settings, err := env.load(env.Dir, nil)
			if err != nil {
				return err
			}
			if len(settings.MCPServers) == 0 {
				fmt.Fprintln(env.Stderr, "rondo: no servers yet: rondo mcp add NAME -- COMMAND adds one")
				return nil
			}
			w := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
			for _, name := range slices.Sorted(maps.Keys(settings.MCPServers)) {
				s := settings.MCPServers[name]
				what, state := s.URL, "enabled"
				if what == "" {
					what = strings.Join(append([]string{s.Command}, s.Args...), " ")
				}
				if s.Enabled != nil && !*s.Enabled {
					state = "disabled"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\n", name, state, what)
			}
			return w.Flush()
		},
	}
}

func newMCPTest(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:     "test [NAME]",
		Short:   "Start servers and list what they offer",
		Long:    "Start a server, or all of them, and list the tools, resources and prompts that it offers.",
		Example: "  rondo mcp test files",
		Args:    argCount(0, 1, "at most one server"),
		RunE: func(c *cobra.Command, args []string) error {
			settings, err := env.load(env.Dir, nil)
			if err != nil {
				return err
			}
			servers := env.mcpServers(settings, env.Dir)
			if len(args) == 1 {
				s, ok := servers[args[0]]
				if !ok {
					return usagef("there is no MCP server %q that is enabled: rondo mcp list shows them", args[0])
				}
				servers = map[string]mcp.Server{args[0]: s}
			}
			return env.testServers(c.Context(), servers)
		},
	}
}

func (e *environment) testServers(ctx context.Context, servers map[string]mcp.Server) error {
	opened := mcp.Open(ctx, servers, e.mcpOptions())
	w := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	for _, t := range opened.Tools() {
		first, _, _ := strings.Cut(t.Description, "\n")
		fmt.Fprintf(w, "%s\t%d\t%s\n", t.Name, toolTokens(t), brief(first, 70))
	}
	err := w.Flush()
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		if text := opened.List(name); text != "" {
			fmt.Fprintf(e.Stdout, "\n%s:\n%s\n", name, text)
		}
	}
	for _, warning := range opened.Warnings() {
		err = errors.Join(err, errors.New(warning))
	}
	return errors.Join(err, opened.Close())
}

func newMCPRemove(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:     "remove NAME",
		Short:   "Remove a server",
		Long:    "Take a server out of config.yaml in RONDO_HOME.",
		Example: "  rondo mcp remove files",
		Args:    argCount(1, 1, "the name of a server"),
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := env.homeConfig()
			if err != nil {
				return err
			}
			had, err := config.RemoveServer(file, args[0])
			if err == nil && !had {
				err = usagef("%s has no MCP server %q: rondo mcp list shows them", file, args[0])
			}
			return err
		},
	}
}
