package rondo

import (
	"context"
	_ "embed" // for the text of the request
	"strings"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/tool"
	"github.com/rondo-engine/rondo/window"
)

//go:embed flush.md
var flushText string

// maxFlushCalls is how many calls of the memory tool are carried out before a
// summary.
const maxFlushCalls = 3

// flush lets the model save what is worth remembering before a record is
// summarised: one call with the memory tool alone. It is done as well as it can
// be, and a failure stops nothing.
func (r *run) flush(ctx context.Context, transcript string) {
	memory := r.a.opts.Context.Memory
	registry, err := tool.NewRegistry(memory)
	if err != nil {
		r.events.emit(Event{Type: EventStatus, Text: "nothing was saved to memory before the compression: " + err.Error()})
		return
	}
	x := &summariser{r}
	if room := 2 * x.Room(); room > 0 && len(transcript) > room { // two characters a token are few enough
		transcript = strings.ToValidUTF8(transcript[len(transcript)-room:], "")
	}
	history, _ := message.Normalise([]*message.Message{message.NewUser("<record>\n" + transcript + "\n</record>")})
	reply, err := x.Ask(ctx, &model.Request{System: strings.TrimSpace(flushText), History: history, Tools: registry.Set()})
	if err != nil {
		r.events.emit(Event{Type: EventStatus, Text: "nothing was saved to memory before the compression: " + r.a.opts.Secrets.Hide(err.Error())})
		return
	}
	for i, c := range reply.Message.Calls() {
		if i == maxFlushCalls {
			return
		}
		r.remember(ctx, registry, c)
	}
}

// remember carries out one call of the memory tool.
func (r *run) remember(ctx context.Context, registry *tool.Registry, c *message.ToolCall) {
	t, args, err := registry.Prepare(c.Name, c.Arguments, false)
	if err == nil {
		_, err = t.Run(ctx, tool.Call{ID: c.ID, Name: t.Name, Args: args, Session: r.s.id, Task: r.taskID, Progress: func(string) {}})
	}
	if err != nil {
		r.events.emit(Event{Type: EventStatus, Text: "not saved to memory: " + window.OneLine(r.a.opts.Secrets.Hide(err.Error()), 200)})
	}
}
