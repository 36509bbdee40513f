package gemini

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// Whole takes a reply in one piece, or the array of pieces that the API streams
// to who does not ask for events.
func (d *decoder) Whole(body []byte, yield func(model.Delta) bool) error {
	d.yield = yield
	if err := d.read(body, model.ServerError); err != nil {
		return err
	}
	if !d.started && d.blocked == "" {
		return d.fail(model.ServerError, errors.New("the reply is JSON, but holds no candidate"))
	}
	d.whole = strings.HasPrefix(strings.TrimSpace(string(body[:min(len(body), 64)])), "{")
	return nil
}

// End returns the reply if it is whole: if there is a finish reason, or a reason
// why the prompt is refused.
func (d *decoder) End() (*model.Reply, error) {
	d.yield = nil
	d.endText()
	switch {
	case d.finish == "MISSING_THOUGHT_SIGNATURE":
		return nil, d.fail(model.InvalidRequest, d.stopped())
	case len(d.parts) == 0 && otherReasons[d.finish]:
		return nil, d.fail(model.ServerError, d.stopped())
	case d.finish == "" && d.blocked == "" && !d.whole:
		return nil, d.fail(model.StreamTruncated, errors.New("the reply ended without a finish reason"))
	}
	return d.reply(), nil
}

// otherReasons are the finish reasons that tell nothing.
var otherReasons = map[string]bool{"OTHER": true, "NO_IMAGE": true, "IMAGE_OTHER": true, "MALFORMED_RESPONSE": true}

func (d *decoder) stopped() error {
	err := fmt.Errorf("the provider ended the reply with finish reason %q", d.finish)
	if d.words != "" {
		err = fmt.Errorf("%w: %s", err, d.words)
	}
	return err
}

// Finished reports that there is a finish reason: what may still come is the
// usage.
func (d *decoder) Finished() bool { return d.finish != "" || d.blocked != "" }

func (d *decoder) reply() *model.Reply {
	finish := d.reason()
	r := &model.Reply{
		Message: d.message(), Finish: finish, Announced: finish == model.FinishToolCalls,
		Usage: readUsage(d.usage), ID: d.id, Model: d.model,
	}
	if finish == model.FinishContentFilter {
		r.Refusal = cmp.Or(d.words, "refused: "+cmp.Or(d.blocked, d.finish))
	}
	return r
}

// message makes the message of what has arrived.
func (d *decoder) message() *message.Message {
	m := &message.Message{Role: message.Assistant, Origin: d.profile.Origin()}
	for _, p := range d.parts {
		m.Parts = append(m.Parts, p.neutral(m.Origin))
	}
	return m
}

func (p *part) neutral(origin message.Origin) message.Part {
	out := message.Part{Kind: p.kind, Text: string(p.text), Call: p.call}
	switch {
	case p.raw != "":
		out.State = &message.State{Origin: origin, Kind: statePart, Data: p.raw}
	case p.signature != signature{}:
		data, _ := json.Marshal(p.signature, lenient) // two strings
		out.State = &message.State{Origin: origin, Kind: stateSignature, Data: string(data)}
	}
	return out
}

// reason maps the API's finish reasons, which have none for calls. A call that
// the model failed to write is one that was announced and lost.
func (d *decoder) reason() model.Finish {
	if d.blocked != "" {
		return model.FinishContentFilter
	}
	switch d.finish {
	case "MAX_TOKENS":
		return model.FinishLength
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY",
		"IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return model.FinishContentFilter
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS":
		return model.FinishToolCalls
	}
	if d.calls > 0 {
		return model.FinishToolCalls
	}
	return model.FinishStop
}

// refused makes an error of the provider's error object.
func (d *decoder) refused(body []byte) error {
	e := model.Classify(model.Failure{
		Op: opStream, Provider: d.profile.Provider, Model: d.profile.Model,
		Status: http.StatusOK, Body: append([]byte(nil), body...),
	})
	e.Partial = d.partial()
	return e
}

func (d *decoder) fail(class model.Class, err error) error {
	return &model.Error{
		Op: opStream, Class: class, Provider: d.profile.Provider, Model: d.profile.Model,
		Status: http.StatusOK, RetryAfter: -1, Partial: d.partial(), Err: err,
	}
}

// partial returns what has arrived, or nil.
func (d *decoder) partial() *model.Reply {
	if len(d.parts) == 0 && len(d.usage) == 0 {
		return nil
	}
	return &model.Reply{
		Message: d.message(), Finish: model.FinishError,
		Usage: readUsage(d.usage), ID: d.id, Model: d.model,
	}
}
