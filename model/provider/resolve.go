package provider

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/rondo-engine/rondo/model"
)

// Resolve chooses provider and model, strongest first: what s names; the
// provider at the base URL; for a name alone, the provider with a key that
// most likely has it; for no name, the first provider with a key; a local
// server that answers. It asks local servers only where nothing else decides.
// Errors say what to set.
func Resolve(ctx context.Context, s Settings) (*Resolved, error) {
	c, err := s.choose(ctx)
	if err != nil {
		return nil, err
	}
	raw, from, err := s.baseURL(c.Known)
	if err != nil {
		return nil, err
	}
	r := &Resolved{URLFrom: from, Why: c.why}
	if r.Pool, r.KeyFrom = s.keys(c.Known); r.KeyFrom == "" && from == fromDefault && !c.Local {
		return nil, s.noKey(c.Known)
	}
	if len(r.Pool) > 0 {
		r.Keys = r.Pool[0]
	}
	if c, ok := r.Keys.(*commandKey); ok {
		r.Refresh = c.Refresh
	}
	r.Profile, r.InCatalogue = s.profile(&c, raw)
	over := s.modelSettings(&c)
	r.WindowSet, r.MaxOutputSet = s.ContextWindow+over.ContextWindow > 0, s.MaxOutput+over.MaxOutput > 0
	r.Profile.Account = account(r.Pool...)
	return r, nil
}

// noKey says that k has no key, and what to do.
func (s *Settings) noKey(k Known) error {
	variable := strings.Join(k.KeyEnv, " or ")
	if e := s.Endpoints[k.Name]; e.KeyEnv != "" {
		variable = e.KeyEnv
	}
	hint := "for a local server use --base-url http://127.0.0.1:PORT/v1"
	if name, ok := s.elsewhere(k); ok {
		hint = "or, through the provider whose key is set, --model " + name
	}
	return fmt.Errorf("no key for %s: set %s; %s", k.Name, variable, hint)
}

// elsewhere finds the model under a provider that has a key.
func (s *Settings) elsewhere(k Known) (string, bool) {
	name := strings.TrimPrefix(s.Model, k.Name+"/")
	for _, other := range s.usable() {
		if c, ok := Lookup(other.Name, k.Name+"/"+name); ok && name != "" && other.Vendors {
			return other.Name + "/" + c.Model, true
		}
	}
	return "", false
}

// profile describes the chosen model at the given endpoint, and tells whether
// the catalogue knows it.
func (s *Settings) profile(c *choice, rawURL string) (*model.Profile, bool) {
	endpoint := s.Endpoints[c.Name]
	mode := cmp.Or(s.APIMode, endpoint.APIMode, c.Mode)
	mode = model.ResolveMode(mode, c.Name, rawURL)
	card, found := Lookup(c.Name, c.model)
	if !found {
		card = s.guess(c.model)
	}
	over := s.modelSettings(c)
	p := &model.Profile{
		Provider: c.Name, Model: c.model, Mode: mode, BaseURL: normalURL(rawURL, mode),
		ContextWindow: cmp.Or(s.ContextWindow, over.ContextWindow, card.ContextWindow, DefaultWindow),
		MaxOutput:     cmp.Or(s.MaxOutput, over.MaxOutput),
		Price:         cmp.Or(over.Price, card.Price),
		Quirks:        quirksFor(mode, speaker(c.Name, rawURL), hostOf(rawURL), c.model),
	}
	if p.MaxOutput == 0 && (mode == model.AnthropicMessages || c.SendLimit) {
		p.MaxOutput = card.MaxOutput
	}
	if found {
		p.NoImages, p.NoEffort = !card.Vision, !card.Reasoning
	}
	endpoint.Quirks.Apply(&p.Quirks)
	over.Quirks.Apply(&p.Quirks)
	return p, found
}

// guess takes the size of a model from another provider's entry for it; who
// answers here may charge otherwise and lack abilities, so these stay open.
func (s *Settings) guess(name string) Card {
	for i := range known {
		if !known[i].makes(name) {
			continue
		}
		if c, ok := Lookup(known[i].Name, name); ok {
			return Card{ContextWindow: c.ContextWindow, MaxOutput: c.MaxOutput}
		}
	}
	c, _ := lookup("openrouter/" + name)
	return Card{ContextWindow: c.ContextWindow, MaxOutput: c.MaxOutput}
}

// speaker is the provider whose quirks hold: openai is also the name under
// which people reach servers that only speak its protocol.
func speaker(name, rawURL string) string {
	if name == "openai" && hostOf(rawURL) != "api.openai.com" {
		return Custom
	}
	return name
}

// modelSettings returns what the configuration says of the chosen model.
func (s *Settings) modelSettings(c *choice) ModelSettings {
	if m, ok := s.Models[c.Name+"/"+c.model]; ok {
		return m
	}
	return s.Models[c.model]
}
