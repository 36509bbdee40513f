package anthropic

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// head is the body up to the first message: model, tools and system prompt. It
// stays the same from round to round.
type head struct {
	profile *model.Profile
	system  []string
	tools   *model.ToolSet
	bytes   []byte
	// names are the tools' names by those they are sent under, where they differ.
	names  map[string]string
	marked bool
}

// head returns the head of req, the last one if nothing in it has changed.
func (e *encoder) head(req *model.Request) (*head, error) {
	system := req.SystemTexts()
	m := e.memory()
	if h := m.head; h != nil && h.profile == e.profile && h.tools == req.Tools && slices.Equal(h.system, system) {
		return h, nil
	}
	h := &head{profile: e.profile, system: system, tools: req.Tools}
	b := wire.AppendString([]byte(`{"model":`), e.profile.Model)
	mark := e.markBudget() > 0
	b, err := e.appendTools(b, h, mark && len(system) == 0)
	if err != nil {
		return nil, err
	}
	b = h.appendSystem(b, mark)
	h.bytes = append(b, `,"messages":[`...)
	m.head = h
	return h, nil
}

func (h *head) appendSystem(b []byte, mark bool) []byte {
	if len(h.system) == 0 {
		return b
	}
	b = append(b, `,"system":[`...)
	for _, s := range h.system {
		b = appendText(b, s)
	}
	b = b[:len(b)-len("},")]
	if mark {
		b = append(b, cacheMark...)
		h.marked = true
	}
	return append(b, "}]"...)
}

// appendTools appends the tools on offer, those of the same name once, and
// behind them what the profile adds, such as tools of the server.
func (e *encoder) appendTools(b []byte, h *head, mark bool) ([]byte, error) {
	start := len(b)
	b = append(b, `,"tools":[`...)
	first := len(b)
	b, err := h.appendSpecs(b)
	if err != nil {
		return nil, err
	}
	if mark && len(b) > first {
		b = append(append(b[:len(b)-len("},")], cacheMark...), "},"...)
		h.marked = true
	}
	if more := strings.TrimSpace(e.profile.Extra["tools"]); len(more) > len("[]") {
		if more[0] != '[' {
			return nil, errors.New(`extra member "tools" of the profile is not an array`)
		}
		b = append(append(b, strings.TrimSpace(more[1:len(more)-1])...), ',')
	}
	if len(b) == first {
		return b[:start], nil
	}
	return append(b[:len(b)-1], ']'), nil
}

func (h *head) appendSpecs(b []byte) ([]byte, error) {
	var tools []wire.Tool
	tools, h.names = wire.Tools(h.tools, false)
	for _, t := range tools {
		var err error
		if b, err = appendTool(b, t); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func appendTool(b []byte, t wire.Tool) ([]byte, error) {
	schema, err := inputSchema(t.Schema)
	if err != nil {
		return nil, fmt.Errorf("tool %q: schema: %w", t.ToolSpec.Name, err)
	}
	b = wire.AppendString(append(b, `{"name":`...), t.Name)
	if t.Description != "" {
		b = wire.AppendString(append(b, `,"description":`...), t.Description)
	}
	b = append(append(b, `,"input_schema":`...), schema...)
	return append(b, "},"...), nil
}

// inputSchema returns the form of a schema that the API takes: its root is of
// type object and joins no others.
func inputSchema(raw []byte) ([]byte, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return []byte(`{"type":"object","properties":{}}`), nil
	}
	if !isObject(string(raw)) {
		return nil, errors.New("it is not a JSON object")
	}
	o, err := parseObject(raw)
	if err != nil {
		return nil, err
	}
	for _, joining := range []string{"anyOf", "oneOf", "allOf"} {
		o.remove(joining)
	}
	if m := o.find("type"); m == nil || unquote(m.value) != "object" {
		o.set("type", jsontext.Value(`"object"`))
	}
	schema := jsontext.Value(o.append(nil))
	if err := schema.Compact(lenient); err != nil {
		return nil, err
	}
	return schema, nil
}
