package store

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/rondo-engine/rondo/message"
)

var (
	_ Journal = (*Memory)(nil)
	_ Mender  = (*Memory)(nil)
	_ Locker  = (*Memory)(nil)
)

// Record implements Journal.
func (m *Memory) Record(ctx context.Context, id string, msgs []*message.Message, u Update, effects []Effect) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := CheckEffects(id, effects); err != nil {
		return err
	}
	var known []Effect
	if s := m.byID[id]; s != nil {
		known = slices.Clone(s.effects)
	}
	for _, e := range effects {
		i := slices.IndexFunc(known, func(k Effect) bool { return k.MessageID == e.MessageID && k.Index == e.Index })
		switch {
		case i < 0 && !e.FinishedAt.IsZero():
			return fmt.Errorf("record the end of %s in session %s: %w", e.Tool, id, ErrNotBegun)
		case i < 0:
			known = append(known, e)
		case !e.FinishedAt.IsZero():
			known[i].FinishedAt, known[i].Status = e.FinishedAt, e.Status
		}
	}
	if err := m.append(ctx, id, msgs, u); err != nil {
		return err
	}
	m.byID[id].effects = known
	return nil
}

// Effects implements Journal.
func (m *Memory) Effects(_ context.Context, id, messageID string) ([]Effect, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.byID[id]
	if s == nil {
		return nil, fmt.Errorf("read the journal of session %s: %w", id, ErrNotFound)
	}
	var list []Effect
	for _, e := range s.effects {
		if e.MessageID == messageID {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b Effect) int { return a.Index - b.Index })
	return list, nil
}

// Mend implements Mender.
func (m *Memory) Mend(_ context.Context, id string, r Repair) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.byID[id]
	if s == nil {
		return fmt.Errorf("mend session %s: %w", id, ErrNotFound)
	}
	s.repairs = append(s.repairs, r)
	return nil
}

// Repairs implements Mender.
func (m *Memory) Repairs(_ context.Context, id string) ([]Repair, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.byID[id]
	if s == nil {
		return nil, fmt.Errorf("read the repairs of session %s: %w", id, ErrNotFound)
	}
	return slices.Clone(s.repairs), nil
}

// Lock implements Locker.
func (m *Memory) Lock(_ context.Context, id string) (func() error, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h, ok := m.locks[id]; ok {
		return nil, &LockedError{Session: id, Holder: h}
	}
	host, _ := os.Hostname() // a lock without it is still one
	m.locks[id] = Holder{PID: os.Getpid(), Host: host, Since: m.now()}
	return func() error {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.locks, id)
		return nil
	}, nil
}

// Holder implements Locker.
func (m *Memory) Holder(_ context.Context, id string) (Holder, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h, ok := m.locks[id]
	return h, ok, nil
}
