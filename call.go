package rondo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/resilient"
	"github.com/rondo-engine/rondo/store"
)

// boostFrom and boostMost bound the room for a reply whose tool call was cut.
const (
	boostFrom = 4096
	boostMost = 32768
)

// Call asks the model and passes on what comes back as it comes back.
func (r *run) Call(ctx context.Context, c loop.Call) (*model.Reply, error) {
	if c.NoTools { // a summary: the run's own time may be used up
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(r.users, summaryTime)
		defer cancel()
	} else {
		r.events.emit(Event{Type: EventStep, Round: c.Round})
	}
	began := r.a.opts.Now()
	defer func() { r.result.ModelTime += r.a.opts.Now().Sub(began) }()
	r.result.APICalls++
	r.shown = r.shown[:0]
	c.Note = r.noted(ctx, c)
	reply, err := r.stream(ctx, c)
	if err != nil {
		return nil, err
	}
	r.shown = r.shown[:0]
	r.account(c, reply)
	r.postModel(ctx, c, reply)
	return reply, nil
}

// Another turns to the next model of the chain after one that gives no usable
// reply.
func (r *run) Another(_ context.Context, why string, skipped int) bool {
	f, ok := r.s.model.(*resilient.Fallback)
	if !ok || skipped >= f.Len()-1 {
		return false
	}
	from := f.Profile()
	to, ok := f.Skip()
	if !ok {
		return false
	}
	e := &model.Error{Op: "ask for a reply", Class: model.EmptyResponse, Provider: from.Provider, Model: from.Model, RetryAfter: -1, Err: errors.New(why)}
	r.events.emit(Event{Type: EventError, Failure: r.failure(e, 0)})
	r.events.emit(Event{Type: EventStatus, Text: "going on with " + to.Provider + "/" + to.Model})
	return true
}

func (r *run) request(c loop.Call) *model.Request {
	req := &model.Request{
		System: r.system, History: c.History, Tools: r.offered(), Ephemeral: c.Note,
		MaxOutputTokens: r.a.opts.MaxOutputTokens, Effort: r.a.opts.Effort, Cache: &r.s.cache,
	}
	if c.NoTools {
		req.Tools = nil
	}
	if c.Boost > 0 {
		room := max(req.MaxOutputTokens, boostFrom) << c.Boost
		req.MaxOutputTokens = max(req.MaxOutputTokens, min(room, boostMost))
	}
	return req
}

// stream runs one model call and returns its reply.
func (r *run) stream(ctx context.Context, c loop.Call) (*model.Reply, error) {
	quiet, keep := r.events.quiet(), r.a.opts.Store != nil
	attempt := 1
	for d, err := range r.s.model.Stream(ctx, r.request(c)) {
		if err != nil {
			return nil, err
		}
		switch d.Kind {
		case model.DeltaText:
			if keep {
				r.shown = append(r.shown, d.Text...)
			}
			if !quiet {
				r.events.emit(Event{Type: EventText, Text: d.Text, Round: c.Round, Attempt: attempt})
			}
		case model.DeltaReasoning:
			if !quiet {
				r.events.emit(Event{Type: EventThinking, Text: d.Text, Round: c.Round, Attempt: attempt})
			}
		case model.DeltaCall:
			r.events.emit(Event{Type: EventToolGen, ToolUse: &ToolUse{Name: d.Name}})
		case model.DeltaReset:
			r.shown = r.shown[:0]
			r.events.emit(Event{Type: EventReset, Round: c.Round, Attempt: attempt})
		case model.DeltaRetry:
			attempt++
			r.result.APICalls++
			r.events.emit(Event{Type: EventError, Failure: r.failure(d.Notice.Err, d.Notice.Wait)})
		case model.DeltaSwitch:
			attempt++
			r.result.APICalls++
			r.events.emit(Event{Type: EventError, Failure: r.failure(d.Notice.Err, 0)})
			r.events.emit(Event{Type: EventStatus, Text: "going on with " + d.Notice.To.Provider + "/" + d.Notice.To.Model})
		case model.DeltaWait:
			r.events.emit(Event{Type: EventStatus, Text: waitText(d.Notice)})
		case model.DeltaDone:
			return d.Reply, nil
		}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return nil, errors.New("the model's stream ended without a reply: the adapter is at fault")
}

// waitText tells a person how much is left of a wait, and what for.
func waitText(n *model.Notice) string {
	left, who := n.Wait.Round(time.Second), n.Err.Provider+"/"+n.Err.Model
	if open, ok := errors.AsType[*resilient.OpenError](n.Err); ok {
		return fmt.Sprintf("%s failed %d times in a row and is left alone: one more try in %v", who, open.Failures, left)
	}
	return fmt.Sprintf("%s: %s: next try in %v", who, strings.ReplaceAll(string(n.Err.Class), "_", " "), left)
}

// account takes a reply into the books.
func (r *run) account(c loop.Call, reply *model.Reply) {
	p := r.s.model.Profile()
	m := reply.Message
	m.Origin = message.Origin{Provider: p.Provider, Model: p.Model, Account: p.Account}
	reckoned := 0
	if !c.NoTools {
		reckoned = r.s.counted(c.History, reply)
	}
	r.result.Reasoning = m.Reasoning()
	if r.result.Reasoning != "" {
		r.events.emit(Event{Type: EventReasoning, Text: r.result.Reasoning})
	}
	r.book(p, reply.Usage, reckoned)
}

// book takes the usage of a model call into the books. The prompt was reckoned
// to have so many tokens; 0 if it was not.
func (r *run) book(p *model.Profile, u model.Usage, reckoned int) {
	res := &r.result
	res.Usage = res.Usage.Add(u)
	if res.UsageByModel == nil {
		res.UsageByModel = make(map[string]model.Usage, 1)
	}
	name := p.Provider + "/" + p.Model
	res.UsageByModel[name] = res.UsageByModel[name].Add(u)
	used := store.Update{Usage: u, Calls: 1}
	report := &UsageReport{Provider: p.Provider, Model: p.Model, Usage: u, Reckoned: reckoned}
	if p.Price != nil {
		cost := p.Price.Cost(u)
		report.CostUSD = &cost
		if res.APICalls == 1 || res.CostUSD != nil {
			sum := cost
			if res.CostUSD != nil {
				sum += *res.CostUSD
			}
			res.CostUSD = &sum
		}
		used.CostUSD = cost
	} else {
		res.CostUSD = nil
	}
	r.saver.used(used)
	r.events.emit(Event{Type: EventUsage, Usage: report})
}
