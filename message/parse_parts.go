package message

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// parseContent reads the member content: a string, an array of parts or
// strings, one part, or anything else, which is kept as the text of its JSON.
func parseContent(v jsontext.Value) ([]Part, error) {
	if isNothing(v) {
		return nil, nil
	}
	switch v.Kind() {
	case '"':
		if s := scalar(v); s != "" {
			return []Part{Text(s)}, nil
		}
		return nil, nil
	case '{':
		p, err := parseContentPart(v)
		if err != nil { // no part, but the result of a tool may be any object
			p = Text(compact(v))
		}
		return []Part{p}, nil
	case '[':
		return parseContentArray(v)
	}
	return []Part{Text(string(v))}, nil
}

func parseContentArray(v jsontext.Value) ([]Part, error) {
	var raw []jsontext.Value
	if err := json.Unmarshal(v, &raw, lenient); err != nil {
		return nil, err
	}
	parts := make([]Part, 0, len(raw))
	for i, r := range raw {
		if r.Kind() == '"' {
			parts = append(parts, Text(scalar(r)))
			continue
		}
		p, err := parseContentPart(r)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// wireContent is a content part in any of the forms in use: those of OpenAI's
// chat completions and responses, and the image of Anthropic's messages.
type wireContent struct {
	Type     string         `json:"type"`
	Text     jsontext.Value `json:"text"`
	Refusal  jsontext.Value `json:"refusal"`
	ImageURL jsontext.Value `json:"image_url"`
	Thinking jsontext.Value `json:"thinking"`
	Sig      string         `json:"signature"`
	File     *wireFile      `json:"file"`
	Source   *wireSource    `json:"source"`
}

type wireFile struct {
	Data string `json:"file_data"`
	URL  string `json:"file_url"`
	ID   string `json:"file_id"`
	Name string `json:"filename"`
	MIME string `json:"mime"`
}

type wireImage struct {
	URL  string `json:"url"`
	MIME string `json:"mime"`
	Name string `json:"name"`
}

type wireSource struct {
	Type string `json:"type"`
	MIME string `json:"media_type"`
	Data string `json:"data"`
	URL  string `json:"url"`
}

// parseContentPart reads a part. One of unknown type, or in an unknown form of
// a known type, is kept as an opaque part; what has no type is an error.
func parseContentPart(v jsontext.Value) (Part, error) {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(v, &kind, lenient); err != nil {
		return Part{}, fmt.Errorf("want a string or an object with a type: %w", err)
	}
	if kind.Type == "" {
		return Part{}, errors.New("an object without a type")
	}
	var w wireContent
	if json.Unmarshal(v, &w, lenient) == nil {
		if p, ok := w.part(); ok {
			return p, nil
		}
	}
	return Part{Kind: KindOpaque, State: &State{Kind: stateContentPart, Data: compact(v)}}, nil
}

// part makes the part that w describes; ok is false when it is none of ours.
func (w *wireContent) part() (p Part, ok bool) {
	switch w.Type {
	case "text", "input_text", "output_text":
		return Text(scalar(w.Text)), len(w.Text) > 0 && w.Text.Kind() == '"'
	case "refusal":
		return Text(scalar(w.Refusal)), len(w.Refusal) > 0 && w.Refusal.Kind() == '"'
	case "thinking":
		return w.thinking()
	case "image_url", "input_image":
		return parseImage(w.ImageURL)
	case "image":
		if s := w.Source; s != nil && (s.Data != "" || s.URL != "") {
			return Part{Kind: KindImage, Media: &Media{MIME: s.MIME, Data: s.Data, URL: s.URL}}, true
		}
	case "file":
		if f := w.File; f != nil && f.ID == "" {
			return f.part()
		}
	}
	return Part{}, false
}

// thinking reads reasoning that stands among the content, as a string or, as in
// Mistral's form, an array of texts.
func (w *wireContent) thinking() (p Part, ok bool) {
	texts, err := parseContent(w.Thinking)
	if err != nil {
		return Part{}, false
	}
	m := Message{Parts: texts}
	r := wireReasoning{Text: new(m.Text()), Signature: w.Sig}
	return r.parts(Origin{})[0], true
}

func (f *wireFile) part() (p Part, ok bool) {
	m := ParseMedia(f.Data)
	if f.URL != "" {
		m = &Media{URL: f.URL}
	}
	if m.MIME == "" {
		m.MIME = f.MIME
	}
	m.Name = f.Name
	return Part{Kind: KindFile, Media: m}, f.Data != "" || f.URL != ""
}

// parseImage reads {url, …} or, as in OpenAI's responses, the URL alone.
func parseImage(v jsontext.Value) (p Part, ok bool) {
	var w wireImage
	switch {
	case isObject(v):
		if json.Unmarshal(v, &w, lenient) != nil {
			return Part{}, false
		}
	default:
		w.URL = scalar(v)
	}
	m := ParseMedia(w.URL)
	if m.MIME == "" {
		m.MIME = w.MIME
	}
	m.Name = w.Name
	return Part{Kind: KindImage, Media: m}, w.URL != ""
}

// ParseMedia makes media of a URL: its content, where that stands in base64 in
// the URL itself (RFC 2397), or else a reference to it.
func ParseMedia(url string) *Media {
	if rest, ok := strings.CutPrefix(url, "data:"); ok {
		if mime, data, ok := strings.Cut(rest, ";base64,"); ok {
			return &Media{MIME: mime, Data: data}
		}
	}
	return &Media{URL: url}
}

// wireReasoning is a reasoning part: ours, or one with a signature beside it.
type wireReasoning struct {
	Text      *string        `json:"text"`
	Signature string         `json:"signature"`
	Origin    jsontext.Value `json:"origin"`
	State     *wireState     `json:"state"`
}

func (w *wireMessage) reasoning(origin Origin) ([]Part, error) {
	v := w.Reasoning
	if isNothing(v) {
		v = w.ReasoningContent
	}
	parts, err := parseReasoning(v, origin)
	if err != nil || len(w.ReasoningDetails) < len(`[{}]`) || w.ReasoningDetails.Kind() != '[' {
		return parts, err
	}
	if len(parts) == 0 {
		parts = []Part{Reasoning("")}
	}
	if parts[0].State == nil {
		parts[0].State = &State{Origin: origin, Kind: stateReasoningDetails, Data: compact(w.ReasoningDetails)}
	}
	return parts, nil
}

func parseReasoning(v jsontext.Value, origin Origin) ([]Part, error) {
	if isNothing(v) {
		return nil, nil
	}
	switch v.Kind() {
	case '"':
		if s := scalar(v); s != "" {
			return []Part{Reasoning(s)}, nil
		}
		return nil, nil
	case '[':
		var raw []jsontext.Value
		if err := json.Unmarshal(v, &raw, lenient); err != nil {
			return nil, err
		}
		var parts []Part
		for i, r := range raw {
			p, err := parseReasoning(r, origin)
			if err != nil {
				return nil, fmt.Errorf("part %d: %w", i, err)
			}
			parts = append(parts, p...)
		}
		return parts, nil
	case '{':
		var r wireReasoning
		if err := json.Unmarshal(v, &r, lenient); err != nil {
			return nil, err
		}
		return r.parts(origin), nil
	}
	return nil, fmt.Errorf("want a string, an object with a text, or an array of those, got %s", v)
}

func (r *wireReasoning) parts(origin Origin) []Part {
	p := Part{Kind: KindReasoning}
	if r.Text != nil {
		p.Text = *r.Text
	}
	switch {
	case r.State != nil:
		p.State = r.State.state()
	case r.Signature != "":
		if o := parseOrigin(r.Origin); o != (Origin{}) {
			origin = o
		}
		data := appendString([]byte(`{"signature":`), r.Signature)
		p.State = &State{Origin: origin, Kind: stateThinking, Data: string(append(data, '}'))}
	case r.Text == nil:
		return nil
	}
	return []Part{p}
}

// wireCall is a tool call in OpenAI's form, in the form of a custom tool, or
// with the function's members beside the id.
type wireCall struct {
	ID           jsontext.Value `json:"id"`
	Function     *wireFunction  `json:"function"`
	Custom       *wireFunction  `json:"custom"`
	Name         jsontext.Value `json:"name"`
	Arguments    jsontext.Value `json:"arguments"`
	ExtraContent jsontext.Value `json:"extra_content"`
}

type wireFunction struct {
	Name      jsontext.Value `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
	Input     jsontext.Value `json:"input"`
}

func (w *wireMessage) calls(origin Origin) ([]Part, error) {
	var calls []wireCall
	if !isNothing(w.ToolCalls) {
		if err := json.Unmarshal(w.ToolCalls, &calls, lenient); err != nil {
			return nil, err
		}
	}
	if len(calls) == 0 && isObject(w.FunctionCall) {
		var f wireFunction
		if err := json.Unmarshal(w.FunctionCall, &f, lenient); err != nil {
			return nil, fmt.Errorf("function_call: %w", err)
		}
		calls = []wireCall{{Function: &f}}
	}
	var parts []Part
	for i := range calls {
		parts = append(parts, calls[i].part(origin))
	}
	return parts, nil
}

func (c *wireCall) part(origin Origin) Part {
	f := wireFunction{Name: c.Name, Arguments: c.Arguments}
	switch {
	case c.Function != nil:
		f = *c.Function
	case c.Custom != nil:
		f = wireFunction{Name: c.Custom.Name, Arguments: c.Custom.Input}
	}
	args := scalar(f.Arguments)
	if !isNothing(f.Arguments) && f.Arguments.Kind() != '"' {
		args = compact(f.Arguments)
	}
	p := Call(scalar(c.ID), scalar(f.Name), args)
	if isObject(c.ExtraContent) {
		p.State = &State{Origin: origin, Kind: stateExtraContent, Data: compact(c.ExtraContent)}
	}
	return p
}
