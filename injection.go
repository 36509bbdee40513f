package rondo

import (
	"context"
	"fmt"
	"strings"

	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
)

// inject lets hooks add to the request that comes next and returns the history
// to send: what they add stays behind its last message, so that the requests
// after it repeat the same bytes. Where that is no place for it, because a reply
// is only half there or something was added before, it goes with this request
// alone.
func (r *run) inject(ctx context.Context, h message.History) (message.History, error) {
	r.added = r.pressure(h)
	if len(r.a.opts.Hooks) == 0 {
		return h, nil
	}
	text := r.hookTexts(ctx, loop.Call{Round: r.state.Rounds + 1, History: h})
	last := h.Last()
	if text == "" || last == nil {
		return h, nil
	}
	if before := last.InjectedText(); before != "" || r.state.Pending != nil {
		if text != before {
			r.added = paragraphs(r.added, text)
		}
		return h, nil
	}
	return h.Replace(h.Len()-1, last.Inject(text))
}

// pressureFrom is the share of the room from which on the model is told that
// its context window is nearly full: compressions brought too little.
const pressureFrom = 0.80

// pressureText tells the model so, once.
const pressureText = "Your context window is %d %% full. Ask tools for no more than you need, put long texts into files, and finish what matters most first."

// pressure is what the model is told of a window that is nearly full.
func (r *run) pressure(h message.History) string {
	v := r.s.look(h)
	told := r.pressed
	r.pressed = v.Room > 0 && v.Tokens >= int(pressureFrom*float64(v.Room))
	if !r.pressed || told {
		return ""
	}
	return fmt.Sprintf(pressureText, min(v.Tokens*100/v.Room, 100))
}

// noted is what travels at the end of a request alone: the loop's own note, how
// full the window is, and what hooks added that could not stay.
func (r *run) noted(ctx context.Context, c loop.Call) string {
	if c.NoTools {
		r.added = r.hookTexts(ctx, c)
	}
	return paragraphs(c.Note, r.added)
}

// hookTexts asks hooks what they add to a request.
func (r *run) hookTexts(ctx context.Context, c loop.Call) string {
	texts := r.startSession(ctx)
	for _, h := range r.a.opts.Hooks {
		if h.PreModelCall != nil {
			r.hooked("pre_model_call", func() error {
				text, err := h.PreModelCall(ctx, r.hookModelCall(c))
				texts = append(texts, text)
				return err
			})
		}
	}
	return strings.ToValidUTF8(paragraphs(texts...), "\uFFFD")
}

// paragraphs joins texts that are not blank.
func paragraphs(texts ...string) string {
	var b strings.Builder
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" && b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(t)
	}
	return b.String()
}

// answers notes in a reply what was injected into the message before it, at the
// end of h: it is saved with the reply.
func answers(reply *message.Message, h message.History) {
	msgs := h.Messages()
	if n := len(msgs); n >= 2 && msgs[n-1] == reply && reply.Role == message.Assistant {
		reply.Injected = msgs[n-2].InjectedText()
	}
}
