package rondo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rondo-engine/rondo/internal/picture"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/window"
)

// DefaultAsideTimeout bounds a side task's call of a model where Aside.Timeout
// is 0.
const DefaultAsideTimeout = 2 * time.Minute

// Aside says how models are asked for a side task, such as a summary or what
// an image shows: in calls that are no part of the conversation.
type Aside struct {
	// Model is asked first. The model of the conversation is asked when it
	// fails, and where it is nil.
	Model model.Model
	// Timeout bounds each call, from the request to the end of the reply.
	Timeout time.Duration
	// Effort asks for reasoning where the request does not, see model.Request.
	Effort string
}

// ErrBlind says that a request has images and no model that could be asked
// sees any.
var ErrBlind = errors.New("no model that could be asked sees images")

// Ask asks from within the call of a tool, which it finds in ctx like TurnOf:
// what is used counts into the result of the run. Elsewhere only the Aside's
// own Model is asked. Models that see no images are passed over for a request
// that has some; the error wraps ErrBlind when there is no other.
func (a Aside) Ask(ctx context.Context, req *model.Request) (*model.Reply, error) {
	turn, ok := TurnOf(ctx)
	if !ok {
		return a.ask(ctx, nil, req, func(aside) {})
	}
	r := turn.phase.run
	return a.ask(ctx, r.s.model, req, r.asides.add)
}

// models are those that may be asked, in order, when main is the model of the
// conversation.
func (a Aside) models(main model.Model) []model.Model {
	all := []model.Model{a.Model, main}
	if a.Model == main {
		all = all[:1]
	}
	return slices.DeleteFunc(all, func(m model.Model) bool { return m == nil })
}

// ask asks one model after the other and tells book of each.
func (a Aside) ask(ctx context.Context, main model.Model, req *model.Request, book func(aside)) (*model.Reply, error) {
	models := a.models(main)
	if len(models) == 0 {
		return nil, errors.New("there is no model for this task")
	}
	images := slices.ContainsFunc(req.History.Messages(), picture.In)
	if images {
		models = slices.DeleteFunc(models, func(m model.Model) bool { return m.Profile().NoImages })
		if len(models) == 0 {
			return nil, ErrBlind
		}
	}
	own := *req
	own.Effort = cmp.Or(req.Effort, a.Effort)
	var failed []error
	for _, m := range models {
		if images {
			limits := picture.For(m.Profile())
			own.History = picture.FitHistory(req.History, func(m *message.Message) *message.Message { return picture.FitMessage(m, limits) })
		}
		reply, err := a.call(ctx, m, &own, book)
		if err == nil {
			return reply, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
		failed = append(failed, err)
	}
	return nil, errors.Join(failed...)
}

func (a Aside) call(ctx context.Context, m model.Model, req *model.Request, book func(aside)) (*model.Reply, error) {
	limit := cmp.Or(a.Timeout, DefaultAsideTimeout)
	late := fmt.Errorf("%s/%s did not answer within %v", m.Profile().Provider, m.Profile().Model, limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, late)
	defer cancel()
	used := aside{calls: 1}
	defer func() { book(used) }()
	for d, err := range m.Stream(ctx, req) {
		switch {
		case err != nil && context.Cause(ctx) == late:
			return nil, late
		case err != nil:
			return nil, err
		case d.Kind == model.DeltaRetry, d.Kind == model.DeltaSwitch:
			used.calls++
		case d.Kind == model.DeltaDone:
			used.profile, used.usage = m.Profile(), d.Reply.Usage
			return d.Reply, nil
		}
	}
	return nil, errors.New("the model's stream ended without a reply: the adapter is at fault")
}

// aside is what asking a model aside took; profile is nil where it gave no
// reply.
type aside struct {
	calls   int
	profile *model.Profile
	usage   model.Usage
}

// asides are those of tool calls that are not in the books yet.
type asides struct {
	mu   sync.Mutex
	made []aside
}

func (a *asides) add(one aside) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.made = append(a.made, one)
}

func (a *asides) take() []aside {
	a.mu.Lock()
	defer a.mu.Unlock()
	made := a.made
	a.made = nil
	return made
}

// bookAside takes what asking aside took into the books.
func (r *run) bookAside(one aside) {
	r.result.APICalls += one.calls
	if one.profile != nil {
		r.book(one.profile, one.usage, 0)
	}
}

// summariser asks for what a compression needs.
type summariser struct{ r *run }

// Room is the room that the smallest of the models has.
func (x *summariser) Room() int {
	room := 0
	for _, m := range x.r.a.opts.Context.Summariser.models(x.r.s.model) {
		if n := window.Room(m.Profile(), 0); n > 0 && (room == 0 || n < room) {
			room = n
		}
	}
	return room
}

// Ask implements window.Summariser.
func (x *summariser) Ask(ctx context.Context, req *model.Request) (*model.Reply, error) {
	r := x.r
	began := r.a.opts.Now()
	defer func() { r.result.ModelTime += r.a.opts.Now().Sub(began) }()
	return r.a.opts.Context.Summariser.ask(ctx, r.s.model, req, r.bookAside)
}
