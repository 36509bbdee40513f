package responses

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// ParseItems reads the input of a Responses request, an array of items or a
// string, as messages. What items of the assistant stand in a row become one
// message. Who made an item is told by its member _origin (provider, model,
// account), which is not part of the protocol; without it the origin is unknown.
//
// The result is what the items say, not yet a valid history: see
// message.Normalise. ParseItems fails if data is no JSON of this form.
func ParseItems(data []byte) ([]*message.Message, error) {
	v := jsontext.Value(data)
	if v.Kind() == '"' {
		return []*message.Message{message.NewUser(text(v))}, nil
	}
	var raws []jsontext.Value
	if err := decode(v, &raws); err != nil {
		return nil, fmt.Errorf("parse input items: %w", err)
	}
	r := &reader{names: map[string]string{}}
	for i, raw := range raws {
		if err := r.item(raw); err != nil {
			return nil, fmt.Errorf("parse input item %d: %w", i, err)
		}
	}
	return r.msgs, nil
}

// reader turns items into messages.
type reader struct {
	msgs []*message.Message
	// names are the names of the tools by call id.
	names map[string]string
}

func (r *reader) item(raw jsontext.Value) error {
	var wi item
	if err := decode(raw, &wi); err != nil {
		return err
	}
	if wi.Type == "" && wi.Role != "" {
		wi.Type = "message"
	}
	switch {
	case wi.Type == "":
		return errors.New("it has neither a type nor a role")
	case wi.Type == "message" && wi.Role != string(message.Assistant):
		r.said(&wi)
		return nil
	case wi.Type == "function_call_output" || wi.Type == "custom_tool_call_output":
		r.result(&wi)
		return nil
	}
	return r.assistant(&wi, raw)
}

// said reads the message of a user, a system or a developer.
func (r *reader) said(wi *item) {
	m := &message.Message{Role: message.User, Parts: inputParts(wi.Content)}
	if wi.Role != string(message.User) {
		m.Role = message.System
	}
	r.msgs = append(r.msgs, m)
}

func (r *reader) result(wi *item) {
	id := text(wi.CallID)
	m := &message.Message{Role: message.Tool, ToolCallID: id, ToolName: r.names[id]}
	if wi.Output.Kind() == '[' {
		m.Parts = inputParts(wi.Output)
	} else {
		m.Parts = []message.Part{message.Text(text(wi.Output))}
	}
	r.msgs = append(r.msgs, m)
}

// assistant reads any other item as the decoder of replies does.
func (r *reader) assistant(wi *item, raw []byte) error {
	var o message.Origin
	if present(wi.Origin) {
		if err := decode(wi.Origin, &o); err != nil {
			return fmt.Errorf("member _origin: %w", err)
		}
	}
	d := &decoder{
		p:     &model.Profile{Provider: o.Provider, Model: o.Model, Account: o.Account},
		yield: func(model.Delta) bool { return true },
	}
	it := d.add(0)
	it.finish(d, wi, raw)
	parts := it.parts(d)
	for _, p := range parts {
		if p.Call != nil {
			r.names[p.Call.ID] = p.Call.Name
		}
	}
	if n := len(r.msgs); n > 0 && r.msgs[n-1].Role == message.Assistant {
		r.msgs[n-1].Parts = append(r.msgs[n-1].Parts, parts...)
		return nil
	}
	r.msgs = append(r.msgs, &message.Message{Role: message.Assistant, Origin: o, Parts: parts})
	return nil
}

// inputParts reads the content of an input message or a result.
func inputParts(content jsontext.Value) []message.Part {
	if content.Kind() == '"' {
		return []message.Part{message.Text(text(content))}
	}
	var parts []message.Part
	for _, raw := range elements(content) {
		var p piece
		if decode(raw, &p) != nil {
			p = piece{}
		}
		parts = append(parts, inputPart(&p, raw))
	}
	return parts
}

func inputPart(p *piece, raw jsontext.Value) message.Part {
	switch url, data := text(p.ImageURL), text(p.FileData); {
	case present(p.Text):
		return message.Text(text(p.Text))
	case url != "":
		return message.Part{Kind: message.KindImage, Media: message.ParseMedia(url)}
	case data != "":
		m := message.ParseMedia(data)
		if m.URL != "" { // base64 without the frame of a data URL
			m = &message.Media{MIME: "application/octet-stream", Data: data}
		}
		m.Name = text(p.FileName)
		return message.Part{Kind: message.KindFile, Media: m}
	case present(p.FileURL):
		return message.Part{Kind: message.KindFile, Media: &message.Media{URL: text(p.FileURL), Name: text(p.FileName)}}
	}
	return message.Part{Kind: message.KindOpaque, State: &message.State{Kind: stateContent, Data: without(raw)}}
}
