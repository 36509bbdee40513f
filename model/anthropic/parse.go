package anthropic

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
)

// ParseMessages reads the body of a Messages request: its system prompt, the
// text blocks of it joined by blank lines, and its messages. Tool results
// become messages of their own, in front of what else the user said with them.
// Cache marks are left out: the encoder sets its own. What has no neutral form
// becomes an opaque part of unknown origin but for the model's name.
//
// The messages are as they stand in the request; message.Normalise makes a
// history of them.
func ParseMessages(data []byte) (system string, msgs []*message.Message, err error) {
	var body struct {
		Model    string         `json:"model"`
		System   jsontext.Value `json:"system"`
		Messages []struct {
			Role    string         `json:"role"`
			Content jsontext.Value `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(data, &body, lenient); err != nil {
		return "", nil, fmt.Errorf("read Messages request: %w", err)
	}
	if body.Messages == nil {
		return "", nil, errors.New("read Messages request: it has no messages")
	}
	p := &parser{origin: message.Origin{Model: body.Model}, tools: make(map[string]string)}
	if system, err = systemText(body.System); err != nil {
		return "", nil, fmt.Errorf("read system prompt: %w", err)
	}
	for i, m := range body.Messages {
		if err := p.message(message.Role(m.Role), m.Content); err != nil {
			return "", nil, fmt.Errorf("read message %d: %w", i, err)
		}
	}
	return system, p.msgs, nil
}

func systemText(v jsontext.Value) (string, error) {
	if v.Kind() != '[' {
		return unquote(v), nil
	}
	var blocks []contentBlock
	if err := json.Unmarshal(v, &blocks, lenient); err != nil {
		return "", err
	}
	texts := make([]string, len(blocks))
	for i, b := range blocks {
		texts[i] = b.Text
	}
	return strings.Join(texts, "\n\n"), nil
}

// parser collects the messages of one request.
type parser struct {
	origin message.Origin
	tools  map[string]string // names by call id
	msgs   []*message.Message
}

func (p *parser) message(role message.Role, content jsontext.Value) error {
	m := &message.Message{Role: role}
	if role == message.Assistant {
		m.Origin = p.origin
	}
	if content.Kind() == '"' {
		m.Parts = []message.Part{message.Text(unquote(content))}
		p.msgs = append(p.msgs, m)
		return nil
	}
	var blocks []jsontext.Value
	if err := json.Unmarshal(content, &blocks, lenient); err != nil {
		return err
	}
	results := len(p.msgs)
	for i, raw := range blocks {
		if err := p.block(m, raw); err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
	}
	if len(m.Parts) > 0 || len(p.msgs) == results {
		p.msgs = append(p.msgs, m)
	}
	return nil
}

// block adds a block to m, or a tool result to the messages.
func (p *parser) block(m *message.Message, raw jsontext.Value) error {
	members, err := parseObject(raw)
	if err != nil {
		return err
	}
	members.remove("cache_control")
	raw = members.append(nil)
	var c contentBlock
	if err := json.Unmarshal(raw, &c, lenient); err != nil {
		return p.opaque(m, stateBlock, raw)
	}
	switch c.Type {
	case blockText, blockThinking, blockToolUse:
		b, err := newBlock(raw)
		if err != nil {
			return err
		}
		if part, ok := b.part(p.origin, false); ok {
			m.Parts = append(m.Parts, part)
		}
		p.tools[c.ID] = c.Name
		return nil
	case "tool_result":
		return p.result(&c)
	case "image", "document":
		if part, ok := p.media(&c, members); ok {
			m.Parts = append(m.Parts, part)
			return nil
		}
	case blockRedacted:
		return p.opaque(m, stateRedacted, raw)
	}
	return p.opaque(m, stateBlock, raw)
}

func (p *parser) opaque(m *message.Message, kind string, raw jsontext.Value) error {
	state := &message.State{Origin: p.origin, Kind: kind, Data: string(raw)}
	m.Parts = append(m.Parts, message.Part{Kind: message.KindOpaque, State: state})
	return nil
}

func (p *parser) result(c *contentBlock) error {
	r := &message.Message{Role: message.Tool, ToolCallID: c.ToolUseID, ToolName: p.tools[c.ToolUseID], Status: message.StatusOK}
	if c.IsError {
		r.Status = message.StatusError
	}
	switch c.Content.Kind() {
	case '"':
		r.Parts = []message.Part{message.Text(unquote(c.Content))}
	case '[':
		var blocks []jsontext.Value
		if err := json.Unmarshal(c.Content, &blocks, lenient); err != nil {
			return err
		}
		for i, raw := range blocks {
			if err := p.block(r, raw); err != nil {
				return fmt.Errorf("content block %d of the result: %w", i, err)
			}
		}
	}
	p.msgs = append(p.msgs, r)
	return nil
}

// media reads an image or a document; false if its source has no neutral form.
func (p *parser) media(c *contentBlock, members object) (message.Part, bool) {
	part := message.Part{Kind: message.KindImage, Media: &message.Media{Name: c.Title}}
	if c.Type == "document" {
		part.Kind = message.KindFile
	}
	if c.Source == nil {
		return part, false
	}
	switch c.Source.Type {
	case "base64":
		part.Media.MIME, part.Media.Data = c.Source.MediaType, c.Source.Data
	case "text":
		part.Media.MIME = c.Source.MediaType
		part.Media.Data = base64.StdEncoding.EncodeToString([]byte(c.Source.Data))
	case "url":
		part.Media.URL = c.Source.URL
	default:
		return part, false
	}
	for _, neutral := range []string{"type", "source", "title"} {
		members.remove(neutral)
	}
	part.State = membersState(p.origin, members)
	return part, true
}
