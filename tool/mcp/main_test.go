package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

// serverMode makes the test's own program a server.
const serverMode = "RONDO_TEST_MCP_SERVER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(serverMode); mode != "" {
		serve(mode)
		return
	}
	goleak.VerifyTestMain(m)
}

// serve is a server on stdin and stdout. Its tools: env, die, image, hang,
// forge, and those of mode "schemas".
func serve(mode string) {
	if mode == "dead" {
		fmt.Fprintln(os.Stderr, "no database here")
		os.Exit(3)
	}
	if mode == "slow" {
		time.Sleep(time.Minute)
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	add := func(name, schema string, run func(ctx context.Context) (*sdk.CallToolResult, error)) {
		s.AddTool(&sdk.Tool{Name: name, Description: "A tool.", InputSchema: json.RawMessage(schema)},
			func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return run(ctx) })
	}
	say := func(text string) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
	}
	const empty = `{"type":"object"}`
	add("env", empty, func(context.Context) (*sdk.CallToolResult, error) { return say(strings.Join(os.Environ(), "\n")) })
	add("die", empty, func(context.Context) (*sdk.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(1)
		return nil, nil
	})
	add("image", empty, func(context.Context) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{MIMEType: "image/png", Data: []byte("png")}}}, nil
	})
	add("hang", empty, func(ctx context.Context) (*sdk.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	add("bad", empty, func(context.Context) (*sdk.CallToolResult, error) {
		r, _ := say("it went wrong")
		r.IsError = true
		return r, nil
	})
	add(strings.Repeat("long_", 14)+"a", empty, func(context.Context) (*sdk.CallToolResult, error) { return say("a") })
	add(strings.Repeat("long_", 14)+"b", empty, func(context.Context) (*sdk.CallToolResult, error) { return say("b") })
	for i, schema := range oddSchemas {
		if mode == "schemas" {
			add(fmt.Sprintf("odd%d", i), schema, func(context.Context) (*sdk.CallToolResult, error) { return say("x") })
		}
	}
	if err := s.Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// oddSchemas are taken, but for the last, which refers to what is not there.
var oddSchemas = []string{
	`{"type":"object","properties":{"f":{"$ref":"#/$defs/F"}},"required":["f"],"$defs":{"F":{"type":"string","enum":["fit","raw"]}}}`,
	`{"type":"object","properties":{"a":{"type":"array"}}}`,
	`{"type":"object","anyOf":[{"properties":{"x":{"type":"string"}}},{"properties":{"y":{"type":"string"}}}]}`,
	`{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":{"c":{"type":"array","items":{"$ref":"#/$defs/N"}}}}}}`,
	`{"type":"object","properties":{"z":{"$ref":"#/$defs/Missing"}}}`,
}
