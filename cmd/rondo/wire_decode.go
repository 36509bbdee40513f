package main

import (
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
	"github.com/rondo-engine/rondo/tool"
)

// decodeOptions are the flags of rondo wire decode.
type decodeOptions struct {
	api                      apiFlag
	contentType              string
	status, chunk            int
	headers                  []string
	thinkTags, startsInThink bool
	events                   bool
	provider, model          string
}

func newWireDecode(env *environment) *cobra.Command {
	o := decodeOptions{status: 200}
	c := &cobra.Command{
		Use:   "decode --api MODE [FILE]",
		Short: "Decode a reply of a provider",
		Long: `Decode the body of a reply, streamed or not, the way a run would, and print what
it means: text, reasoning, tool calls, finish reason, usage, and the error if it
is one. The arguments of a call are null where they cannot be used; raw_args has
them then.`,
		Example: `  curl -sN ... | rondo wire decode --api chat_completions
  rondo wire decode --api anthropic_messages --events reply.sse
  rondo wire decode --api responses --status 429 --header 'Retry-After: 30' error.json`,
		Args: fileArg,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := o.api.need(); err != nil {
				return err
			}
			r, err := env.open(args)
			if err != nil {
				return err
			}
			defer r.Close()
			return decode(env, &o, r)
		},
	}
	f := c.Flags()
	addAPI(c, &o.api)
	f.StringVar(&o.contentType, "content-type", "", "content type of the reply; by default told from the body")
	f.IntVar(&o.status, "status", 200, "HTTP status of the reply")
	f.StringArrayVar(&o.headers, "header", nil, "header of the reply, as `'K: V'`; may be repeated")
	f.IntVar(&o.chunk, "chunk", 0, "feed the body `N` bytes at a time")
	f.BoolVar(&o.thinkTags, "think-tags", false, "treat think tags as reasoning")
	f.BoolVar(&o.startsInThink, "starts-in-think", false, "the reply begins inside of a think tag")
	f.BoolVar(&o.events, "events", false, "print each delta as a line of its own")
	f.StringVar(&o.provider, "provider", "", "name of the provider")
	f.StringVar(&o.model, "model", "", "name of the model")
	return c
}

// decoded is what rondo wire decode prints.
type decoded struct {
	Text       string        `json:"text"`
	Reasoning  string        `json:"reasoning"`
	ToolCalls  []decodedCall `json:"tool_calls"`
	Finish     model.Finish  `json:"finish"`
	Usage      decodedUsage  `json:"usage"`
	ErrorClass *model.Class  `json:"error_class"`
	Retryable  bool          `json:"retryable"`
	Error      *string       `json:"error"`
}

type decodedCall struct {
	ID      string         `json:"id"`
	Name    string         `json:"name"`
	Args    jsontext.Value `json:"args"`
	RawArgs *string        `json:"raw_args,omitzero"`
}

type decodedUsage struct {
	Input      int64 `json:"input"`
	Cached     int64 `json:"cached"`
	CacheWrite int64 `json:"cache_write"`
	Output     int64 `json:"output"`
	Reasoning  int64 `json:"reasoning"`
}

func decode(env *environment, o *decodeOptions, body io.Reader) error {
	h, err := headers(o.headers)
	if err != nil {
		return err
	}
	if o.contentType != "" {
		h.Set("Content-Type", o.contentType)
	}
	if o.chunk > 0 {
		body = &chunks{r: body, size: o.chunk}
	}
	p := &model.Profile{Provider: o.provider, Model: o.model, Mode: o.api.mode}
	p.ThinkTags, p.StartsInThink = o.thinkTags || o.startsInThink, o.startsInThink
	var text, reasoning strings.Builder
	for d, err := range wire.Decode(p, "decode reply", env.Now(), wire.Response{Status: o.status, Header: h, Body: body}, newDecoder(p)) {
		if err != nil {
			return finishDecode(env, o, failed(err, text.String(), reasoning.String()))
		}
		switch d.Kind {
		case model.DeltaText:
			text.WriteString(d.Text)
		case model.DeltaReasoning:
			reasoning.WriteString(d.Text)
		case model.DeltaDone:
			return finishDecode(env, o, completed(d.Reply))
		}
		if o.events {
			if err := env.printJSON(deltaLine(d)); err != nil {
				return err
			}
		}
	}
	return errors.New("the decoder ended without a reply or an error")
}

// finishDecode prints the outcome; after the deltas it says that it is one.
func finishDecode(env *environment, o *decodeOptions, d decoded) error {
	if !o.events {
		return env.printJSON(d)
	}
	return env.printJSON(struct {
		Type string `json:"type"`
		decoded
	}{"done", d})
}

func completed(r *model.Reply) decoded {
	d := decoded{
		Text: r.Message.Text(), Reasoning: r.Message.Reasoning(), ToolCalls: []decodedCall{}, Finish: r.Finish,
		Usage: decodedUsage{r.Usage.Input, r.Usage.CacheRead, r.Usage.CacheWrite, r.Usage.Output, r.Usage.Reasoning},
	}
	for _, call := range r.Message.Calls() {
		d.ToolCalls = append(d.ToolCalls, decodeCall(call, r.Finish == model.FinishLength))
	}
	return d
}

func decodeCall(c *message.ToolCall, cut bool) decodedCall {
	d := decodedCall{ID: c.ID, Name: c.Name}
	args, err := tool.ParseArguments(c.Arguments, cut)
	if err != nil {
		d.Args, d.RawArgs = jsontext.Value("null"), &c.Arguments
	} else {
		d.Args = jsontext.Value(args)
	}
	return d
}

// failed describes a reply that is an error: what was seen of it, and no calls
// since none may run.
func failed(err error, text, reasoning string) decoded {
	class, words := model.ClassOf(err), err.Error()
	return decoded{
		Text: text, Reasoning: reasoning, ToolCalls: []decodedCall{}, Finish: model.FinishError,
		ErrorClass: &class, Retryable: class.Retryable(), Error: &words,
	}
}

// deltaLine is what --events prints of a delta.
func deltaLine(d model.Delta) any {
	line := struct {
		Type  string `json:"type"`
		Index *int   `json:"index,omitzero"`
		Name  string `json:"name,omitzero"`
		Text  string `json:"text,omitzero"`
	}{Name: d.Name, Text: d.Text}
	switch d.Kind {
	case model.DeltaText:
		line.Type = "text_delta"
	case model.DeltaReasoning:
		line.Type = "thinking"
	case model.DeltaCall:
		line.Type, line.Index = "tool_call", &d.Index
	case model.DeltaCallArgs:
		line.Type, line.Index = "tool_call_args", &d.Index
	}
	return line
}

// chunks reads at most size bytes at a time.
type chunks struct {
	r    io.Reader
	size int
}

func (c *chunks) Read(p []byte) (int, error) { return c.r.Read(p[:min(len(p), c.size)]) }
