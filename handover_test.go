package rondo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
	"github.com/rondo-engine/rondo/model/provider"
	"github.com/rondo-engine/rondo/model/resilient"
	"github.com/rondo-engine/rondo/model/wire"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/tool"
)

// relay is a task that several models carry on, one after the other, against
// one strict server. Each reply thinks, speaks and asks for two tools at once.
type relay struct {
	t      *testing.T
	server *modeltest.Server
	store  store.Store
	id     string
	// ran are the calls that ran to their end.
	ran []string
	// stopCall and stopRound are the call or the round of this part of the
	// task in which it is stopped; 0 for none.
	stopCall, stopRound int
	session             *rondo.Session
	calls, rounds       int
}

// counted is a model whose rounds the relay counts.
type counted struct {
	model.Model
	r *relay
}

func (c counted) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	if c.r.rounds++; c.r.rounds == c.r.stopRound {
		c.r.session.Cancel()
	}
	return c.Model.Stream(ctx, req)
}

// relayRounds is how many rounds the whole task takes, the last one an answer.
const relayRounds = 9

func newRelay(t *testing.T, failing map[string]int) *relay {
	t.Helper()
	script := func(name string) modeltest.Script {
		s := modeltest.Script{Model: name, ByHistory: true}
		for i := range relayRounds {
			if n, ok := failing[name]; ok && n == i {
				s.Replies = append(s.Replies, modeltest.Fail(404, "The model does not exist."))
			}
			if i == relayRounds-1 {
				s.Replies = append(s.Replies, modeltest.Say(modeltest.Text("All done.")))
				break
			}
			s.Replies = append(s.Replies, modeltest.Say(
				modeltest.Think(fmt.Sprintf("Thought %d of %s.", i, name)), modeltest.Text(fmt.Sprintf("Step %d.", i)),
				modeltest.Call("look", fmt.Sprintf(`{"n":%d}`, i)), modeltest.Call("see", fmt.Sprintf(`{"n":%d}`, i)),
			))
		}
		return s
	}
	server, err := modeltest.Start(modeltest.Options{Scripts: []modeltest.Script{script("a"), script("b")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return &relay{t: t, server: server, store: store.NewMemory()}
}

func (r *relay) model(mode model.Mode, name string) model.Model {
	r.t.Helper()
	p := &model.Profile{Provider: "fake-" + string(mode), Model: name, Mode: mode, BaseURL: r.server.BaseURL(mode), ContextWindow: 100_000, MaxOutput: 9000}
	client := wire.NewHTTPClient()
	r.t.Cleanup(client.CloseIdleConnections)
	m, err := provider.Open(p, wire.Options{HTTP: client})
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

// run goes on with the task at m.
func (r *relay) run(m model.Model, text string) rondo.Result {
	r.t.Helper()
	run := func(ctx context.Context, c tool.Call) (tool.Result, error) {
		if r.calls++; r.calls == r.stopCall {
			r.session.Cancel()
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		}
		r.ran = append(r.ran, c.Name+string(c.Args))
		return tool.Result{Text: c.Name + " saw " + string(c.Args)}, nil
	}
	schema := []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
	agent, err := rondo.New(rondo.Options{
		Model: counted{m, r}, Store: r.store, System: "Be brief.", Effort: "medium", Workers: 1,
		Tools: []*tool.Tool{{Name: "look", Description: "Looks.", Schema: schema, Run: run}, {Name: "see", Description: "Sees.", Schema: schema, Run: run}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.session = agent.Session(r.id)
	defer r.session.Close()
	r.id = r.session.ID()
	r.calls, r.rounds = 0, 0
	result, err := r.session.Run(r.t.Context(), rondo.Request{Text: text})
	if _, ok := errors.AsType[*rondo.RunError](err); err != nil && !ok {
		r.t.Fatal(err)
	}
	return result
}

// check holds the last request against all that was said: nothing is lost,
// nothing comes twice, each call stands before its result.
func (r *relay) check(result rondo.Result) {
	r.t.Helper()
	for _, f := range r.server.Faults() {
		r.t.Errorf("the server refused %v", f)
	}
	if result.Reason != loop.EndTurn || result.FinalResponse != "All done." {
		r.t.Errorf("ended with %s (%s): %q", result.Reason, result.Detail, result.FinalResponse)
	}
	requests := r.server.Requests()
	sent := requests[len(requests)-1].Messages
	said := result.Messages[:len(result.Messages)-1]
	if diff := cmp.Diff(outline(said), outline(sent)); diff != "" {
		r.t.Errorf("the last request holds otherwise than the history (-history +request):\n%s", diff)
	}
	text := strings.Join(outline(sent), "\n")
	for i := range relayRounds - 1 {
		if n := strings.Count(text, fmt.Sprintf("Step %d.", i)); n != 1 {
			r.t.Errorf("step %d is sent %d times", i, n)
		}
	}
	if want := slices.Compact(slices.Sorted(slices.Values(r.ran))); len(want) != len(r.ran) {
		r.t.Errorf("a call ran twice: %v", r.ran)
	}
}

// outline writes messages down without the system prompt and reasoning, and
// with calls numbered, as ids may change on the way.
func outline(msgs []*message.Message) []string {
	var out []string
	numbers := map[string]int{}
	for _, m := range msgs {
		if m.Role == message.System {
			continue
		}
		line := string(m.Role) + ": " + m.Text()
		for _, c := range m.Calls() {
			numbers[c.ID] = len(numbers) + 1
			line += fmt.Sprintf(" [%d %s %s]", numbers[c.ID], c.Name, c.Arguments)
		}
		if m.Role == message.Tool {
			line = fmt.Sprintf("result %d: %s", numbers[m.ToolCallID], m.Text())
		}
		out = append(out, line)
	}
	return out
}

// thoughts counts the replies of a whose reasoning is in the last request.
func (r *relay) thoughts() int {
	requests := r.server.Requests()
	last := requests[len(requests)-1]
	return bytes.Count(last.Body, []byte(map[model.Mode]string{
		model.AnthropicMessages: `"signature":`, model.CodexResponses: `"encrypted_content":`,
	}[last.Mode]))
}

// TestATaskIsHandedOverInTheMiddle runs three rounds at one model, three at
// another, and the rest at the first again, over all pairs of protocols. The
// first is left with a call open, or between two rounds.
func TestATaskIsHandedOverInTheMiddle(t *testing.T) {
	for _, from := range modes {
		for _, to := range modes {
			for _, open := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s to %s, open %v", from, to, open), func(t *testing.T) {
					r := newRelay(t, nil)
					a, b := r.model(from, "a"), r.model(to, "b")
					for i, m := range []model.Model{a, b} {
						if r.stopRound = 4; open {
							r.stopRound, r.stopCall = 0, 6 // the second call of the third round
						}
						text := ""
						if i == 0 {
							text = "Do the task."
						}
						if got := r.run(m, text); got.Reason != loop.UserCancel {
							t.Fatalf("part %d ended with %s: %s", i, got.Reason, got.Detail)
						}
					}
					r.stopCall, r.stopRound = 0, 0
					r.check(r.run(a, ""))
					if n := r.thoughts(); from != model.ChatCompletions && n < 3 {
						t.Errorf("%d replies of the first model have their thoughts at the end, want those before the hand-over, too", n)
					}
				})
			}
		}
	}
}

// TestFallbackGoesOnInTheMiddleOfATask has the first model disappear in
// the fourth round.
func TestFallbackGoesOnInTheMiddleOfATask(t *testing.T) {
	for _, from := range modes {
		for _, to := range modes {
			t.Run(fmt.Sprintf("%s to %s", from, to), func(t *testing.T) {
				r := newRelay(t, map[string]int{"a": 3})
				m := resilient.NewFallback(resilient.FallbackOptions{}, r.model(from, "a"), r.model(to, "b"))
				r.check(r.run(m, "Do the task."))
				if name := m.Profile().Model; name != "b" {
					t.Errorf("ended at model %s", name)
				}
				if len(r.ran) != 2*(relayRounds-1) {
					t.Errorf("%d calls ran", len(r.ran))
				}
			})
		}
	}
}
