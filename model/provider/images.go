package provider

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// withoutImages is a client that sends images until they are refused: the
// request is then sent again with notes in their place, and so are all that
// follow. An image that is refused for its size is left out of one request; the
// client goes on to send others. The history keeps them all.
type withoutImages struct {
	seeing, blind model.Model
	refused       atomic.Bool
}

// Profile tells who answers.
func (m *withoutImages) Profile() *model.Profile {
	if m.refused.Load() {
		return m.blind.Profile()
	}
	return m.seeing.Profile()
}

// Stream implements model.Model. That images are left out is announced by a
// DeltaRetry.
func (m *withoutImages) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	if m.refused.Load() {
		return m.blind.Stream(ctx, req)
	}
	return func(yield func(model.Delta, error) bool) {
		begun := false
		for d, err := range m.seeing.Stream(ctx, req) {
			if err != nil && !begun {
				if e := m.refusal(err); e != nil && hasImages(req.History) {
					m.again(ctx, req, e, yield)
					return
				}
			}
			begun = true
			if !yield(d, err) {
				return
			}
		}
	}
}

// again sends req without images.
func (m *withoutImages) again(ctx context.Context, req *model.Request, e *model.Error, yield func(model.Delta, error) bool) {
	if !yield(model.Delta{Kind: model.DeltaRetry, Notice: &model.Notice{Err: e, Attempt: 1}}, nil) {
		return
	}
	for d, err := range m.blind.Stream(ctx, req) {
		if !yield(d, err) {
			return
		}
	}
}

// What providers say when they refuse images: as such, or for their size.
var (
	imageWords = []string{"image", "vision", "multimodal", "multi-modal"}
	noImages   = []string{"support", "not allowed", "not accept", "unknown variant", "invalid content type", "not a multimodal", "only text", "expected `text`"}
	badImage   = []string{"exceeds", "too large", "too big", "dimensions", "could not process", "unable to process", "invalid image", "resolution"}
)

// refusal returns err if it refuses images, and remembers it if it refuses them
// all.
func (m *withoutImages) refusal(err error) *model.Error {
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Err == nil || e.Status < 400 || e.Status > 499 {
		return nil
	}
	if e.Class != model.InvalidRequest && e.Class != model.ModelNotFound {
		return nil
	}
	text := strings.ToLower(e.Err.Error())
	holds := func(word string) bool { return strings.Contains(text, word) }
	if !slices.ContainsFunc(imageWords, holds) {
		return nil
	}
	if slices.ContainsFunc(badImage, holds) {
		return e
	}
	if slices.ContainsFunc(noImages, holds) {
		m.refused.Store(true)
		return e
	}
	return nil
}

func hasImages(h message.History) bool {
	return slices.ContainsFunc(h.Messages(), func(m *message.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p message.Part) bool { return p.Kind == message.KindImage })
	})
}
