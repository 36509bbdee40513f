package provider

import (
	"fmt"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/anthropic"
	"github.com/rondo-engine/rondo/model/chat"
	"github.com/rondo-engine/rondo/model/gemini"
	"github.com/rondo-engine/rondo/model/responses"
	"github.com/rondo-engine/rondo/model/wire"
)

// Open makes the client that speaks the protocol of p. Where images turn out to
// be refused it goes on without them.
func Open(p *model.Profile, o wire.Options) (model.Model, error) {
	m, err := client(p, o)
	if err != nil || p.NoImages {
		return m, err
	}
	plain := *p
	plain.NoImages = true
	blind, err := client(&plain, o)
	return &withoutImages{seeing: m, blind: blind}, err
}

func client(p *model.Profile, o wire.Options) (model.Model, error) {
	switch p.Mode {
	case model.ChatCompletions:
		return chat.New(p, o), nil
	case model.CodexResponses:
		return responses.New(p, o), nil
	case model.AnthropicMessages:
		return anthropic.New(p, o), nil
	case model.GeminiGenerate:
		return gemini.New(p, o), nil
	}
	return nil, fmt.Errorf("open %s/%s: unknown api mode %q", p.Provider, p.Model, p.Mode)
}
