package responses

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

const opDecode = "read reply"

// NewDecoder makes the decoder of one reply of the model that p describes,
// streamed or in one piece.
func NewDecoder(p *model.Profile) wire.Decoder { return &decoder{p: p} }

// decoder collects the items of one reply. The items of a stream are known by
// their place in the output: some servers change the ids on the way.
type decoder struct {
	wire.Clock
	p     *model.Profile
	event event // the one at hand
	item  item  // the one of the event at hand
	items []*entry
	// last is the entry that the last event was about.
	last  *entry
	calls int
	// ids are the call ids given out so far.
	ids map[string]bool

	id, model string
	usage     model.Usage
	// status is the response's own word on how it ended; reason says why an
	// incomplete one is.
	status, reason string
	// failed is an error that the next event may explain better.
	failed error
	// unread counts events that are no JSON.
	unread int
	yield  func(model.Delta) bool
	// deaf tells that nobody listens any more.
	deaf bool
}

func (d *decoder) send(delta model.Delta) {
	if !d.deaf {
		d.deaf = !d.yield(delta)
	}
}

// Event takes one event. See wire.Decoder.
func (d *decoder) Event(name string, data []byte, yield func(model.Delta) bool) (done bool, err error) {
	d.yield = yield
	if d.status != "" || d.deaf {
		return d.status != "", nil
	}
	e := &d.event
	if !e.scan(data) {
		if !bytes.Equal(bytes.TrimSpace(data), []byte("[DONE]")) {
			d.unread++
		}
		return false, nil
	}
	if len(e.kind) == 0 {
		e.kind = []byte(name)
	}
	switch string(e.kind) {
	case "response.output_text.delta":
		d.delta(e, sectionText)
	case "response.refusal.delta":
		d.delta(e, sectionRefusal)
	case "response.reasoning_summary_text.delta":
		d.delta(e, sectionSummary)
	case "response.reasoning_text.delta":
		d.delta(e, sectionThought)
	case "response.function_call_arguments.delta":
		d.delta(e, sectionArguments)
	case "response.custom_tool_call_input.delta":
		d.delta(e, sectionInput)
	default:
		return d.slow(string(e.kind), e, data)
	}
	return false, nil
}

// Finished reports that nothing more is needed but, after an error, the words
// that may explain it. See wire.Finisher.
func (d *decoder) Finished() bool { return d.failed != nil }

// delta takes the next piece of a section. It is the path of nearly all events.
func (d *decoder) delta(e *event, kind sectionKind) {
	s := unquote(e.delta)
	if s == "" {
		return
	}
	it := d.entry(e)
	if it == nil {
		it = d.add(e.output)
	}
	it.section(kind, max(e.part, 0)).add(d, it, s)
}

// slow takes the events that come once for each item or reply.
func (d *decoder) slow(kind string, e *event, data []byte) (done bool, err error) {
	switch kind {
	case "response.output_item.added", "response.output_item.done":
		d.itemEvent(kind == "response.output_item.done", e)
	case "response.function_call_arguments.done", "response.custom_tool_call_input.done":
		d.argumentsDone(e)
	case "response.output_text.done", "response.refusal.done":
		d.textDone(kind == "response.refusal.done", e, data)
	case "response.created", "response.in_progress", "response.queued":
		d.begin(data)
	case "response.completed", "response.incomplete", "response.failed", "response.done", "response.cancelled":
		return d.finish(kind, data)
	case "error":
		return false, d.fault(data)
	case "":
		if e.fault {
			return false, d.fault(data)
		}
	}
	return false, nil // whatever else there is tells of progress or is not known yet
}

// entry returns the entry that e is about; nil if it is a new one.
func (d *decoder) entry(e *event) *entry {
	if e.output < 0 {
		return d.byID(e)
	}
	if d.last != nil && d.last.output == e.output {
		return d.last
	}
	for i := len(d.items) - 1; i >= 0; i-- {
		if d.items[i].output == e.output {
			d.last = d.items[i]
			return d.last
		}
	}
	return nil
}

// byID finds the entry of an event that does not tell its place: the one with
// the event's item id, or else the last one.
func (d *decoder) byID(e *event) *entry {
	id := unquote(e.itemID)
	if id == "" {
		return d.last
	}
	for _, it := range d.items {
		if it.id == id {
			d.last = it
			return it
		}
	}
	return nil
}

// add makes the entry at a place of the output; behind all others if negative.
func (d *decoder) add(output int) *entry {
	if output < 0 {
		for _, it := range d.items {
			output = max(output, it.output)
		}
		output++
	}
	d.last = &entry{output: output}
	d.items = append(d.items, d.last)
	return d.last
}

func (d *decoder) itemEvent(final bool, e *event) {
	wi := &d.item
	*wi = item{}
	if !present(e.item) || decode(e.item, wi) != nil {
		d.unread++
		return
	}
	if e.output < 0 && len(e.itemID) == 0 {
		e.itemID = wi.ID
	}
	it := d.entry(e)
	if it == nil || it.done || !final && it.kind != "" {
		it = d.add(e.output)
	}
	if final {
		it.finish(d, wi, e.item)
	} else {
		it.begin(d, wi)
	}
}

func (d *decoder) argumentsDone(e *event) {
	for _, v := range []jsontext.Value{e.arguments, e.input, e.name} {
		if v != nil && !v.IsValid(lenient) {
			d.unread++
			return
		}
	}
	it := d.entry(e)
	if it == nil {
		it = d.add(e.output)
	}
	if it.name == "" {
		it.name = text(e.name)
	}
	it.announce(d)
	it.settle(d, sectionArguments, 0, text(e.arguments))
	it.settle(d, sectionInput, 0, text(e.input))
}

func (d *decoder) textDone(refusal bool, e *event, data []byte) {
	var v struct {
		Text    jsontext.Value `json:"text"`
		Refusal jsontext.Value `json:"refusal"`
	}
	if err := decode(data, &v); err != nil {
		d.unread++
		return
	}
	it := d.entry(e)
	if it == nil {
		it = d.add(e.output)
	}
	if refusal {
		it.settle(d, sectionRefusal, max(e.part, 0), text(v.Refusal))
	} else {
		it.settle(d, sectionText, max(e.part, 0), text(v.Text))
	}
}

// begin learns the reply's id and model.
func (d *decoder) begin(data []byte) {
	var v struct {
		Response response `json:"response"`
	}
	if err := decode(data, &v); err != nil {
		d.unread++
		return
	}
	d.head(&v.Response)
}

func (d *decoder) head(r *response) {
	if id := text(r.ID); id != "" {
		d.id = id
	}
	if m := text(r.Model); m != "" {
		d.model = m
	}
	if present(r.Usage) {
		var u usage
		if decode(r.Usage, &u) == nil {
			d.usage = u.normal()
		}
	}
}

// normal brings u into the form that all providers share.
func (u usage) normal() model.Usage {
	return model.Usage{
		Input: int64(u.Input), CacheRead: int64(u.InputDetails.Cached), CacheWrite: int64(u.InputDetails.Written),
		Output: int64(u.Output), Reasoning: int64(u.OutputDetails.Reasoning),
	}
}

// finish takes the event that ends the reply. What the response says of its
// status counts more than the event's name.
func (d *decoder) finish(kind string, data []byte) (done bool, err error) {
	var v struct {
		Response response `json:"response"`
	}
	if err := decode(data, &v); err != nil {
		d.unread++
		return false, nil
	}
	status := text(v.Response.Status)
	if status == "" || status == "in_progress" {
		status = kind[len("response."):]
	}
	if err := d.close(status, &v.Response); err != nil {
		return false, err
	}
	return d.status != "", nil
}

// Whole takes a reply in one piece. See wire.Decoder.
func (d *decoder) Whole(body []byte, yield func(model.Delta) bool) error {
	d.yield = yield
	var r response
	if err := decode(body, &r); err != nil {
		return d.truncated(fmt.Errorf("the reply is no JSON object: %w", err))
	}
	status := text(r.Status)
	if status == "" && present(r.Error) {
		status = "failed"
	}
	if status == "" && r.Output.Kind() != '[' {
		return d.fail(model.EmptyResponse, errors.New("the reply has neither status nor output"))
	}
	if status == "" { // a body that is all there needs no other sign
		status = "completed"
	}
	return d.close(status, &r)
}

// close takes the response object that says how the reply ended.
func (d *decoder) close(status string, r *response) error {
	d.head(r)
	switch status {
	case "failed":
		return d.classify(r.Error)
	case "completed", "complete", "done", "incomplete":
	default:
		return d.truncated(fmt.Errorf("the reply has the status %q", status))
	}
	d.output(r)
	if status == "incomplete" {
		d.reason = "unknown"
		var v struct {
			Reason jsontext.Value `json:"reason"`
		}
		if present(r.Details) && decode(r.Details, &v) == nil && text(v.Reason) != "" {
			d.reason = text(v.Reason)
		}
	}
	for _, it := range d.items {
		it.flush(d)
	}
	d.status = status
	return nil
}

// output takes the items of the whole output that did not come one by one.
func (d *decoder) output(r *response) {
	raws := elements(r.Output)
	if len(raws) <= len(d.items) && !d.anyOpen() {
		return
	}
	for i, raw := range raws {
		it := d.entry(&event{output: i})
		if it != nil && it.done {
			continue
		}
		var wi item
		if decode(raw, &wi) != nil {
			d.unread++
			continue
		}
		if it == nil {
			it = d.add(i)
		}
		it.finish(d, &wi, raw)
	}
}

func (d *decoder) anyOpen() bool {
	for _, it := range d.items {
		if !it.done {
			return true
		}
	}
	return false
}

// callID returns the id under which a call is known from now on: the
// provider's, or one made of what else there is, each once in a reply.
func (d *decoder) callID(want string, index int) string {
	if want == "" {
		want = fmt.Sprintf("call_%d", index)
		if d.id != "" {
			want = fmt.Sprintf("call_%s_%d", d.id, index)
		}
	}
	if d.ids == nil {
		d.ids = map[string]bool{}
	}
	id := want
	for n := 2; d.ids[id]; n++ {
		id = fmt.Sprintf("%s_%d", want, n)
	}
	d.ids[id] = true
	return id
}

func (d *decoder) origin() message.Origin { return d.p.Origin() }
