package model

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// minSecret is the length in bytes from which on a key is hidden wherever it
// shows: shorter ones are words such as "ollama" that stand for no key, and
// hiding them would damage texts that mean something else.
const minSecret = 8

// hidden stands in place of a key.
const hidden = "[key]"

// Secrets are the keys that a process knows. They are hidden in what it shows
// and stores: results of tools, errors and messages to the user. It is safe for
// concurrent use; a nil *Secrets hides nothing.
type Secrets struct {
	mu       sync.RWMutex
	keys     []string
	replacer *strings.Replacer
}

// Add adds keys. Those of less than 8 bytes are taken for placeholders.
func (s *Secrets) Add(keys ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		if len(key) >= minSecret && !slices.Contains(s.keys, key) {
			s.keys = append(s.keys, key)
			s.replacer = nil
		}
	}
}

// Hide returns text with each key replaced by "[key]".
func (s *Secrets) Hide(text string) string {
	if s == nil || !s.in(text) {
		return text
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.replacer == nil {
		// Of keys that begin alike the longest is replaced.
		slices.SortFunc(s.keys, func(a, b string) int { return len(b) - len(a) })
		var pairs []string
		for _, key := range s.keys {
			pairs = append(pairs, key, hidden)
		}
		s.replacer = strings.NewReplacer(pairs...)
	}
	return s.replacer.Replace(text)
}

// in reports whether text holds a key.
func (s *Secrets) in(text string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.ContainsFunc(s.keys, func(key string) bool { return strings.Contains(text, key) })
}

// Source returns a source of the keys of k that adds each before it gives it
// out.
func (s *Secrets) Source(k KeySource) KeySource { return &watchedKeys{s, k} }

type watchedKeys struct {
	secrets *Secrets
	keys    KeySource
}

func (w *watchedKeys) Key(ctx context.Context) (string, error) {
	key, err := w.keys.Key(ctx)
	w.secrets.Add(key)
	return key, err
}

// HideKey replaces key in the words of e's cause.
func (e *Error) HideKey(key string) {
	if len(key) < minSecret || e.Err == nil {
		return
	}
	if text := e.Err.Error(); strings.Contains(text, key) {
		e.Err = &maskedError{strings.ReplaceAll(text, key, hidden), e.Err}
	}
}
