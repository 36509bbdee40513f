package resilient

import (
	"context"
	"sync"
	"time"

	"github.com/rondo-engine/rondo/model"
)

// breaker is the state behind one provider and account. It is closed while
// failures are few, open until a time after that, and half open while a probe
// is under way.
type breaker struct {
	o        *BreakerOptions
	mu       sync.Mutex
	failures int
	until    time.Time
	last     *model.Error
	// probe is closed when the probe that is under way has an answer; nil
	// when there is none.
	probe chan struct{}
}

// enter lets a call through or returns an *OpenError or ctx's error. The probe
// is not nil if this call is to find out whether the provider has recovered.
func (b *breaker) enter(ctx context.Context) (probe chan struct{}, err error) {
	for {
		probe, others, err := b.tryEnter()
		if others == nil {
			return probe, err
		}
		select {
		case <-others:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (b *breaker) tryEnter() (probe chan struct{}, others <-chan struct{}, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.failures < b.o.Failures:
		return nil, nil, nil
	case b.probe != nil:
		return nil, b.probe, nil
	case b.o.Now().Before(b.until):
		return nil, nil, &OpenError{Failures: b.failures, Until: b.until, Err: b.last}
	}
	b.probe = make(chan struct{})
	return b.probe, nil, nil
}

// succeed closes the breaker: a whole reply came.
func (b *breaker) succeed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures = 0
	b.end(b.probe)
}

// answered closes the breaker for now: the probe has brought a first delta. One
// more failure opens it.
func (b *breaker) answered(probe chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.probe == probe {
		b.failures = b.o.Failures - 1
		b.end(probe)
	}
}

// fail counts a failure and returns an *OpenError if it opens the breaker. Only
// that of a probe prolongs the time for which a breaker is open.
func (b *breaker) fail(e *model.Error, probe chan struct{}) *OpenError {
	b.mu.Lock()
	defer b.mu.Unlock()
	isProbe := probe != nil && b.probe == probe
	if b.failures >= b.o.Failures && !isProbe {
		return nil
	}
	b.failures++
	b.last = e
	if isProbe {
		b.end(probe)
	}
	if b.failures < b.o.Failures {
		return nil
	}
	b.until = b.o.Now().Add(b.o.Open)
	return &OpenError{Provider: e.Provider, Failures: b.failures, Until: b.until, Err: e.Err}
}

// abandon makes room for another probe if this one ended without an answer.
func (b *breaker) abandon(probe chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end(probe)
}

// end ends a probe, if it is under way, and lets those go on who wait for it.
func (b *breaker) end(probe chan struct{}) {
	if probe != nil && b.probe == probe {
		close(probe)
		b.probe = nil
	}
}
