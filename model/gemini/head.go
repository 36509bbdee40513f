package gemini

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// head is the body up to the first content: system prompt and tools. It stays
// the same from round to round.
type head struct {
	profile *model.Profile
	system  []string
	tools   *model.ToolSet
	bytes   []byte
	// names are the tools' names by those they are sent under, where they differ.
	names map[string]string
}

// head returns the head of req, the last one if nothing in it has changed.
func (e *encoder) head(req *model.Request, cache *model.Cache) (*head, error) {
	system := req.SystemTexts()
	if h, ok := cache.Aux.(*head); ok && h.profile == e.profile && h.tools == req.Tools && slices.Equal(h.system, system) {
		return h, nil
	}
	h := &head{profile: e.profile, system: system, tools: req.Tools}
	b := []byte{'{'}
	if len(system) > 0 {
		b = append(b, `"systemInstruction":{"parts":[`...)
		for _, s := range system {
			b = appendText(b, s)
		}
		b = append(b[:len(b)-1], "]},"...)
	}
	b, err := h.appendTools(b)
	if err != nil {
		return nil, err
	}
	h.bytes = append(b, `"contents":[`...)
	cache.Aux = h
	return h, nil
}

// appendTools appends the tools on offer, those of the same name once, and
// behind them what the profile adds, such as tools of the provider.
func (h *head) appendTools(b []byte) ([]byte, error) {
	start := len(b)
	b = append(b, `"tools":[`...)
	first := len(b)
	b, err := h.appendFunctions(b)
	if err != nil {
		return nil, err
	}
	if more := strings.TrimSpace(h.profile.Extra["tools"]); len(more) > len("[]") {
		if more[0] != '[' {
			return nil, errors.New(`extra member "tools" of the profile is not an array`)
		}
		b = append(append(b, strings.TrimSpace(more[1:len(more)-1])...), ',')
	}
	if len(b) == first {
		return b[:start], nil
	}
	return append(b[:len(b)-1], "],"...), nil
}

func (h *head) appendFunctions(b []byte) ([]byte, error) {
	var tools []wire.Tool
	if tools, h.names = wire.Tools(h.tools, true); tools == nil {
		return b, nil
	}
	b = append(b, `{"functionDeclarations":[`...)
	for _, t := range tools {
		var err error
		if b, err = appendFunction(b, t); err != nil {
			return nil, err
		}
	}
	return append(b[:len(b)-1], "]},"...), nil
}

func appendFunction(b []byte, t wire.Tool) ([]byte, error) {
	schema, err := model.PlainSchema(t.Schema)
	if err != nil {
		return nil, fmt.Errorf("tool %q: %w", t.ToolSpec.Name, err)
	}
	b = wire.AppendString(append(b, `{"name":`...), t.Name)
	if t.Description != "" {
		b = wire.AppendString(append(b, `,"description":`...), t.Description)
	}
	if schema != nil {
		b = append(append(b, `,"parameters":`...), schema...)
	}
	return append(b, "},"...), nil
}
