package provider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// choice is a provider and a model, and why they were taken.
type choice struct {
	Known
	model string
	why   string
}

// choose decides on provider and model.
func (s *Settings) choose(ctx context.Context) (choice, error) {
	if s.Provider != "" {
		return s.chooseNamed(ctx, s.Provider, s.Model)
	}
	if s.Model == "" {
		return s.chooseAny(ctx)
	}
	if first, rest, ok := strings.Cut(s.Model, "/"); ok {
		if k, ok := s.find(first); ok {
			return s.chooseIn(ctx, k, rest, "the model is named with its provider")
		}
	}
	return s.choosePlain(ctx)
}

// find returns a provider by name, known or configured.
func (s *Settings) find(name string) (Known, bool) {
	if k, ok := Find(name); ok {
		return k, true
	}
	if e, ok := s.Endpoints[name]; ok && e.BaseURL != "" {
		return Known{Name: name, BaseURL: e.BaseURL}, true
	}
	return Known{}, false
}

// chooseNamed takes the provider that is set; the model's name may repeat it.
func (s *Settings) chooseNamed(ctx context.Context, provider, name string) (choice, error) {
	k, ok := s.find(provider)
	if !ok && s.BaseURL == "" {
		return choice{}, fmt.Errorf("unknown provider %q: it is one of %s, or one with a base_url under providers in the configuration, or any name with --base-url", provider, names())
	}
	if !ok {
		k = Known{Name: provider}
	}
	first, rest, slash := strings.Cut(name, "/")
	if slash && (strings.EqualFold(first, provider) || strings.EqualFold(first, k.Name)) {
		if !k.Vendors || strings.Contains(rest, "/") {
			name = rest
		}
	} else if other, isOther := Find(first); slash && isOther && len(k.NamePrefixes) > 0 && s.BaseURL == "" {
		return choice{}, fmt.Errorf("model %s is of provider %s, but provider %s is set: give a model of %s, as in --model %s/NAME, or leave out the provider", name, other.Name, k.Name, k.Name, k.Name)
	}
	return s.chooseIn(ctx, k, name, "the provider is set")
}

func (s *Settings) chooseIn(ctx context.Context, k Known, name, why string) (choice, error) {
	c := choice{Known: k, model: name, why: why}
	return c, s.complete(ctx, &c)
}

// complete fills in the model where only the provider is chosen.
func (s *Settings) complete(ctx context.Context, c *choice) error {
	if c.model != "" {
		return nil
	}
	if e := s.Endpoints[c.Name]; e.Model != "" {
		c.model = e.Model
		return nil
	}
	preferred := c.Default()
	url, from, err := s.baseURL(c.Known)
	if err != nil {
		return err
	}
	if preferred != "" && from == fromDefault {
		c.model = preferred
		return nil
	}
	if !c.Local && from == fromDefault {
		return fmt.Errorf("which model of %s? Name one, as in --model %s/NAME; rondo models %s shows some", c.Name, c.Name, c.Name)
	}
	served, err := s.list(ctx, url)
	switch {
	case err != nil:
		return fmt.Errorf("no model is named, and asking %s at %s for its models failed: %w; start the server, or name a model with --model", c.Name, url, err)
	case len(served) == 0:
		return fmt.Errorf("the server of %s at %s has no models: load one there first", c.Name, url)
	case slices.Contains(served, preferred):
		c.model = preferred
	case len(served) == 1 || c.Local:
		c.model = served[0]
	default:
		return fmt.Errorf("no model is named, and %s at %s has %d: name one with --model, such as %s", c.Name, url, len(served), strings.Join(served[:min(3, len(served))], ", "))
	}
	return nil
}

// chooseAny takes the first provider that can be used.
func (s *Settings) chooseAny(ctx context.Context) (choice, error) {
	if k, ok := s.atURL(); ok {
		c := choice{Known: k, why: "it is at the base URL"}
		return c, s.complete(ctx, &c)
	}
	for _, k := range s.usable() {
		if k.Default() == "" && s.Endpoints[k.Name].Model == "" {
			continue
		}
		_, from := s.keys(k)
		c := choice{Known: k, why: "it is the first provider with a key (" + from + ")"}
		return c, s.complete(ctx, &c)
	}
	for _, local := range s.locals(ctx) {
		return choice{Known: local.Known, model: local.models[0], why: "no provider has a key, and this local server answers"}, nil
	}
	return choice{}, errNothing
}

var errNothing = errors.New("no model to use: set the key of a provider (OPENAI_API_KEY, ANTHROPIC_API_KEY, OPENROUTER_API_KEY, GEMINI_API_KEY, ...), " +
	"or start a local server (ollama, LM Studio, llama.cpp), or name an endpoint with --base-url and --model; rondo demo shows a run without any")

// choosePlain finds the provider of a model that is named without one.
func (s *Settings) choosePlain(ctx context.Context) (choice, error) {
	if k, ok := s.atURL(); ok {
		return choice{Known: k, model: s.Model, why: "it is at the base URL"}, nil
	}
	if all := s.usable(); len(all) > 0 {
		k, why := s.owner(all)
		return choice{Known: k, model: s.Model, why: why}, nil
	}
	for _, local := range s.locals(ctx) {
		if slices.Contains(local.models, s.Model) {
			return choice{Known: local.Known, model: s.Model, why: "the local server has it"}, nil
		}
	}
	for _, k := range known {
		if k.makes(s.Model) {
			return choice{}, s.noKey(k)
		}
	}
	return choice{}, fmt.Errorf("model %s: %w", s.Model, errNothing)
}

// owner returns the one of all, which is not empty, that most likely has the
// model.
func (s *Settings) owner(all []Known) (Known, string) {
	if i := slices.IndexFunc(all, func(k Known) bool { return k.makes(s.Model) }); i >= 0 {
		return all[i], "it makes models of that name"
	}
	if i := slices.IndexFunc(all, func(k Known) bool { _, ok := Lookup(k.Name, s.Model); return ok }); i >= 0 {
		return all[i], "the catalogue lists the model there"
	}
	if strings.Contains(s.Model, "/") {
		if i := slices.IndexFunc(all, func(k Known) bool { return k.Vendors }); i >= 0 {
			return all[i], "it has models of many vendors"
		}
	}
	return all[0], "it is the first provider with a key"
}

// atURL returns the provider of the base URL that is set for models without a
// provider, if one is.
func (s *Settings) atURL() (Known, bool) {
	url := s.BaseURL
	if url == "" {
		url = s.Endpoints[Custom].BaseURL
	}
	if url == "" {
		return Known{}, false
	}
	host := hostOf(url)
	i := slices.IndexFunc(known, func(k Known) bool { return !k.Local && k.BaseURL != "" && hostOf(k.BaseURL) == host })
	if i >= 0 {
		return known[i], true
	}
	return Known{Name: Custom}, true
}

// usable returns the providers that have a key, in order of preference.
func (s *Settings) usable() []Known {
	var all []Known
	for _, k := range known {
		if _, from := s.keys(k); from != "" && (k.BaseURL != "" || s.env(k.URLEnv) != "" || s.Endpoints[k.Name].BaseURL != "") {
			all = append(all, k)
		}
	}
	return all
}
