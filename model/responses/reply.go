package responses

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// End returns the reply if it is whole. See wire.Decoder.
func (d *decoder) End() (*model.Reply, error) {
	switch {
	case d.failed != nil:
		return nil, d.failed
	case d.status == "":
		return nil, d.truncated(errors.New("the stream ended before response.completed"))
	}
	r := d.reply()
	r.Finish = d.finishReason(r)
	r.Announced = r.Finish == model.FinishToolCalls // the protocol has no word for it beside the calls
	return r, nil
}

// reply makes a reply of what has arrived.
func (d *decoder) reply() *model.Reply {
	items := slices.Clone(d.items)
	slices.SortStableFunc(items, func(a, b *entry) int { return a.output - b.output })
	m := &message.Message{Role: message.Assistant, Origin: d.origin()}
	r := &model.Reply{Message: m, Usage: d.usage, ID: d.id, Model: d.model}
	d.ids = nil
	for i, it := range items {
		if parts := it.parts(d); len(parts) > 0 {
			m.Parts = append(slices.Grow(m.Parts, len(items)-i), parts...)
		}
		r.Refusal += it.join(sectionRefusal)
	}
	return r
}

func (d *decoder) finishReason(r *model.Reply) model.Finish {
	switch {
	case d.reason == "content_filter":
		return model.FinishContentFilter
	case d.reason != "":
		return model.FinishLength
	case r.Message.HasCalls():
		return model.FinishToolCalls
	case r.Refusal != "":
		return model.FinishContentFilter
	}
	return model.FinishStop
}

// partial returns what has arrived of a reply that failed; nil for nothing.
func (d *decoder) partial() *model.Reply {
	if len(d.items) == 0 && d.id == "" {
		return nil
	}
	r := d.reply()
	r.Finish = model.FinishError
	return r
}

// truncated makes the error of a reply that is not whole.
func (d *decoder) truncated(err error) error {
	if d.unread > 0 {
		err = fmt.Errorf("%w, and %d of its events are no JSON", err, d.unread)
	}
	return d.fail(model.StreamTruncated, err)
}

func (d *decoder) fail(class model.Class, err error) error {
	return &model.Error{
		Op: opDecode, Class: class, Provider: d.p.Provider, Model: d.p.Model, Status: 200,
		RetryAfter: -1, Partial: d.partial(), Err: err,
	}
}

// fault takes an event that reports an error. One that says little waits for
// the response.failed that follows it on some servers and tells more.
func (d *decoder) fault(data []byte) error {
	var v struct {
		Error jsontext.Value `json:"error"`
	}
	object := jsontext.Value(data)
	if decode(data, &v) == nil && v.Error.Kind() == '{' {
		object = v.Error
	}
	err := d.classify(object)
	if model.ClassOf(err) != model.ServerError {
		return err
	}
	d.failed = err
	return nil
}

// classify makes the error that an error object inside of a reply stands for.
func (d *decoder) classify(object jsontext.Value) error {
	if !present(object) {
		return d.fail(model.ServerError, errors.New("the reply failed without a word on why"))
	}
	e := model.Classify(model.Failure{
		Op: opDecode, Provider: d.p.Provider, Model: d.p.Model,
		Status: innerStatus(object), Body: slices.Clone(object), Now: d.Now(),
	})
	e.Partial = d.partial()
	return e
}

// innerStatus returns the HTTP status that an error object names, as gateways
// do that could not send it any more; 200 otherwise.
func innerStatus(object jsontext.Value) int {
	var v struct {
		Status jsontext.Value `json:"status"`
		Code   jsontext.Value `json:"code"`
	}
	if decode(object, &v) != nil {
		return 200
	}
	for _, c := range []jsontext.Value{v.Status, v.Code} {
		if n := number(c); n >= 400 && n < 600 {
			return n
		}
	}
	return 200
}
