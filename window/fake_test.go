package window_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/window"
)

// writer is a summariser that says words and remembers what it was asked.
type writer struct {
	says  func(asked string) string
	fails error
	room  int
	asked []string
}

func (w *writer) Room() int { return w.room }

func (w *writer) Ask(_ context.Context, req *model.Request) (*model.Reply, error) {
	w.asked = append(w.asked, req.History.Last().Text())
	if w.fails != nil {
		return nil, w.fails
	}
	return &model.Reply{Message: message.NewAssistant(message.Text(w.says(req.History.Last().Text()))), Finish: model.FinishStop}, nil
}

func says(text string) *writer { return &writer{says: func(string) string { return text }} }

var errDown = errors.New("the network is down")

// history makes a valid history of messages.
func history(msgs ...*message.Message) message.History {
	h, changes := message.Normalise(msgs)
	if len(changes) > 0 {
		panic(fmt.Sprint(changes))
	}
	return h
}

// round is a call of read with a result of n characters.
func round(i, n int) []*message.Message {
	call := message.NewAssistant(message.Call(fmt.Sprintf("c%d", i), "read", fmt.Sprintf(`{"path":"dir/file%d.go"}`, i)))
	return []*message.Message{call, message.NewResult(call.Calls()[0], message.StatusOK, fmt.Sprintf("result %d ", i)+strings.Repeat("line of text\n", n/13))}
}

// view is that of a history in a window of so many tokens, of which all is room.
func view(h message.History, size, fixed int, s window.Summariser) *window.View {
	g := &window.Gauge{}
	b := window.BoundsOf(size, size, fixed, 0.5)
	return &window.View{
		History: h, Fixed: fixed, Tokens: fixed + g.Estimate(h.Messages()...), Estimate: g.Estimate,
		Room: b.Room, Limit: b.Limit, Target: b.Target, Summariser: s,
	}
}
