// Package provider knows the providers of language models by name: where they
// answer, what variable holds their key, how each differs from the protocol it
// speaks, and, from a catalogue, what their models can do and cost.
//
// Resolve turns what a user set into a profile and a source of keys, choosing
// a provider and a model where none is named; Open makes the client. The
// package reads no environment: Settings bring it along.
package provider

import (
	"context"

	"github.com/rondo-engine/rondo/model"
)

// DefaultWindow is the context window in tokens of a model that neither the
// settings nor the catalogue know.
const DefaultWindow = 128000

// Settings are what Resolve works from. The zero value asks for the first
// provider at hand, but without Env there is none.
type Settings struct {
	// Model is PROVIDER/NAME, or a name alone; empty chooses one.
	Model string
	// Provider is a known name, one of Endpoints, or any name for what is at
	// BaseURL.
	Provider string
	// BaseURL, APIMode and APIKey hold for whatever provider is chosen.
	BaseURL string
	APIMode model.Mode
	APIKey  string
	// Endpoints is what the configuration says of providers, by name. The one
	// named Custom is taken for models without a provider.
	Endpoints map[string]Endpoint
	// Models is what the configuration says of models, by PROVIDER/NAME or
	// by name.
	Models map[string]ModelSettings
	// ContextWindow and MaxOutput override the catalogue and Models, in
	// tokens; 0 does not.
	ContextWindow, MaxOutput int
	// Env returns an environment variable; nil has none.
	Env func(string) string
	// List asks the server at a base URL for the names of its models; nil
	// asks over HTTP, for at most half a second.
	List func(ctx context.Context, baseURL string) ([]string, error)
	// Command runs a command that prints a key; nil refuses key commands.
	Command func(ctx context.Context, command string) (string, error)
}

// Endpoint is what the configuration says of a provider.
type Endpoint struct {
	BaseURL string
	APIMode model.Mode
	// APIKey is the key; KeyEnv names the variable that holds it instead of
	// the usual one, or several with commas between, whose keys are used in
	// turn; KeyCommand prints it.
	APIKey, KeyEnv, KeyCommand string
	// Model is the model to take when only the provider is chosen.
	Model  string
	Quirks Overrides
}

// ModelSettings override what the catalogue knows of a model; zero fields do
// not.
type ModelSettings struct {
	ContextWindow, MaxOutput int
	Price                    *model.Price
	Quirks                   Overrides
}

// Resolved is a model that is ready to be opened.
type Resolved struct {
	Profile *model.Profile
	// Keys gives out its key, the first of Pool; nil when it needs none.
	Keys model.KeySource
	Pool []model.KeySource
	// Refresh returns a key in place of one that the provider refused; nil
	// when keys cannot be renewed. See resilient.KeyOptions.
	Refresh func(ctx context.Context, refused string) (string, error)
	// KeyFrom and URLFrom name the settings that they are from, and Why tells
	// what made the choice of provider and model.
	KeyFrom, URLFrom, Why string
	// WindowSet and MaxOutputSet tell that the user named the context window
	// and the longest reply.
	WindowSet, MaxOutputSet bool
	// InCatalogue tells that the catalogue knows the model.
	InCatalogue bool
}

func (s *Settings) env(name string) string {
	if s.Env == nil || name == "" {
		return ""
	}
	return s.Env(name)
}
