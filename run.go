package rondo

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/resilient"
	"github.com/rondo-engine/rondo/store"
)

// summaryTime bounds the call that sums up a run which a limit ended.
const summaryTime = 60 * time.Second

// run is one turn of a session: the loop's host.
type run struct {
	s      *Session
	a      *Agent
	req    Request
	taskID string
	events emitter
	system string

	// users is the context that ends only when somebody stops the run, not
	// when its time is used up.
	users  context.Context
	state  loop.State
	result Result
	// path is that of the agent, see Event.Agent; family the children.
	path   []string
	family family
	asides asides
	saver  saver
	// toolRounds says that a round of the run used tools.
	toolRounds bool
	shown      []byte // visible text of the reply in flight
	// planning says that the turn makes a plan, stoppedAtPlan that it was
	// stopped while the plan waited for a word.
	planning, stoppedAtPlan bool
	added                   string // to the next request alone
	pressed                 bool   // the model knows that its window is nearly full
}

func newRun(s *Session, req Request) *run {
	r := &run{s: s, a: s.agent, req: req, taskID: req.TaskID}
	if r.taskID == "" {
		r.taskID = s.agent.opts.NewID()
	}
	r.saver.s = s
	r.family.adoptedBy(req.up)
	if r.events.up = req.up; req.up != nil {
		r.path = req.up.path
	}
	r.events.session = s.id
	r.events.seq = s.seq
	return r
}

// do runs the turn: begin, loop, finish.
func (r *run) do(ctx context.Context) (Result, error) {
	r.users = ctx
	if f, ok := r.s.model.(*resilient.Fallback); ok {
		f.Return()
	}
	r.result = Result{SessionID: r.s.id, TaskID: r.taskID, Started: r.a.opts.Now()}
	if err := r.begin(ctx); err != nil {
		r.result.Unread = r.s.desk.close()
		return r.result, err
	}
	limits := r.a.opts.Limits
	if limits.MaxExecution > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limits.MaxExecution-r.state.Elapsed, loop.ErrDeadline)
		defer cancel()
	}
	r.state.History = r.s.history
	outcome := r.planEnd(loop.Run(ctx, r, &r.state, limits))
	return r.finish(context.WithoutCancel(ctx), outcome)
}

// begin loads the session and saves the user's message.
func (r *run) begin(ctx context.Context) error {
	if err := r.s.load(ctx, r.req); err != nil {
		return err
	}
	if r.result.SessionID != r.s.id { // it was compressed and goes on as another
		r.result.SessionID = r.s.id
		r.events.rename(r.s.id)
	}
	for _, note := range r.s.notes {
		r.events.emit(Event{Type: EventStatus, Text: note})
	}
	r.s.notes = nil
	if r.req.System != "" {
		r.s.system = r.req.System
	}
	r.system = r.s.system
	text, err := r.chooseMode()
	if err != nil {
		return err
	}
	parts := r.fitImages(r.req.Attachments)
	if text != "" {
		parts = append([]message.Part{message.Text(text)}, parts...)
	}
	if len(parts) == 0 {
		return r.resume(ctx)
	}
	said := &message.Message{Role: message.User, Parts: parts}
	if err := r.s.fits(r.system, said); err != nil {
		return err
	}
	r.s.space.keeper.Said()
	r.noteState(ctx)
	// Said is said: a stop at this moment ends the run in good order.
	return r.s.say(context.WithoutCancel(ctx), said)
}

// finish closes the books of the run and tells how it ended.
func (r *run) finish(ctx context.Context, o loop.Outcome) (Result, error) {
	o.Detail = r.a.opts.Secrets.Hide(o.Detail)
	r.s.history = r.state.History
	res := &r.result
	res.FinalResponse, res.Reason, res.Detail = o.Final, o.Reason, o.Detail
	res.Messages = r.s.history.Messages()
	res.Rounds, res.Planning = r.state.Rounds, r.planning
	res.Unread = r.s.desk.close()
	res.Duration = r.a.opts.Now().Sub(res.Started)
	if err := r.saver.save(ctx, r.interruptedReply(o), store.Update{EndReason: string(o.Reason)}); err != nil {
		o.Err = errors.Join(o.Err, err)
	}
	r.s.checkSaved()
	if err := r.lastSnapshot(ctx, o); err != nil {
		o.Err = errors.Join(o.Err, err)
	}
	err := runError(o)
	if e, ok := errors.AsType[*model.Error](o.Err); ok {
		r.events.emit(Event{Type: EventError, Failure: r.failure(e, -1)})
	} else if o.Err != nil {
		r.events.emit(Event{Type: EventError, Failure: &Failure{Class: "internal", Message: r.a.opts.Secrets.Hide(o.Err.Error()), RetryIn: -1}})
	}
	done := *res
	r.events.emit(Event{Type: EventDone, Done: &done})
	r.s.seq = r.events.last()
	return done, err
}

// interruptedReply is what was seen of a reply that was cut off. The store
// keeps it for people; it is never part of the history that a model sees.
func (r *run) interruptedReply(o loop.Outcome) []*message.Message {
	if len(r.shown) == 0 || o.Reason == loop.EndTurn {
		return nil
	}
	m := message.NewAssistant(message.Text(string(r.shown)))
	m.Status = message.StatusInterrupted
	return []*message.Message{m}
}

func (r *run) failure(e *model.Error, retryIn time.Duration) *Failure {
	return &Failure{
		Class: e.Class, Message: r.a.opts.Secrets.Hide(e.Error()), Provider: e.Provider, Model: e.Model, Status: e.Status, RetryIn: retryIn,
	}
}

// Now returns the time.
func (r *run) Now() time.Time { return r.a.opts.Now() }

// Save makes messages durable. A reply that asks for tools waits a little for
// what is saved next: the journal's word that they begin, or their results.
func (r *run) Save(ctx context.Context, msgs ...*message.Message) error {
	if len(msgs) == 1 {
		answers(msgs[0], r.state.History)
	}
	if r.a.opts.Store != nil && len(msgs) == 1 && msgs[0].HasCalls() {
		r.saver.hold(context.WithoutCancel(ctx), msgs[0])
		return nil
	}
	return r.saver.save(ctx, msgs, store.Update{})
}

// Steering returns what the user said meanwhile.
func (r *run) Steering() []string { return r.s.desk.takeSteering() }

func messageID(n int) string { return "m" + strconv.Itoa(n) }
