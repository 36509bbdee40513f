package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rondo-engine/rondo/internal/config"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/provider"
)

// settingFlag is a flag that sets a key of the configuration.
type settingFlag struct {
	name, path, usage string
	// isBool flags need no value.
	isBool bool
}

// modelFlags choose a model.
var modelFlags = []settingFlag{
	{name: "model", path: "model", usage: "model, as `PROVIDER/NAME` or NAME"},
	{name: "provider", path: "provider", usage: "provider `NAME`"},
	{name: "base-url", path: "base_url", usage: "endpoint `URL`, such as http://127.0.0.1:8000/v1"},
	{name: "api-mode", path: "api_mode", usage: "protocol `MODE`: chat_completions, codex_responses, anthropic_messages or gemini_generate_content"},
	{name: "context-window", path: "context_window", usage: "the model's context window in `TOKENS`"},
	{name: "max-output-tokens", path: "max_output_tokens", usage: "limit on a reply in `TOKENS`"},
}

// limitFlags bound a run.
var limitFlags = []settingFlag{
	{name: "max-turns", path: "agent.max_turns", usage: "at most `N` rounds"},
	{name: "max-errors", path: "agent.max_errors", usage: "at most `N` failed tool calls in a row; 0 for no limit"},
	{name: "max-budget-input-tokens", path: "agent.max_budget_input_tokens", usage: "at most `N` input tokens in all; 0 for no limit"},
	{name: "max-execution", path: "agent.max_execution", usage: "at most for `DURATION`, as in 10m; 0s for no limit"},
	{name: "snapshot", path: "agent.snapshot", usage: "save a snapshot `WHEN`: every_tool_round, every_round or manual"},
}

// toolFlags choose tools and what they may do.
var toolFlags = []settingFlag{
	{name: "tools", path: "tools", usage: "only these tools, as in `A,B`"},
	{name: "no-tools", path: "no_tools", usage: "no tools", isBool: true},
	{name: "toolset", path: "toolset", usage: "only the tools of the set `NAME`"},
	{name: "approve", path: "approve", usage: "dangerous commands, `HOW`: ask, deny or all"},
	{name: "sandbox", path: "sandbox", usage: "confinement of the shell, `HOW`: off, workspace or read-only"},
}

// settingFlags are the flags of one command that set keys.
type settingFlags struct {
	flags *pflag.FlagSet
	rows  []settingFlag
}

// addSettings gives c the flags of rows. Their values are checked when the
// configuration is loaded.
func addSettings(c *cobra.Command, rows ...[]settingFlag) *settingFlags {
	s := &settingFlags{flags: c.Flags()}
	for _, group := range rows {
		for _, row := range group {
			f := s.flags.VarPF(&flagText{isBool: row.isBool}, row.name, "", row.usage)
			if row.isBool {
				f.NoOptDefVal = "true"
			}
			s.rows = append(s.rows, row)
		}
	}
	return s
}

// flagText is a flag's text, which the configuration gives a type.
type flagText struct {
	text   string
	isBool bool
}

// Set takes the text as it is.
func (f *flagText) Set(text string) error {
	f.text = text
	return nil
}

// String returns the text.
func (f *flagText) String() string { return f.text }

// Type names the type for --help.
func (f *flagText) Type() string {
	if f.isBool {
		return "bool"
	}
	return "string"
}

// given returns the flags that are on the command line.
func (s *settingFlags) given() []config.Setting {
	var all []config.Setting
	for _, row := range s.rows {
		if f := s.flags.Lookup(row.name); f.Changed {
			all = append(all, config.Setting{Path: row.path, Text: f.Value.String(), From: "--" + row.name})
		}
	}
	return all
}

// load reads the configuration that holds in the workspace dir.
func (e *environment) load(dir string, flags []config.Setting) (*config.Loaded, error) {
	home, err := e.home()
	if err != nil {
		return nil, err
	}
	if err := checkHome(home); err != nil {
		return nil, err
	}
	l, err := config.Load(config.Options{Home: home, Dir: dir, Getenv: e.Getenv, Flags: flags})
	return l, usage(err)
}

// resolve chooses the model that the configuration asks for.
func (e *environment) resolve(ctx context.Context, l *config.Loaded) (*provider.Resolved, error) {
	s, err := e.providerSettings(l)
	if err != nil {
		return nil, usage(err)
	}
	r, err := provider.Resolve(ctx, s)
	return r, usage(err)
}

// providerSettings turns the configuration into what provider.Resolve takes.
// Flags and variables hold for whatever is chosen; what the files say at their
// top of an endpoint belongs to the provider that they name.
func (e *environment) providerSettings(l *config.Loaded) (provider.Settings, error) {
	s, err := e.baseSettings(l)
	if err != nil {
		return s, err
	}
	s.Model, s.Provider = l.Model, l.Provider
	s.ContextWindow, s.MaxOutput = l.ContextWindow, l.MaxOutputTokens
	if first, _, ok := strings.Cut(l.Model, "/"); ok && l.Provider != "" {
		if k, known := provider.Find(first); known && k.Name != l.Provider && l.Layer("model") != l.Layer("provider") {
			// The stronger of two that contradict each other wins.
			if l.Layer("model") > l.Layer("provider") {
				s.Provider = ""
			} else if k, isKnown := provider.Find(l.Provider); isKnown && !k.Vendors && !k.Local {
				s.Model = ""
			}
		}
	}
	if l.Layer("base_url") >= config.EnvLayer {
		s.BaseURL = l.BaseURL
	}
	if l.Layer("api_key") >= config.EnvLayer {
		s.APIKey = l.APIKey
	}
	if l.Layer("api_mode") >= config.EnvLayer {
		s.APIMode, err = parseMode(l.APIMode)
	}
	return s, err
}

// baseSettings holds what every model of the configuration shares.
func (e *environment) baseSettings(l *config.Loaded) (provider.Settings, error) {
	s := provider.Settings{
		Env: e.Getenv, Command: runKeyCommand,
		Endpoints: map[string]provider.Endpoint{}, Models: map[string]provider.ModelSettings{},
	}
	for name, p := range l.Providers {
		if k, ok := provider.Find(name); ok {
			name = k.Name
		}
		end, err := endpoint(p.Endpoint)
		if err != nil {
			return s, err
		}
		end.Model, end.Quirks = p.Model, provider.Overrides(p.Quirks)
		s.Endpoints[name] = end
	}
	for name, m := range l.Models {
		s.Models[name] = provider.ModelSettings{
			ContextWindow: m.ContextWindow, MaxOutput: m.MaxOutputTokens,
			Price: (*model.Price)(m.Price), Quirks: provider.Overrides(m.Quirks),
		}
	}
	return s, topEndpoint(&l.Files, s.Endpoints)
}

// topEndpoint adds the endpoint at the top of the files to those by name.
func topEndpoint(c *config.Config, endpoints map[string]provider.Endpoint) error {
	top, err := endpoint(c.Endpoint)
	if err != nil || c.Endpoint == (config.Endpoint{}) {
		return err
	}
	owner := ownerOf(c.Provider, c.Model, endpoints)
	if owner == "" && c.BaseURL == "" {
		return errors.New("the configuration has a key or an api_mode at its top, but names no provider: add provider or base_url beside it, or move it under providers.NAME")
	}
	if owner == "" {
		owner = provider.Custom
	}
	named := endpoints[owner]
	top.Model, top.Quirks = named.Model, named.Quirks
	endpoints[owner] = top
	return nil
}

// targetSettings turns a model of the configuration beside the main one, such
// as a fallback, into what provider.Resolve takes.
func (e *environment) targetSettings(l *config.Loaded, t config.Target) (provider.Settings, error) {
	s, err := e.baseSettings(l)
	if err != nil {
		return s, err
	}
	end, err := endpoint(t.Endpoint)
	if err != nil {
		return s, err
	}
	s.Provider, s.Model, s.BaseURL, s.APIMode, s.APIKey = t.Provider, t.Model, t.BaseURL, end.APIMode, t.APIKey
	if t.KeyEnv != "" || t.KeyCommand != "" {
		owner := cmp.Or(ownerOf(t.Provider, t.Model, s.Endpoints), provider.Custom)
		named := s.Endpoints[owner]
		named.KeyEnv, named.KeyCommand, named.APIKey = t.KeyEnv, t.KeyCommand, ""
		s.Endpoints[owner] = named
	}
	return s, nil
}

// ownerOf returns the provider that a name of one or of a model names; empty
// for none.
func ownerOf(name, modelName string, endpoints map[string]provider.Endpoint) string {
	if first, _, ok := strings.Cut(modelName, "/"); ok && name == "" {
		name = first
		if _, configured := endpoints[first]; !configured {
			if _, known := provider.Find(first); !known {
				return ""
			}
		}
	}
	if k, ok := provider.Find(name); ok {
		return k.Name
	}
	return name
}

func endpoint(c config.Endpoint) (provider.Endpoint, error) {
	mode, err := parseMode(c.APIMode)
	return provider.Endpoint{BaseURL: c.BaseURL, APIMode: mode, APIKey: c.APIKey, KeyEnv: c.KeyEnv, KeyCommand: c.KeyCommand}, err
}

// parseMode reads the name of an API mode; empty chooses one.
func parseMode(name string) (model.Mode, error) {
	if name == "" {
		return "", nil
	}
	return model.ParseMode(name)
}

// keyCommandTime bounds a command that prints a key: it may ask for a touch.
const keyCommandTime = time.Minute

func runKeyCommand(ctx context.Context, command string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, keyCommandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("%q failed (%w): %s", command, err, strings.TrimSpace(string(exit.Stderr)))
	}
	return string(out), err
}
