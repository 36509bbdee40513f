//go:build unix

package crash

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// lines is how many lines the counter has appended, one in a round.
const lines = 40

// counter is a model with a small window. It asks for one line after the other,
// and knows from the conversation alone how far it is: from the calls, or from
// the summary that it wrote of them.
type counter struct{}

func (counter) Profile() *model.Profile {
	return &model.Profile{Provider: "test", Model: "counter", ContextWindow: 8000}
}

// number finds what the conversation says of lines.
var number = regexp.MustCompile(`(?:line\\*": ?\\*"|as far as line )(\d+)`)

func (counter) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	far := 0
	for _, m := range req.History.Messages() {
		text := m.Text()
		for _, c := range m.Calls() {
			text += c.Arguments
		}
		for _, found := range number.FindAllStringSubmatch(text, -1) {
			n, _ := strconv.Atoi(found[1]) // digits alone
			far = max(far, n)
		}
	}
	reply := message.NewAssistant(message.Call(fmt.Sprint("c", far+1), "append", fmt.Sprintf(`{"line":"%d"}`, far+1)))
	switch {
	case req.Tools == nil || !strings.Contains(req.System, "count"): // a summary is asked for
		select {
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
		}
		reply = message.NewAssistant(message.Text(fmt.Sprintf("## Goal\nAppend lines.\n## Completed Actions\nAppended all as far as line %d.", far)))
	case far >= lines:
		reply = message.NewAssistant(message.Text("All is done."))
	}
	return func(yield func(model.Delta, error) bool) {
		finish := model.FinishStop
		if reply.HasCalls() {
			finish = model.FinishToolCalls
		}
		yield(model.Delta{Kind: model.DeltaDone, Reply: &model.Reply{Message: reply, Finish: finish, Announced: reply.HasCalls()}}, ctx.Err())
	}
}
