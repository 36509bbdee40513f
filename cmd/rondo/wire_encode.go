package main

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/anthropic"
	"github.com/rondo-engine/rondo/model/provider"
	"github.com/rondo-engine/rondo/model/responses"
)

// encodeOptions are the flags of rondo wire encode.
type encodeOptions struct {
	api                               apiFlag
	model, provider, baseURL, account string
	system, effort, tools, ephemeral  string
	maxOutput                         int
	thinking, noStream                bool
}

func newWireEncode(env *environment) *cobra.Command {
	o := encodeOptions{}
	c := &cobra.Command{
		Use:   "encode --api MODE --model NAME [FILE]",
		Short: "Show the request that a history would become",
		Long: `Encode a history as the body of the request that would be sent. The history is a
JSON array of messages, of Responses input items, or the body of a Messages
request. It is repaired first; what that changed is told on stderr.`,
		Example: `  rondo wire encode --api chat_completions --model gpt-x history.json
  rondo wire encode --api anthropic_messages --model claude-x --thinking --tools tools.json history.json`,
		Args: fileArg,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.api.need(); err != nil {
				return err
			}
			data, err := env.slurp(args)
			if err != nil {
				return err
			}
			return encode(c, env, &o, data)
		},
	}
	f := c.Flags()
	addAPI(c, &o.api)
	f.StringVar(&o.model, "model", "", "name of the model")
	f.StringVar(&o.provider, "provider", "", "name of the provider, for its quirks and for what only it understands")
	f.StringVar(&o.baseURL, "base-url", "", "endpoint `URL`, for its quirks")
	f.StringVar(&o.account, "account", "", "digest of the account that would send it")
	f.StringVar(&o.system, "system", "", "system prompt")
	f.StringVar(&o.ephemeral, "ephemeral", "", "note for this request only")
	f.StringVar(&o.effort, "effort", "", "reasoning effort")
	f.StringVar(&o.tools, "tools", "", "`FILE` with a JSON array of tools")
	f.IntVar(&o.maxOutput, "max-output-tokens", 0, "limit on the reply in `TOKENS`")
	f.BoolVar(&o.thinking, "thinking", false, "ask for thinking")
	f.BoolVar(&o.noStream, "no-stream", false, "ask for the reply in one piece")
	return c
}

func encode(c *cobra.Command, env *environment, o *encodeOptions, data []byte) error {
	system, msgs, err := parseMessages(data)
	if err != nil {
		return badInput("history", err)
	}
	history, changes := message.Normalise(msgs)
	for _, ch := range changes {
		fmt.Fprintf(env.Stderr, "message %d, %s: %s\n", ch.Index, ch.Rule, ch.Detail)
	}
	p, err := o.profile(c, env)
	if err != nil {
		return err
	}
	req := &model.Request{System: system, History: history, Effort: o.effort, Ephemeral: o.ephemeral, MaxOutputTokens: o.maxOutput, NoStream: o.noStream}
	if o.system != "" {
		req.System = o.system
	}
	if req.Tools, err = readTools(env, o.tools); err != nil {
		return err
	}
	pieces, err := encodeRequest(p, req)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "%s\n", bytes.Join(pieces, nil))
	return err
}

// profile describes the model that the request is for. Its name alone does for
// the provider that speaks the protocol natively.
func (o *encodeOptions) profile(c *cobra.Command, env *environment) (*model.Profile, error) {
	s := provider.Settings{Model: o.model, Provider: o.provider, BaseURL: o.baseURL, APIMode: o.api.mode, APIKey: "none", Env: env.Getenv}
	if s.Provider == "" {
		s.Provider = map[model.Mode]string{model.CodexResponses: "openai", model.AnthropicMessages: "anthropic", model.GeminiGenerate: "gemini-native"}[o.api.mode]
	}
	if k, ok := provider.Find(s.Provider); (!ok || k.BaseURL == "") && s.BaseURL == "" {
		s.BaseURL = "https://provider.invalid/v1"
	}
	if s.Model == "" {
		return nil, usagef("which model? Add --model NAME")
	}
	r, err := provider.Resolve(c.Context(), s)
	if err != nil {
		return nil, usage(err)
	}
	r.Profile.Account = o.account
	r.Profile.Thinking = r.Profile.Thinking || o.thinking
	return r.Profile, nil
}

// parseMessages reads a history in any of the forms that people have one in:
// messages, Responses items, or the body of a Messages request.
func parseMessages(data []byte) (system string, msgs []*message.Message, err error) {
	switch data = bytes.TrimSpace(data); {
	case len(data) == 0:
		return "", nil, errors.New("it is empty")
	case data[0] == '{':
		return anthropic.ParseMessages(data)
	case holdsItems(data):
		msgs, err = responses.ParseItems(data)
		return "", msgs, err
	}
	msgs, err = message.ParseHistory(data)
	return "", msgs, err
}

// holdsItems tells Responses items from messages: they have a type.
func holdsItems(data []byte) bool {
	var items []struct {
		Type *string `json:"type"`
		Role *string `json:"role"`
	}
	if err := json.Unmarshal(data, &items, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return false
	}
	for _, item := range items {
		if item.Type != nil && (item.Role == nil || *item.Type == "message") {
			return true
		}
	}
	return false
}

// readTools reads tools in the form of chat_completions, of the Responses API,
// of the Messages API or of MCP. Their schemas become what a run would send; a
// tool that cannot be sent is left out, which is told on stderr.
func readTools(env *environment, file string) (*model.ToolSet, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(env.path(file))
	if err != nil {
		return nil, usage(err)
	}
	type spec struct {
		Name        string             `json:"name"`
		Description string             `json:"description"`
		Parameters  stdjson.RawMessage `json:"parameters"`
		InputSchema stdjson.RawMessage `json:"input_schema"`
		MCPSchema   stdjson.RawMessage `json:"inputSchema"`
		Schema      stdjson.RawMessage `json:"schema"`
	}
	var tools []struct {
		spec
		Function *spec `json:"function"`
	}
	if err := stdjson.Unmarshal(data, &tools); err != nil {
		return nil, usagef("--tools %s is no JSON array of tools: %w", file, err)
	}
	set := &model.ToolSet{}
	for i, t := range tools {
		s := t.spec
		if t.Function != nil {
			s = *t.Function
		}
		if strings.TrimSpace(s.Name) == "" {
			return nil, usagef("--tools %s: tool %d has no name", file, i)
		}
		schema := s.Parameters
		for _, other := range []stdjson.RawMessage{s.InputSchema, s.MCPSchema, s.Schema, stdjson.RawMessage(`{"type":"object"}`)} {
			if schema == nil {
				schema = other
			}
		}
		sent, err := model.NormaliseSchema(schema)
		if err != nil {
			fmt.Fprintf(env.Stderr, "tool %s is left out: %v\n", s.Name, err)
			continue
		}
		set.Specs = append(set.Specs, model.ToolSpec{Name: s.Name, Description: s.Description, Schema: sent})
	}
	return set, nil
}
