package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Retitler is a Store that can give a session a better title without taking
// away one that a person gave it.
type Retitler interface {
	Store
	// Retitle gives session id the title to, with a number if that is taken,
	// if its title is still from, with or without a number. It returns the
	// title that the session has then.
	Retitle(ctx context.Context, id, from, to string) (string, error)
}

var _ Retitler = (*Memory)(nil)

// Numbered reports whether title is base, or base with a number as FreeTitle
// gives it.
func Numbered(title, base string) bool {
	rest, ok := strings.CutPrefix(title, base)
	if !ok || rest == "" {
		return ok
	}
	digits, ok := strings.CutPrefix(rest, " #")
	n, err := strconv.Atoi(digits)
	return ok && err == nil && n > 1
}

// Retitle implements Retitler.
func (m *Memory) Retitle(_ context.Context, id, from, to string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.byID[id]
	if s == nil {
		return "", fmt.Errorf("retitle session %s: %w", id, ErrNotFound)
	}
	if Numbered(s.Title, from) {
		s.Title = m.freeTitle(to, s)
	}
	return s.Title, nil
}
