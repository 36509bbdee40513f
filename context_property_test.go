package rondo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/hook"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/tool"
	"github.com/rondo-engine/rondo/window"
)

// narrow is a model with a small window.
type narrow struct {
	*fakeModel
	size int
}

func (n narrow) Profile() *model.Profile {
	return &model.Profile{Provider: "fake", Model: "narrow", ContextWindow: n.size, MaxOutput: 500}
}

// journey is a session that is compressed, closed and taken up again at random.
type journey struct {
	t    *rapid.T
	o    rondo.Options
	s    *rondo.Session
	n    int
	said []string // words that each stand in one message of user or model
	seen []*message.Message
	// results are what the calls have, by their number.
	results map[int]string
	// packed says that a compression took place in the run that goes on.
	packed, reopened bool
	tally            *tally
}

// tally counts what journeys came by.
type tally struct{ shrunk, summaries, records, compared, afterShrink int }

func (c *tally) note(e rondo.Event) {
	if e.Compaction == nil || !e.Compaction.Done {
		return
	}
	switch e.Compaction.Method {
	case window.Shrunk:
		c.shrunk++
	case window.Summarised:
		c.summaries++
	case window.Recorded:
		c.records++
	}
}

// word makes a word that no other message has.
func (j *journey) word() string {
	j.n++
	w := fmt.Sprintf("w%05dx", j.n)
	j.said = append(j.said, w)
	return w
}

// rounds draws what the model does in a turn.
func (j *journey) rounds() []step {
	var steps []step
	for range rapid.IntRange(0, 8).Draw(j.t, "rounds") {
		var calls []string
		for range rapid.IntRange(1, 3).Draw(j.t, "calls") {
			j.n++
			line := rapid.SampledFrom([]string{"a line of text\n", "直してください。\n", "{\"n\":1}\n"}).Draw(j.t, "line")
			j.results[j.n] = strings.Repeat(line, rapid.SampledFrom([]int{1, 40, 400}).Draw(j.t, "result"))
			calls = append(calls, fmt.Sprintf(`c%d look {"n":%d,"text":%q}`, j.n, j.n, strings.Repeat("long ", rapid.SampledFrom([]int{0, 200}).Draw(j.t, "argument"))))
		}
		steps = append(steps, uncounted(asks(calls...)))
	}
	return append(steps, uncounted(says(j.word()+" 完了しました。")))
}

func (j *journey) look(_ context.Context, c tool.Call) (tool.Result, error) {
	var args struct{ N int }
	err := json.Unmarshal(c.Args, &args)
	return tool.Result{Text: j.results[args.N]}, err
}

// summariser draws one that works, says nothing or is down.
func (j *journey) summariser() rondo.Aside {
	return rondo.Aside{Model: &fakeModel{forget: true, steps: []step{rapid.SampledFrom([]step{
		says("## Goal\nGo on."), says(" "), fails(model.ServerError), fails(model.Timeout),
	}).Draw(j.t, "summariser")}}}
}

// open takes the session up in a process of its own.
func (j *journey) open() {
	id := ""
	if j.s != nil {
		id = j.s.ID()
		j.s.Close()
	}
	j.o.Context.Summariser = j.summariser()
	a, err := rondo.New(j.o)
	if err != nil {
		j.t.Fatal(err)
	}
	j.s, j.reopened = a.Session(id), true
}

func (j *journey) turn() {
	m := j.o.Model.(narrow)
	m.steps, m.calls, m.requests = j.rounds(), 0, nil
	before := j.seen
	j.packed = false
	res, err := j.s.Run(j.t.Context(), rondo.Request{Text: j.word() + " " + strings.Repeat("please ", rapid.SampledFrom([]int{1, 100}).Draw(j.t, "request"))})
	switch res.Reason {
	case loop.EndTurn:
	case loop.ContextOverflow, loop.CompactionExhausted, "":
		j.t.Skip("it does not fit: ", err) // as the contract has it
	default:
		j.t.Fatalf("%s, %v", res.Reason, err)
	}
	if len(m.requests) > 0 && !j.packed {
		sent := m.requests[0].History.Messages()
		if got, want := full(sent[:len(sent)-1]), full(before); got != want {
			j.t.Fatalf("the conversation goes on as\n%s\nafter\n%s", got, want)
		}
		j.tally.compared++
		if j.reopened && strings.Contains(full(before), "[An old result, shrunk") {
			j.tally.afterShrink++
		}
	}
	if _, changes := message.Normalise(res.Messages); len(changes) > 0 {
		j.t.Fatalf("not valid: %v", changes)
	}
	j.seen, j.reopened = res.Messages, false
}

func (j *journey) compress() {
	c, err := j.s.Compress(j.t.Context(), rondo.CompressRequest{})
	if err == nil && c.Done {
		j.seen = nil // what it became shows in the next turn
		j.turnUnseen()
	}
}

// turnUnseen is a turn whose beginning is not compared.
func (j *journey) turnUnseen() {
	m := j.o.Model.(narrow)
	m.steps, m.calls = []step{uncounted(says(j.word()))}, 0
	res, err := j.s.Run(j.t.Context(), rondo.Request{Text: j.word()})
	if err != nil {
		j.t.Fatal(err)
	}
	j.seen = res.Messages
}

// full is all that is sent of messages.
func full(msgs []*message.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		fmt.Fprintf(&b, "%s %s %q + %q", m.Role, m.ToolCallID, m.Text(), m.InjectedText())
		for _, c := range m.Calls() {
			fmt.Fprintf(&b, " <%s %s %s>", c.ID, c.Name, c.Arguments)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// reread is a store that gives back messages as files do: from their JSON form.
type reread struct{ *store.Memory }

func (r reread) Load(ctx context.Context, id string) (store.Session, []*message.Message, error) {
	s, msgs, err := r.Memory.Load(ctx, id)
	for i, m := range msgs {
		var again message.Message
		if err := again.UnmarshalJSON(message.AppendJSON(nil, m)); err != nil {
			return s, nil, err
		}
		msgs[i] = &again
	}
	return s, msgs, err
}

// Whatever happens to a session, whoever takes it up sees what was seen last,
// and a search finds each thing that was said, once.
func TestASessionIsTheSameWhoeverTakesItUp(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred random sessions take some seconds")
	}
	var seen tally
	rapid.Check(t, func(rt *rapid.T) {
		db := reread{store.NewMemory()}
		j := &journey{t: rt, tally: &seen, results: map[int]string{}}
		j.o = rondo.Options{
			Model: narrow{&fakeModel{}, rapid.SampledFrom([]int{6000, 12_000, 40_000}).Draw(rt, "window")},
			Store: db, Limits: loop.Limits{MaxRounds: -1, RepeatStop: 1000, RepeatTold: 1000}, Tools: []*tool.Tool{newTool("look", true, j.look)},
			Context: rondo.ContextOptions{ProtectLast: rapid.SampledFrom([]int{1, 4, 20}).Draw(rt, "protect")},
			Listeners: []rondo.Listener{func(e rondo.Event) {
				j.packed = j.packed || e.Compaction != nil
				seen.note(e)
			}},
		}
		if rapid.Bool().Draw(rt, "hooks") {
			j.o.Hooks = []hook.Hooks{adder()}
		}
		j.open()
		for range rapid.IntRange(2, 12).Draw(rt, "steps") {
			rapid.SampledFrom([]func(){j.turn, j.turn, j.turn, j.open, j.open, j.compress}).Draw(rt, "step")()
		}
		j.s.Close()
		for _, w := range j.said {
			hits, err := db.Search(t.Context(), w, store.SearchOptions{})
			if err != nil || len(hits) != 1 {
				rt.Fatalf("%s is found %d times, %v", w, len(hits), err)
			}
		}
	})
	t.Logf("%+v", seen)
}
