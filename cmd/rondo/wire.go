package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/anthropic"
	"github.com/rondo-engine/rondo/model/chat"
	"github.com/rondo-engine/rondo/model/gemini"
	"github.com/rondo-engine/rondo/model/responses"
	"github.com/rondo-engine/rondo/model/wire"
)

func newWireCommand(env *environment) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "wire",
		Short: "Look at what providers say and what is sent",
		Long: `What did the provider really say; what do we send? These commands use the same
code as a run. All read a file, or stdin where FILE is - or missing, and print
one JSON value.`,
		Example: `  rondo wire decode --api chat_completions reply.sse
  rondo wire encode --api anthropic_messages --model claude-x history.json
  rondo wire repair history.json
  rondo wire classify --status 429 --header 'Retry-After: 30' error.json`,
	})
	c.AddCommand(newWireDecode(env), newWireEncode(env), newWireRepair(env), newWireClassify(env))
	return c
}

// apiFlag is the value of --api.
type apiFlag struct{ mode model.Mode }

func (a *apiFlag) String() string { return string(a.mode) }

// Type is what the help shows for the value.
func (a *apiFlag) Type() string { return "MODE" }

// Set reads the name of an API mode.
func (a *apiFlag) Set(s string) (err error) {
	a.mode, err = model.ParseMode(s)
	return err
}

// addAPI gives c the required flag --api.
func addAPI(c *cobra.Command, api *apiFlag) {
	c.Flags().Var(api, "api", "protocol: chat_completions, codex_responses (or responses), anthropic_messages, gemini_generate_content")
}

func (a *apiFlag) need() error {
	if a.mode == "" {
		return usagef("which protocol? Add --api chat_completions, --api codex_responses, --api anthropic_messages or --api gemini_generate_content")
	}
	return nil
}

func newDecoder(p *model.Profile) wire.Decoder {
	switch p.Mode {
	case model.CodexResponses:
		return responses.NewDecoder(p)
	case model.AnthropicMessages:
		return anthropic.NewDecoder(p)
	case model.GeminiGenerate:
		return gemini.NewDecoder(p)
	}
	return chat.NewDecoder(p)
}

func encodeRequest(p *model.Profile, req *model.Request) ([][]byte, error) {
	switch p.Mode {
	case model.CodexResponses:
		return responses.Encode(p, req)
	case model.AnthropicMessages:
		return anthropic.Encode(p, req)
	case model.GeminiGenerate:
		return gemini.Encode(p, req)
	}
	return chat.Encode(p, req)
}

// open opens the file that the arguments name, or stdin.
func (e *environment) open(args []string) (io.ReadCloser, error) {
	if len(args) == 0 || args[0] == "-" {
		return io.NopCloser(e.Stdin), nil
	}
	f, err := os.Open(e.path(args[0]))
	return f, usage(err)
}

// slurp reads all of the file that the arguments name, or of stdin.
func (e *environment) slurp(args []string) ([]byte, error) {
	r, err := e.open(args)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// printJSON prints v as one JSON value on one line.
func (e *environment) printJSON(v any) error {
	var line bytes.Buffer
	err := json.MarshalWrite(&line, v, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.EscapeForHTML(false))
	if err != nil {
		return err
	}
	line.WriteByte('\n')
	_, err = line.WriteTo(e.Stdout)
	return err
}

// headers reads lines of the form "K: V".
func headers(lines []string) (http.Header, error) {
	h := http.Header{}
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, usagef("--header %q is no header: write it as 'Name: value'", line)
		}
		h.Add(name, strings.TrimSpace(value))
	}
	return h, nil
}

// fileArg allows one file or none.
func fileArg(c *cobra.Command, args []string) error {
	return argCount(0, 1, "one file, or none for stdin")(c, args)
}

// badInput says that the input cannot be read as what it should be.
func badInput(what string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("it ends in the middle")
	}
	return usagef("the input is no %s: %w", what, err)
}
