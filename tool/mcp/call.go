package mcp

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/tool"
)

// maxDescription bounds what a server may say about a tool, in bytes.
const maxDescription = 2000

// Toolset returns the name of the toolset of a server's tools.
func Toolset(server string) string { return "mcp-" + server }

// tool makes a tool of what a server says of one.
func (s *server) tool(t *sdk.Tool, names *names) (*tool.Tool, error) {
	raw, err := json.Marshal(t.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("its schema: %w", err)
	}
	if t.InputSchema == nil {
		raw = json.RawMessage(`{}`)
	}
	schema, err := model.NormaliseSchema(raw)
	if err != nil {
		return nil, err
	}
	made := &tool.Tool{
		Name: names.of(s.name, t.Name), Description: describe(t), Schema: schema, Toolset: Toolset(s.name),
		Untrusted: true, Timeout: cmp.Or(s.Timeout, 120*time.Second),
		Run: func(ctx context.Context, call tool.Call) (tool.Result, error) { return s.call(ctx, t.Name, call.Args) },
	}
	if s.Parallel {
		made.Access = func(json.RawMessage) tool.Access { return tool.Access{} }
	}
	return made, nil
}

func describe(t *sdk.Tool) string {
	text := tool.Clean(cmp.Or(t.Description, t.Title, t.Name))
	if len(text) > maxDescription {
		text = strings.ToValidUTF8(text[:maxDescription], "") + "…"
	}
	return text
}

// call calls a tool of the server. It is not tried again: nobody knows what a
// call that broke off has done.
func (s *server) call(ctx context.Context, name string, args json.RawMessage) (tool.Result, error) {
	session, err := s.connected(ctx)
	if err != nil {
		return tool.Result{}, fmt.Errorf("the MCP server %s was not reached, so nothing was run: %w", s.name, err)
	}
	res, err := session.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return tool.Result{}, s.failed(ctx, session, err)
	}
	out := content(res.Content)
	if out.Text == "" && len(out.Media) == 0 && res.StructuredContent != nil {
		b, err := json.Marshal(res.StructuredContent)
		if err != nil {
			return tool.Result{}, fmt.Errorf("the result of the MCP server %s: %w", s.name, err)
		}
		out.Text = string(b)
	}
	if res.IsError {
		out.Status = message.StatusError
	}
	return out, nil
}

// failed words an error of the connection or the protocol.
func (s *server) failed(ctx context.Context, session *sdk.ClientSession, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, ok := errors.AsType[*jsonrpc.Error](err); ok && !errors.Is(err, sdk.ErrConnectionClosed) {
		return fmt.Errorf("the MCP server %s refused the call: %w", s.name, err)
	}
	return fmt.Errorf("the MCP server %s died during the call, which may have taken effect; the next call starts it again: %w", s.name, s.drop(session, err))
}

// content hands over what a server sent as what it is.
func content(all []sdk.Content) tool.Result {
	var texts []string
	var out tool.Result
	for _, c := range all {
		switch c := c.(type) {
		case *sdk.TextContent:
			texts = append(texts, c.Text)
		case *sdk.ImageContent:
			out.Media = append(out.Media, media(c.MIMEType, c.Data))
		case *sdk.AudioContent:
			texts = append(texts, fmt.Sprintf("[audio, %s, %d bytes: it cannot be handed over]", c.MIMEType, len(c.Data)))
		case *sdk.ResourceLink:
			texts = append(texts, strings.TrimSpace(fmt.Sprintf("[resource %s %s] %s", c.URI, c.Name, c.Description)))
		case *sdk.EmbeddedResource:
			text, part := resource(c.Resource)
			if texts = append(texts, text); part != nil {
				out.Media = append(out.Media, *part)
			}
		default:
			texts = append(texts, fmt.Sprintf("[content of the kind %T cannot be shown]", c))
		}
	}
	out.Text = strings.Join(texts, "\n")
	return out
}

// resource is a resource as text and, if it is one, an image.
func resource(r *sdk.ResourceContents) (string, *message.Part) {
	switch {
	case r == nil:
		return "[an empty resource]", nil
	case len(r.Blob) == 0:
		return r.Text, nil
	case strings.HasPrefix(r.MIMEType, "image/"):
		part := media(r.MIMEType, r.Blob)
		return "[resource " + r.URI + "]", &part
	}
	return fmt.Sprintf("[resource %s: %s, %d bytes, not text]", r.URI, cmp.Or(r.MIMEType, "unknown type"), len(r.Blob)), nil
}

func media(mime string, data []byte) message.Part {
	return message.Part{Kind: message.KindImage, Media: &message.Media{MIME: mime, Data: base64.StdEncoding.EncodeToString(data)}}
}
