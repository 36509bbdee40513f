package rondo

import (
	"context"
	_ "embed" // for the text of the tool
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rondo-engine/rondo/tool"
)

//go:embed clarify.md
var clarifyText string

// Question is what the agent asks the user.
type Question struct {
	// ID is that of the tool call that asks, Session the session's.
	ID      string `json:"id"`
	Session string `json:"-"`
	Text    string `json:"question"`
	// Choices are answers to choose from; there may be none, and the user may
	// say something else.
	Choices []string `json:"choices,omitempty"`
}

// ErrNoAnswer is for Options.Ask to return when the user does not answer.
var ErrNoAnswer = errors.New("the user did not answer: decide yourself, take the safer way, and say what you assumed")

var errNobody = errors.New("there is nobody to ask: decide yourself, take the safer way, and say in the end what you assumed")

// maxChoices bounds the answers that a question offers.
const maxChoices = 8

type clarifyArgs struct {
	Question string   `json:"question"`
	Choices  []string `json:"choices,omitzero"`
}

// ClarifyTool returns the agent-level tool clarify: the model asks the user
// through Options.Ask. Where that is nil, the call fails. Offer the tool where
// somebody can be asked.
func ClarifyTool() *tool.Tool {
	return tool.Must(tool.New(tool.Tool{
		Name: "clarify", Description: strings.TrimSpace(clarifyText), Toolset: agentToolset,
		ReadOnly: true, Interactive: true, TopOnly: true,
	}, runClarify))
}

func runClarify(ctx context.Context, call tool.Call, a clarifyArgs) (tool.Result, error) {
	turn, ok := TurnOf(ctx)
	if !ok || turn.phase.run.a.opts.Ask == nil {
		return tool.Result{}, errNobody
	}
	q := Question{ID: call.ID, Session: call.Session, Text: strings.TrimSpace(a.Question), Choices: a.Choices}
	if q.Text == "" {
		return tool.Result{}, errors.New("the question is empty, so nobody was asked")
	}
	if len(q.Choices) > maxChoices {
		return tool.Result{}, fmt.Errorf("%d choices are too many, so nobody was asked: give at most %d", len(q.Choices), maxChoices)
	}
	turn.Emit(Event{Type: EventClarify, Text: q.Text, Question: &q})
	o := &turn.phase.run.a.opts
	answer, err := await(ctx, o.AskTimeout, func(ctx context.Context) (string, error) { return o.Ask(ctx, q) })
	if err != nil {
		return tool.Result{}, err
	}
	if answer = strings.TrimSpace(answer); answer == "" {
		return tool.Result{}, ErrNoAnswer
	}
	return tool.Result{Text: "The user answered: " + answer}, nil
}

// await asks a person and waits for the answer, no longer than limit (0 is no
// limit) and no longer than ctx, even if ask looks at neither. Without an answer
// in time the error is ErrNoAnswer.
func await[T any](ctx context.Context, limit time.Duration, ask func(ctx context.Context) (T, error)) (T, error) {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, ErrNoAnswer)
		defer cancel()
	}
	type answered struct {
		answer T
		err    error
	}
	reply := make(chan answered, 1)
	go func() {
		a, err := ask(ctx)
		reply <- answered{a, err}
	}()
	var none T
	select {
	case a := <-reply:
		if ctx.Err() != nil { // it came too late
			return none, context.Cause(ctx)
		}
		return a.answer, a.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}
