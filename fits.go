package rondo

import (
	"fmt"

	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/window"
)

// promptShare is the part of a model's room for input that a prompt may take:
// the rest is for the work.
const promptShare = 0.6

// PromptTooLargeError says that a turn was refused before anything was sent or
// saved: system prompt, tools and the new message are too large for the model.
// It wraps loop.ErrOverflow.
type PromptTooLargeError struct {
	// Tokens is the estimated size, Limit the largest that is taken.
	Tokens, Limit int
	// Model is "provider/model".
	Model string
}

// Error gives both numbers and says what to do.
func (e *PromptTooLargeError) Error() string {
	return fmt.Sprintf("the prompt is about %d tokens (system prompt, tools and message), but at most %d are taken, %.0f %% of the room that %s has for input: "+
		"shorten it, put long text into a file for the tools to read, or choose a model with a larger context window",
		e.Tokens, e.Limit, promptShare*100, e.Model)
}

// Unwrap returns loop.ErrOverflow.
func (e *PromptTooLargeError) Unwrap() error { return loop.ErrOverflow }

// fits refuses a prompt that leaves too little room for the work. Nothing is cut.
func (s *Session) fits(system string, said *message.Message) error {
	p := s.model.Profile()
	room := window.Room(p, s.agent.opts.MaxOutputTokens)
	if room <= 0 {
		return nil
	}
	s.look(s.history) // for how the model counts
	weight := window.Message(said).Add(s.agent.toolWeight).Add(window.Weight{Chars: window.Text(system)})
	tokens := weight.Tokens(s.space.gauge.Ratio.Value())
	if limit := int(promptShare * float64(room)); tokens > limit {
		return &PromptTooLargeError{Tokens: tokens, Limit: limit, Model: p.Provider + "/" + p.Model}
	}
	return nil
}
