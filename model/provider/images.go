package provider

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/rondo-engine/rondo/internal/picture"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// withoutImages is a client that sends images until they are refused. Where the
// endpoint takes none, the request is sent again with notes in their place, and
// so are all that follow. Where one is refused for its size, the images are made
// smaller, in that request and in later ones; if that does not help either, they
// are left out of the one request. The history keeps them all.
type withoutImages struct {
	seeing, blind model.Model
	refused       atomic.Bool
	small         smaller
}

// Profile tells who answers.
func (m *withoutImages) Profile() *model.Profile {
	if m.refused.Load() {
		return m.blind.Profile()
	}
	return m.seeing.Profile()
}

// Stream implements model.Model. That images are left out or made smaller is
// announced by a DeltaRetry.
func (m *withoutImages) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		now := m.small.request(req)
		for attempt := 1; ; attempt++ {
			e := m.try(ctx, now, yield)
			if e == nil {
				return
			}
			next := (*model.Request)(nil)
			if attempt < 3 && !m.refused.Load() && says(e, tooLarge) {
				next = m.small.tighter(req, now, m.seeing.Profile(), e)
			}
			if !yield(model.Delta{Kind: model.DeltaRetry, Notice: &model.Notice{Err: e, Attempt: attempt}}, nil) {
				return
			}
			if now = next; now == nil {
				pass(m.blind.Stream(ctx, req), yield)
				return
			}
		}
	}
}

// try sends a request. It returns an error if the images were refused before
// anything else came, and has passed on all that there was otherwise.
func (m *withoutImages) try(ctx context.Context, req *model.Request, yield func(model.Delta, error) bool) *model.Error {
	if m.refused.Load() {
		pass(m.blind.Stream(ctx, req), yield)
		return nil
	}
	begun := false
	for d, err := range m.seeing.Stream(ctx, req) {
		if err != nil && !begun {
			if e := m.refusal(err); e != nil && hasImages(req.History) {
				return e
			}
		}
		begun = true
		if !yield(d, err) {
			return nil
		}
	}
	return nil
}

func pass(stream iter.Seq2[model.Delta, error], yield func(model.Delta, error) bool) {
	for d, err := range stream {
		if !yield(d, err) {
			return
		}
	}
}

// What providers say when they refuse images: as such, for their size, or
// because they cannot be read.
var (
	imageWords = []string{"image", "vision", "multimodal", "multi-modal"}
	noImages   = []string{"support", "not allowed", "not accept", "unknown variant", "invalid content type", "not a multimodal", "only text", "expected `text`"}
	tooLarge   = []string{"exceed", "too large", "too big", "dimensions", "resolution"}
	unreadable = []string{"could not process", "unable to process", "invalid image"}
)

// says reports whether an error holds one of words.
func says(e *model.Error, words []string) bool {
	text := strings.ToLower(e.Err.Error())
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// refusal returns err if it refuses images, and remembers it if it refuses them
// all.
func (m *withoutImages) refusal(err error) *model.Error {
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Err == nil || e.Status < 400 || e.Status > 499 {
		return nil
	}
	if e.Class != model.InvalidRequest && e.Class != model.ModelNotFound || !says(e, imageWords) {
		return nil
	}
	if says(e, tooLarge) || says(e, unreadable) {
		return e
	}
	if says(e, noImages) {
		m.refused.Store(true)
		return e
	}
	return nil
}

func hasImages(h message.History) bool { return slices.ContainsFunc(h.Messages(), picture.In) }
