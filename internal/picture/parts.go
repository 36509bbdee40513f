package picture

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rondo-engine/rondo/message"
)

// In reports whether a message holds an image.
func In(m *message.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p message.Part) bool { return p.Kind == message.KindImage })
}

// FitParts returns parts with images that keep to l; parts itself if they do. A
// text stands in the place of one that could not be made smaller. The error
// says why, for each of those.
func FitParts(parts []message.Part, l Limits) ([]message.Part, error) {
	fit := parts
	var failed []error
	for i := range parts {
		p := &parts[i]
		if p.Kind != message.KindImage || p.Media == nil {
			continue
		}
		made, err := FitMedia(p.Media, l)
		if err == nil && made == p.Media {
			continue
		}
		if len(fit) > 0 && &fit[0] == &parts[0] {
			fit = slices.Clone(parts)
		}
		if err != nil {
			failed = append(failed, err)
			fit[i] = message.Text(fmt.Sprintf("[%s left out: %v]", named(p.Media), err))
			continue
		}
		fit[i].Media = made
	}
	return fit, errors.Join(failed...)
}

// FitMessage returns m with images that keep to l; m itself if they do.
func FitMessage(m *message.Message, l Limits) *message.Message {
	parts, _ := FitParts(m.Parts, l) // what could not be made smaller is told there
	if slices.Equal(parts, m.Parts) {
		return m
	}
	made := *m
	made.Parts = parts
	return &made
}

// FitHistory returns h with what fit makes of the messages that hold images.
func FitHistory(h message.History, fit func(*message.Message) *message.Message) message.History {
	made := h
	for i, m := range h.Messages() {
		if !In(m) {
			continue
		}
		if small := fit(m); small != m {
			if replaced, err := made.Replace(i, small); err == nil {
				made = replaced
			}
		}
	}
	return made
}

func named(m *message.Media) string {
	if m.Name == "" {
		return "image"
	}
	return "image " + m.Name
}
