package anthropic

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// Whole takes a reply in one piece.
func (d *decoder) Whole(body []byte, yield func(model.Delta) bool) error {
	var m reply
	switch err := json.Unmarshal(body, &m, lenient); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return d.fail(model.StreamTruncated, fmt.Errorf("the reply ends early: %w", err))
	case err != nil:
		return d.fail(model.ServerError, fmt.Errorf("the reply is not a message: %w", err))
	case m.Type == "error" || m.Error != nil && m.Error.Kind() != 'n':
		return d.refused(body)
	case m.Content == nil && m.StopReason == "":
		return d.fail(model.ServerError, errors.New("the reply is JSON, but not a message"))
	}
	if err := d.start(&m, yield); err != nil {
		return err
	}
	d.stopped = true
	return nil
}

// End returns the reply if it is whole: if the server said so by message_stop,
// or gave a reason to stop before the stream ended.
func (d *decoder) End() (*model.Reply, error) {
	if !d.stopped && d.end.StopReason == "" {
		return nil, d.fail(model.StreamTruncated, errors.New("the stream ended before the message did"))
	}
	return d.reply(), nil
}

// Finished reports that the server gave a reason to stop: what may still come
// is the end of the message.
func (d *decoder) Finished() bool { return d.end.StopReason != "" }

func (d *decoder) reply() *model.Reply {
	finish := d.reason()
	r := &model.Reply{
		Message: d.message(finish == model.FinishLength),
		Finish:  finish, Announced: d.end.StopReason == "tool_use",
		Usage: d.usage.neutral(), ID: d.id, Model: d.model,
	}
	if finish == model.FinishContentFilter {
		r.Refusal = cmp.Or(d.end.refusal(), strings.TrimSpace(r.Message.Text()))
	}
	return r
}

// message makes the message of what has arrived; cut tells that its last block
// may not be whole.
func (d *decoder) message(cut bool) *message.Message {
	m := &message.Message{Role: message.Assistant, Origin: d.origin}
	seen := make(map[string]bool, d.calls)
	for i, b := range d.blocks {
		p, ok := b.part(d.origin, cut && i == len(d.blocks)-1)
		if !ok {
			continue
		}
		if p.Call != nil {
			for n := 2; seen[p.Call.ID]; n++ {
				p.Call.ID = fmt.Sprintf("%s_%d", b.id, n)
			}
			seen[p.Call.ID] = true
		}
		m.Parts = append(slices.Grow(m.Parts, len(d.blocks)-i), p)
	}
	return m
}

// reason maps the API's stop reasons. Calls are to be answered also where the
// reason does not mention them.
func (d *decoder) reason() model.Finish {
	switch d.end.StopReason {
	case "max_tokens", "model_context_window_exceeded":
		return model.FinishLength
	case "refusal":
		return model.FinishContentFilter
	case "tool_use":
		return model.FinishToolCalls
	}
	switch {
	case d.calls > 0:
		return model.FinishToolCalls
	case d.end.StopReason == "pause_turn", d.end.StopReason == "compaction":
		return model.FinishPause
	}
	return model.FinishStop
}

// refused makes an error of the provider's error object.
func (d *decoder) refused(body []byte) error {
	e := model.Classify(model.Failure{
		Op: opStream, Provider: d.profile.Provider, Model: d.profile.Model,
		Status: 200, Body: append([]byte(nil), body...), Now: d.Now(),
	})
	e.Partial = d.partial()
	return e
}

func (d *decoder) fail(class model.Class, err error) error {
	return &model.Error{
		Op: opStream, Class: class, Provider: d.profile.Provider, Model: d.profile.Model,
		Status: 200, RetryAfter: -1, Partial: d.partial(), Err: err,
	}
}

// partial returns what has arrived, or nil.
func (d *decoder) partial() *model.Reply {
	if !d.started && len(d.blocks) == 0 {
		return nil
	}
	return &model.Reply{
		Message: d.message(true), Finish: model.FinishError,
		Usage: d.usage.neutral(), ID: d.id, Model: d.model,
	}
}
