package chaos

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
	"github.com/rondo-engine/rondo/model/provider"
	"github.com/rondo-engine/rondo/model/resilient"
	"github.com/rondo-engine/rondo/model/wire"
	"github.com/rondo-engine/rondo/store"
)

var modes = []model.Mode{model.ChatCompletions, model.CodexResponses, model.AnthropicMessages}

// play is one run of the test: a session of a few turns.
type play struct {
	t       *testing.T
	mode    model.Mode
	user    dice // what the user does
	srv     *modeltest.Server
	shop    *workshop
	store   store.Store
	session *rondo.Session

	mu    sync.Mutex
	log   bytes.Buffer // all events, a line of JSON each
	ends  map[loop.Reason]int
	turns int
	last  []*message.Message // the history of the last run that began
}

// played is what is left of a run.
type played struct {
	ends  map[loop.Reason]int
	turns int
	hash  string
	log   string
}

// start plays the run that seed gives. It must be called in a bubble of synctest.
func start(t *testing.T, seed uint64, mode model.Mode, st store.Store) played {
	p := &play{t: t, mode: mode, user: newDice(seed, 1), shop: newWorkshop(seed), store: st, ends: map[loop.Reason]int{}}
	var client *http.Client
	p.srv, client = modeltest.NewPipe(modeltest.Options{Scripts: []modeltest.Script{{Func: newDice(seed, 2).server()}}})
	agent, err := rondo.New(p.options(client, seed))
	if err != nil {
		t.Fatal(err)
	}
	p.session = agent.Session("")
	for range 1 + p.user.IntN(3) {
		p.turn()
	}
	time.Sleep(2 * time.Hour) // tools that hang come back
	p.session.Close()
	p.srv.Close()
	p.checkAll()
	if *show {
		t.Log(p.log.String())
	}
	sum := sha256.Sum256(p.log.Bytes())
	return played{p.ends, p.turns, hex.EncodeToString(sum[:8]), p.log.String()}
}

// options makes an agent with limits that are met now and then.
func (p *play) options(client *http.Client, seed uint64) rondo.Options {
	u := p.user
	ids := 0
	secrets := new(model.Secrets)
	o := rondo.Options{
		Model: p.model(client, secrets, newDice(seed, 3)), Tools: p.shop.tools(), System: "You are being tested.",
		Store: p.store, Secrets: secrets, Limits: loop.Limits{MaxRounds: 2 + u.IntN(12)},
		NewID: func() string { ids++; return fmt.Sprintf("id-%06d", ids) },
	}
	if u.chance(10) {
		o.Limits.MaxErrors = 1 + u.IntN(3)
	}
	if u.chance(10) {
		o.Limits.MaxInputTokens = int64(500 + u.IntN(5000))
	}
	if u.chance(20) {
		o.Limits.MaxExecution = u.span(time.Hour)
	}
	if u.chance(10) {
		o.Listeners = []rondo.Listener{func(rondo.Event) { time.Sleep(3 * time.Second) }} // does not keep up
	}
	return o
}

// model puts everything around the clients that there is.
func (p *play) model(client *http.Client, secrets *model.Secrets, luck dice) model.Model {
	var mu sync.Mutex
	env := resilient.Env{Rand: func() float64 { mu.Lock(); defer mu.Unlock(); return luck.Float64() }}
	breakers := resilient.NewBreakers(resilient.BreakerOptions{Env: env})
	var chain []model.Model
	for _, name := range []string{"first", "second"} {
		renewed := 0
		keys := resilient.NewKeys(resilient.KeyOptions{Env: env, Refresh: func(context.Context, string) (string, error) {
			renewed++
			return fmt.Sprintf("%s-%d", key, renewed), nil
		}}, model.StaticKey(key), model.StaticKey(key+"-other"))
		profile := &model.Profile{
			Provider: name, Model: "m-" + name, Account: "acc", Mode: p.mode, BaseURL: p.srv.BaseURL(p.mode), ContextWindow: 100000, MaxOutput: 4000,
		}
		profile.ServerState, profile.NoStream = p.user.chance(50), p.user.chance(10)
		m, err := provider.Open(profile, wire.Options{HTTP: client, Keys: secrets.Source(keys)})
		if err != nil {
			p.t.Fatal(err)
		}
		chain = append(chain, resilient.NewRetry(breakers.Wrap(keys.Wrap(m)), resilient.RetryOptions{Env: env}))
	}
	if p.user.chance(50) {
		return chain[0]
	}
	return resilient.NewFallback(resilient.FallbackOptions{Env: env}, chain...)
}

// turn runs one turn, with a user who may do anything meanwhile.
func (p *play) turn() {
	ctx, cancel := context.WithCancel(p.t.Context())
	defer cancel()
	var others sync.WaitGroup
	for range p.user.IntN(4) {
		others.Add(1)
		act := p.act(cancel)
		time.AfterFunc(p.user.span(10*time.Minute), func() { defer others.Done(); act() })
	}
	req := rondo.Request{Text: fmt.Sprintf("Do something. %d", p.user.IntN(100))}
	if p.user.chance(5) {
		req.Text = "" // go on, if there is anything to go on with
	}
	p.run(ctx, req)
	others.Wait()
}

// act is something that the user does.
func (p *play) act(cancel func()) func() {
	s := p.session
	switch p.user.IntN(8) {
	case 0, 1:
		return s.Cancel
	case 2:
		return cancel
	case 3:
		return func() { s.Steer("Mind the gap.") }
	case 4:
		return func() { s.FollowUp("And then this.") }
	}
	busy := pick(p.user, rondo.BusyReject, rondo.BusyQueue, rondo.BusyInterrupt, rondo.BusySteer)
	return func() { p.run(p.t.Context(), rondo.Request{Text: "Now this.", Busy: busy}) }
}

// run runs one request and checks how it ended.
func (p *play) run(ctx context.Context, req rondo.Request) {
	var log []byte
	var dones []*rondo.Result
	req.Listeners = []rondo.Listener{func(e rondo.Event) {
		log = append(e.AppendJSON(log), '\n')
		if len(dones) > 0 {
			p.t.Errorf("%s came after done", e.Type)
		}
		if e.Type == rondo.EventDone {
			dones = append(dones, e.Done)
		}
	}}
	res, err := p.session.Run(ctx, req)
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(&p.log, "%s> %q\n%s< %s %v %q\n", req.Busy, req.Text, log, res.Reason, err, res.FinalResponse)
	p.turns++
	if res.Reason == "" {
		if !mayNotBegin(err) || len(dones) > 0 {
			p.t.Errorf("a run did not begin: %v, %d times done", err, len(dones))
		}
		return
	}
	p.ends[res.Reason]++
	p.last = res.Messages
	if len(dones) != 1 || dones[0].Reason != res.Reason {
		p.t.Errorf("a run that ended with %s was %d times done", res.Reason, len(dones))
	}
	if end, ok := errors.AsType[*rondo.RunError](err); ok && end.Reason != res.Reason || !ok && err != nil {
		p.t.Errorf("a run that ended with %s returned %v", res.Reason, err)
	}
	p.checkHistory(res.Messages)
}

func mayNotBegin(err error) bool {
	for _, known := range []error{rondo.ErrBusy, rondo.ErrSteered, rondo.ErrNothingToDo, context.Canceled} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// checkHistory finds out whether a history can be sent as it is, with one
// result for each call.
func (p *play) checkHistory(msgs []*message.Message) {
	h, changes := message.Normalise(msgs)
	if len(changes) > 0 {
		p.t.Errorf("the history is not valid: %v", changes)
	}
	if open := h.OpenCalls(); len(open) > 0 {
		p.t.Errorf("%d calls are open", len(open))
	}
	results := map[string]int{}
	for _, m := range msgs {
		if m.Role == message.Tool {
			results[m.ToolCallID]++
		}
	}
	for _, m := range msgs {
		for _, c := range m.Calls() {
			if results[c.ID] != 1 {
				p.t.Errorf("call %s has %d results", c.ID, results[c.ID])
			}
		}
	}
}

// restored is the history that a record of messages stands for.
func restored(saved []*message.Message) []*message.Message {
	saved = slices.DeleteFunc(slices.Clone(saved), func(m *message.Message) bool {
		return m.Role == message.Assistant && m.Status == message.StatusInterrupted
	})
	h, _ := message.Normalise(saved)
	return h.Messages()
}

// seen is what a model sees of a history whose old results may have shrunk.
func (p *play) seen(msgs []*message.Message) []*message.Message {
	notes, err := p.store.(store.Noter).Notes(context.Background(), p.session.ID())
	shrunk, noteErr := store.Shrunk(notes)
	if err = errors.Join(err, noteErr); err != nil && len(p.ends) > 0 {
		p.t.Errorf("read the notes about the session: %v", err)
	}
	for i, m := range msgs {
		if short := shrunk[m.ID]; short != nil {
			msgs[i] = short
		}
	}
	return msgs
}

func shape(msgs []*message.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		fmt.Fprintf(&b, "%s%s %q", m.Role, m.ToolCallID, m.Text())
		for _, c := range m.Calls() {
			fmt.Fprintf(&b, " <%s %s %s>", c.ID, c.Name, c.Arguments)
		}
		b.WriteString("; ")
	}
	return b.String()
}

// checkAll looks at what all turns left: the requests, the tools, the record.
func (p *play) checkAll() {
	for _, f := range p.srv.Faults() {
		p.t.Errorf("the server refused %s", f)
	}
	if ids := p.shop.twice(); len(ids) > 0 {
		p.t.Errorf("calls that ran more than once: %v", ids)
	}
	if len(p.shop.wrong) > 0 {
		p.t.Errorf("calls of replies that were not whole ran: %v", p.shop.wrong)
	}
	_, saved, err := p.store.Load(context.Background(), p.session.ID())
	if err != nil && len(p.ends) > 0 {
		p.t.Errorf("load the session: %v", err)
	}
	if said, read := shape(p.last), shape(p.seen(restored(saved))); len(p.ends) > 0 && said != read {
		p.t.Errorf("the record differs from what was said:\n- %s\n+ %s", said, read)
	}
	var record []byte
	for _, m := range saved {
		record = append(message.AppendJSON(record, m), '\n')
	}
	for name, text := range map[string]string{"events": p.log.String(), "record": string(record)} {
		if at := strings.Index(text, key); at >= 0 {
			p.t.Errorf("the %s show the key: %q", name, text[max(0, at-200):min(len(text), at+100)])
		}
	}
}
