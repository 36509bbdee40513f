package chat

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// The forms of state that this adapter makes.
const (
	// stateDetails is a reasoning_details array, on the reasoning or, where
	// none can be read, on an opaque part.
	stateDetails = "chat.reasoning_details"
	// stateExtra is the extra_content of a call or, on a text part, of the
	// message: Gemini's thought signatures.
	stateExtra = "chat.extra_content"
)

// End returns the reply. It is whole when the provider gave a finish reason, or
// said [DONE] after some content whose calls are complete and nothing that
// cannot be read.
func (d *decoder) End() (*model.Reply, error) {
	d.yield = nil
	d.endText()
	switch {
	case d.finish != "":
	case d.words != nil:
		return nil, d.failed(d.words)
	case !d.done:
		return nil, d.truncated("the reply ended without a finish reason")
	case d.isEmpty():
		return nil, d.truncated("the reply ended without content and without a finish reason")
	case d.calls.cut():
		return nil, d.truncated("the reply ended within a tool call, without a finish reason")
	}
	return d.reply(), nil
}

func (d *decoder) reply() *model.Reply {
	r := &model.Reply{
		Message: &message.Message{Role: message.Assistant, Parts: d.parts(), Origin: d.origin},
		Finish:  d.finish, Announced: d.finish == model.FinishToolCalls,
		Refusal: string(d.refusal), Usage: readUsage(d.usage), ID: d.id, Model: d.model,
	}
	switch {
	case r.Refusal != "" && len(d.text) == 0 && len(d.calls) == 0:
		r.Finish = model.FinishContentFilter
	case r.Finish == model.FinishLength, r.Finish == model.FinishContentFilter, r.Finish == model.FinishPause:
	case len(d.calls) > 0, r.Announced:
		r.Finish = model.FinishToolCalls
	default:
		r.Finish = model.FinishStop
	}
	return r
}

func (d *decoder) parts() []message.Part {
	var parts []message.Part
	if len(d.reasoning) > 0 {
		parts = append(parts, message.Reasoning(string(d.reasoning)))
	}
	if len(d.details.items) > 0 {
		if len(parts) == 0 {
			parts = append(parts, message.Part{Kind: message.KindOpaque})
		}
		parts[0].State = d.state(stateDetails, d.details.json())
	}
	if len(d.text) > 0 {
		p := message.Text(string(d.text))
		if d.extra != nil {
			p.State = d.state(stateExtra, string(d.extra))
		}
		parts = append(parts, p)
	}
	first := len(parts)
	parts = d.calls.appendParts(parts, d.origin, d.id)
	if d.extra != nil && len(d.text) == 0 && len(d.calls) > 0 && parts[first].State == nil {
		parts[first].State = d.state(stateExtra, string(d.extra))
	}
	return parts
}

func (d *decoder) state(kind, data string) *message.State {
	return &message.State{Origin: d.origin, Kind: kind, Data: data}
}

// partial returns what has arrived of a reply that failed, nil for nothing.
func (d *decoder) partial() *model.Reply {
	if d.isEmpty() {
		return nil
	}
	r := d.reply()
	r.Finish = model.FinishError
	return r
}

func (d *decoder) truncated(what string) *model.Error {
	return d.fail(model.StreamTruncated, errors.New(what))
}

// stopped is the error of a finish reason that says that the server failed.
func (d *decoder) stopped(reason string) *model.Error {
	class := model.ServerError
	if reason == "insufficient_system_resource" {
		class = model.Overloaded
	}
	return d.fail(class, fmt.Errorf("the provider ended the reply with finish reason %q", reason))
}

func (d *decoder) fail(class model.Class, err error) *model.Error {
	return &model.Error{
		Class: class, Provider: d.profile.Provider, Model: d.profile.Model, Status: http.StatusOK,
		RetryAfter: -1, Partial: d.partial(), Err: err,
	}
}

// failed is the error of an error object, or of what is no reply at all.
func (d *decoder) failed(body []byte) *model.Error {
	e := model.Classify(model.Failure{
		Provider: d.profile.Provider, Model: d.profile.Model, Status: http.StatusOK, Body: body, Now: d.Now(),
	})
	e.Partial = d.partial()
	return e
}

func wrapError(v jsontext.Value) []byte { return append(append([]byte(`{"error":`), v...), '}') }
