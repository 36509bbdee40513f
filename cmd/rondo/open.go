package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/internal/config"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/provider"
	"github.com/rondo-engine/rondo/model/resilient"
	"github.com/rondo-engine/rondo/model/wire"
	"github.com/rondo-engine/rondo/prompt"
	"github.com/rondo-engine/rondo/store/postgres"
)

// spareWait is the longest wait for a model that has others to fall back to.
const spareWait = 20 * time.Second

// models opens the models of one configuration. They share what is known of
// their providers' health, and one list of keys to hide.
type models struct {
	env      *environment
	settings *config.Loaded
	breakers *resilient.Breakers
	limits   *resilient.Limits
	secrets  *model.Secrets
	// notes tell the user of models that are left out.
	notes []string
}

func newModels(env *environment, settings *config.Loaded) *models {
	m := &models{
		env: env, settings: settings, limits: env.limits(),
		breakers: resilient.NewBreakers(resilient.BreakerOptions{}), secrets: new(model.Secrets),
	}
	m.secrets.Add(postgres.Password(settings.Store))
	for _, k := range provider.All() {
		for _, name := range k.KeyEnv {
			m.secrets.Add(env.Getenv(name))
		}
	}
	return m
}

// wanted finds the settings of one model in a configuration.
type wanted func(*config.Loaded) (provider.Settings, error)

// main opens the model that the settings ask for with those to fall back to.
func (m *models) main(ctx context.Context) (model.Model, error) {
	first, err := m.resolve(ctx, m.env.providerSettings)
	if err != nil {
		return nil, usage(err)
	}
	rest, err := m.spares(ctx, "fallback_providers", func(l *config.Loaded) []config.Target { return l.Fallback })
	if err != nil {
		return nil, err
	}
	return m.chain(append([]*resolved{first}, rest...))
}

// auxiliary says how the models for a side task, such as compression, are
// asked: the one that the settings name with the chain of its own, if they do,
// and the run's.
func (m *models) auxiliary(ctx context.Context, task string) (rondo.Aside, error) {
	aux := m.settings.Auxiliary[task]
	aside := rondo.Aside{Timeout: cmp.Or(aux.Timeout, auxiliaryTimeout(task)), Effort: aux.Effort}
	own := aux.Target != config.Target{}
	if !own && len(aux.Fallback) == 0 {
		return aside, nil
	}
	var all []*resolved
	if !own { // the chain stands behind the run's model
		first, err := m.resolve(ctx, m.env.providerSettings)
		if err != nil {
			return aside, usage(err)
		}
		all = append(all, first)
	}
	rest, err := m.spares(ctx, "auxiliary."+task, func(l *config.Loaded) []config.Target {
		a := l.Auxiliary[task]
		if own {
			return append([]config.Target{a.Target}, a.Fallback...)
		}
		return a.Fallback
	})
	if err != nil || len(rest) == 0 {
		return aside, err
	}
	aside.Model, err = m.chain(append(all, rest...))
	return aside, err
}

// auxiliaryTimeout bounds a call for a side task where the settings do not.
func auxiliaryTimeout(task string) time.Duration {
	switch task {
	case "title":
		return 30 * time.Second
	case "web_extract":
		return 6 * time.Minute
	}
	return rondo.DefaultAsideTimeout
}

// spares resolves a list of models of the configuration. Those that cannot be
// used, for want of a key above all, are left out with a note.
func (m *models) spares(ctx context.Context, path string, list func(*config.Loaded) []config.Target) ([]*resolved, error) {
	var all []*resolved
	for i := range list(m.settings) {
		want := func(l *config.Loaded) (provider.Settings, error) {
			targets := list(l)
			if i >= len(targets) {
				return provider.Settings{}, fmt.Errorf("the configuration has no %s[%d] any more", path, i)
			}
			return m.env.targetSettings(l, targets[i])
		}
		if _, err := want(m.settings); err != nil {
			return nil, usage(err)
		}
		r, err := m.resolve(ctx, want)
		if err != nil {
			m.notes = append(m.notes, fmt.Sprintf("%s[%d] is left out: %v", path, i, err))
			continue
		}
		all = append(all, r)
	}
	return all, nil
}

// resolved is a model that was found, and how to find it again.
type resolved struct {
	*provider.Resolved
	want wanted
}

func (m *models) resolve(ctx context.Context, want wanted) (*resolved, error) {
	s, err := want(m.settings)
	if err != nil {
		return nil, err
	}
	r, err := provider.Resolve(ctx, s)
	return &resolved{r, want}, err
}

// chain opens models, of which there must be one at least, one behind the
// other. All but the last are not waited for long.
func (m *models) chain(all []*resolved) (model.Model, error) {
	opened := make([]model.Model, len(all))
	for i, r := range all {
		client, err := m.open(r)
		if err != nil {
			return nil, usage(err)
		}
		var o resilient.RetryOptions
		if i < len(all)-1 {
			o.MaxWait = spareWait
		}
		opened[i] = resilient.NewRetry(client, o)
	}
	if len(opened) == 1 {
		return opened[0], nil
	}
	stay := m.settings.FallbackReturn != "next_turn"
	named := func(system string, p *model.Profile) string { return prompt.ForModel(system, p.Model) }
	return resilient.NewFallback(resilient.FallbackOptions{Stay: stay, System: named}, opened...), nil
}

// open makes the client of a model and puts keys, limits and breaker around it.
func (m *models) open(r *resolved) (model.Model, error) {
	if len(r.Pool) == 0 {
		client, err := provider.Open(r.Profile, wire.Options{})
		if err != nil {
			return nil, err
		}
		return m.breakers.Wrap(m.limits.Wrap(client, fixed(r))), nil
	}
	keys := resilient.NewKeys(resilient.KeyOptions{Refresh: m.refresh(r)}, r.Pool...)
	client, err := provider.Open(r.Profile, wire.Options{Keys: m.secrets.Source(keys)})
	if err != nil {
		return nil, err
	}
	return m.breakers.Wrap(m.limits.Wrap(keys.Wrap(client), fixed(r))), nil
}

func fixed(r *resolved) resilient.Fixed {
	return resilient.Fixed{ContextWindow: r.WindowSet, MaxOutput: r.MaxOutputSet}
}

// refresh returns what finds a key in place of one that was refused: it runs
// the key's command again, or reads environment and files anew.
func (m *models) refresh(r *resolved) func(ctx context.Context, refused string) (string, error) {
	if r.Refresh != nil {
		return r.Refresh
	}
	return func(ctx context.Context, refused string) (string, error) {
		settings, err := m.settings.Reload()
		if err != nil {
			return "", err
		}
		s, err := r.want(settings)
		if err != nil {
			return "", err
		}
		s.Provider, s.Model = r.Profile.Provider, r.Profile.Model
		now, err := provider.Resolve(ctx, s)
		if err != nil {
			return "", err
		}
		for _, source := range now.Pool {
			if !slices.Contains(r.Pool, source) {
				return source.Key(ctx)
			}
		}
		return refused, nil
	}
}
