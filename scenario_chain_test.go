package rondo_test

import (
	"context"
	"sync"
	"time"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
	"github.com/rondo-engine/rondo/model/resilient"
)

// chain is what stands around the models of a scenario with the setting chain:
// retries, breakers and fallback as the command line puts them. Its clock jumps
// over every wait.
type chain struct {
	names    []string // of the models, the first one is asked first
	mu       sync.Mutex
	now      time.Time
	breakers *resilient.Breakers
}

func newChain(names []string) *chain {
	c := &chain{names: names, now: time.Date(2026, 10, 21, 7, 0, 0, 0, time.UTC)}
	c.breakers = resilient.NewBreakers(resilient.BreakerOptions{Env: c.env()})
	return c
}

func (c *chain) env() resilient.Env {
	return resilient.Env{
		Now:  func() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now },
		Rand: func() float64 { return 0 },
		Sleep: func(ctx context.Context, d time.Duration) error {
			c.pass(d)
			return ctx.Err()
		},
	}
}

// pass lets time go by.
func (c *chain) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// open opens the models of the chain, each at a provider of its own.
func (c *chain) open(st *stage, srv *modeltest.Server, mode model.Mode, q model.Quirks) model.Model {
	var models []model.Model
	for i, name := range c.names {
		m := openModel(st.t, srv, mode, name, q)
		m.Profile().Provider = name
		o := resilient.RetryOptions{Env: c.env()}
		if i < len(c.names)-1 {
			o.MaxWait = 20 * time.Second
		}
		models = append(models, resilient.NewRetry(c.breakers.Wrap(m), o))
	}
	if len(models) == 1 {
		return models[0]
	}
	return resilient.NewFallback(resilient.FallbackOptions{Env: c.env()}, models...)
}
