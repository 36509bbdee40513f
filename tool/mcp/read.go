package mcp

import (
	"context"
	_ "embed" // for the text of the tool
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rondo-engine/rondo/tool"
)

//go:embed read.md
var readText string

// readName is the tool that reads resources and prompts.
const readName = "mcp_read"

type readArgs struct {
	Server    string            `json:"server"`
	URI       string            `json:"uri,omitzero"`
	Prompt    string            `json:"prompt,omitzero"`
	Arguments map[string]string `json:"arguments,omitzero"`
}

// reader makes the tool that reads resources and prompts; nil where no server
// has any.
func (s *Servers) reader() *tool.Tool {
	var having []string
	for _, one := range s.all {
		if o := one.offer; o != nil && len(o.Resources)+len(o.Templates)+len(o.Prompts) > 0 {
			having = append(having, one.name)
		}
	}
	if len(having) == 0 {
		return nil
	}
	return tool.Must(tool.New(tool.Tool{
		Name: readName, Description: strings.TrimSpace(readText) + " Servers: " + strings.Join(having, ", ") + ".",
		Toolset: "mcp", Untrusted: true, ReadOnly: true,
	}, func(ctx context.Context, _ tool.Call, a readArgs) (tool.Result, error) {
		i := slices.IndexFunc(s.all, func(one *server) bool { return one.name == a.Server && one.offer != nil })
		if i < 0 {
			return tool.Result{}, fmt.Errorf("there is no server %q: it is one of %s", a.Server, strings.Join(having, ", "))
		}
		return s.all[i].read(ctx, a)
	}))
}

func (s *server) read(ctx context.Context, a readArgs) (tool.Result, error) {
	if a.URI != "" && a.Prompt != "" {
		return tool.Result{}, errors.New("give either uri or prompt")
	}
	if a.URI == "" && a.Prompt == "" {
		return tool.Result{Text: s.offer.list()}, nil
	}
	session, err := s.connected(ctx)
	if err != nil {
		return tool.Result{}, fmt.Errorf("the MCP server %s was not reached: %w", s.name, err)
	}
	if a.Prompt != "" {
		res, err := session.GetPrompt(ctx, &sdk.GetPromptParams{Name: a.Prompt, Arguments: a.Arguments})
		if err != nil {
			return tool.Result{}, s.failed(ctx, session, err)
		}
		var all []sdk.Content
		for _, m := range res.Messages {
			all = append(all, &sdk.TextContent{Text: string(m.Role) + ":"}, m.Content)
		}
		return content(all), nil
	}
	res, err := session.ReadResource(ctx, &sdk.ReadResourceParams{URI: a.URI})
	if err != nil {
		return tool.Result{}, s.failed(ctx, session, err)
	}
	var all []sdk.Content
	for _, r := range res.Contents {
		all = append(all, &sdk.EmbeddedResource{Resource: r})
	}
	return content(all), nil
}

// list is what a server has beside its tools, a line each.
func (o *offer) list() string {
	var b strings.Builder
	line := func(kind, name, text string) {
		text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
		fmt.Fprintf(&b, "%s %s  %s\n", kind, name, text)
	}
	for _, r := range o.Resources {
		line("resource", r.URI, r.Name+" "+r.Description)
	}
	for _, t := range o.Templates {
		line("resource template", t.URITemplate, t.Name+" "+t.Description)
	}
	for _, p := range o.Prompts {
		var args []string
		for _, a := range p.Arguments {
			args = append(args, a.Name)
		}
		line("prompt", p.Name+"("+strings.Join(args, ", ")+")", p.Description)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// List returns what the named server offers beside its tools, a line each;
// empty where it has nothing or is not there.
func (s *Servers) List(name string) string {
	for _, one := range s.all {
		if one.name == name && one.offer != nil {
			return one.offer.list()
		}
	}
	return ""
}
