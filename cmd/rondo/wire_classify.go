package main

import (
	"bytes"
	"time"

	"github.com/spf13/cobra"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

func newWireRepair(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "repair [FILE]",
		Short: "Repair a history and say what was changed",
		Long: `Print a history (a JSON array of messages) as any provider would accept it, and
what was changed to that end.`,
		Example: "  rondo wire repair history.json",
		Args:    fileArg,
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := env.slurp(args)
			if err != nil {
				return err
			}
			_, msgs, err := parseMessages(data)
			if err != nil {
				return badInput("history", err)
			}
			history, changes := message.Normalise(msgs)
			if changes == nil {
				changes = []message.Change{}
			}
			return env.printJSON(struct {
				History message.History  `json:"history"`
				Changes []message.Change `json:"changes"`
			}{history, changes})
		},
	}
}

// classifyOptions are the flags of rondo wire classify.
type classifyOptions struct {
	provider, now string
	status        int
	headers       []string
}

func newWireClassify(env *environment) *cobra.Command {
	o := classifyOptions{}
	c := &cobra.Command{
		Use:   "classify --status N [FILE]",
		Short: "Say what kind of failure an error is",
		Long: `Say what kind of failure the body of an error is, how long the provider asks to
wait (null where it names no usable time), the context window that its words
give away, and what a run would do.`,
		Example: `  rondo wire classify --status 429 --header 'Retry-After: 30' error.json
  echo '{"error":{"code":"insufficient_quota"}}' | rondo wire classify --status 429`,
		Args: fileArg,
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("status") {
				return usagef("which HTTP status had it? Add --status N, as in --status 429")
			}
			data, err := env.slurp(args)
			if err != nil {
				return err
			}
			return classify(env, &o, data)
		},
	}
	f := c.Flags()
	f.StringVar(&o.provider, "provider", "", "name of the provider")
	f.IntVar(&o.status, "status", 0, "HTTP status of the reply")
	f.StringArrayVar(&o.headers, "header", nil, "header of the reply, as `'K: V'`; may be repeated")
	f.StringVar(&o.now, "now", "", "time against which dates are read, as in 2006-01-02T15:04:05Z")
	return c
}

func classify(env *environment, o *classifyOptions, body []byte) error {
	h, err := headers(o.headers)
	if err != nil {
		return err
	}
	now := env.Now()
	if o.now != "" {
		if now, err = time.Parse(time.RFC3339, o.now); err != nil {
			return usagef("--now %q is no time: write it as 2006-01-02T15:04:05Z", o.now)
		}
	}
	e := model.Classify(model.Failure{Op: "classify", Provider: o.provider, Status: o.status, Header: h, Body: errorObject(body), Now: now})
	result := struct {
		Class         model.Class `json:"class"`
		Retryable     bool        `json:"retryable"`
		RetryAfterMS  *int64      `json:"retry_after_ms"`
		LearnedWindow *int        `json:"learned_context_window"`
		Action        string      `json:"action"`
	}{Class: e.Class, Retryable: e.Class.Retryable(), Action: e.Action()}
	if e.RetryAfter >= 0 {
		result.RetryAfterMS = new(e.RetryAfter.Milliseconds())
	}
	if e.LearnedWindow > 0 {
		result.LearnedWindow = &e.LearnedWindow
	}
	return env.printJSON(result)
}

// errorObject returns the error that body is, or that the first event of the
// stream in it holds.
func errorObject(body []byte) []byte {
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		return body
	}
	for line := range bytes.Lines(body) {
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			return bytes.TrimSpace(data)
		}
	}
	return body
}
