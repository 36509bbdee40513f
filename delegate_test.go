package rondo_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/tool"
)

// casting is a model that plays a role for each conversation, by its first
// message.
type casting struct {
	roles map[string]*fakeModel
	mu    sync.Mutex
	tools map[string][]string // names offered, by first message
}

func (c *casting) Profile() *model.Profile { return new(fakeModel).Profile() }

func (c *casting) Stream(ctx context.Context, req *model.Request) iter.Seq2[model.Delta, error] {
	first := req.History.Messages()[0].Text()
	c.mu.Lock()
	if c.tools == nil {
		c.tools = map[string][]string{}
	}
	if req.Tools != nil {
		c.tools[first] = nil
		for _, s := range req.Tools.Specs {
			c.tools[first] = append(c.tools[first], s.Name)
		}
	}
	c.mu.Unlock()
	role := c.roles[first]
	if role == nil {
		return func(yield func(model.Delta, error) bool) {
			yield(model.Delta{}, &model.Error{Class: model.InvalidRequest, Err: fmt.Errorf("nobody plays %q", first)})
		}
	}
	return role.Stream(ctx, req)
}

// cast makes the model; each role is "first message" and its steps.
func cast(roles map[string][]step) *casting {
	c := &casting{roles: map[string]*fakeModel{}}
	for first, steps := range roles {
		c.roles[first] = &fakeModel{steps: steps}
	}
	return c
}

// repeated asks n times for a tool, with other arguments each time, and then
// says text.
func repeated(n int, name, text string) []step {
	var steps []step
	for i := range n {
		steps = append(steps, asks(fmt.Sprintf(`c%d %s {"n":%d}`, i, name, i)))
	}
	return append(steps, says(text))
}

func delegating(d rondo.Delegation, more ...*tool.Tool) []*tool.Tool {
	return append(more, rondo.DelegateTool(d))
}

func resultOf(t *testing.T, res rondo.Result, id string) *message.Message {
	t.Helper()
	for _, m := range res.Messages {
		if m.ToolCallID == id {
			return m
		}
	}
	t.Fatalf("no result for %s in %s", id, shape(res.Messages))
	return nil
}

// Scenario 108.
func TestChildrenWorkAtTheSameTimeAndAreReportedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := func(d time.Duration, text string) []step {
			return []step{func(ctx context.Context, yield func(model.Delta) bool) (*model.Reply, error) {
				time.Sleep(d)
				return says(text)(ctx, yield)
			}}
		}
		m := cast(map[string][]step{
			"go": {
				asks(`d1 delegate_task {"tasks":[{"goal":"slow"},{"goal":"quick"},{"goal":"middling"}]}`),
				asks(`d2 delegate_task {"tasks":[{"goal":"a"},{"goal":"b"},{"goal":"c"},{"goal":"d"}]}`), says("all done"),
			},
			"slow": wait(3*time.Second, "first"), "quick": wait(time.Second, "second"), "middling": wait(2*time.Second, "third"),
		})
		began := time.Now()
		res, err := newAgent(t, rondo.Options{Model: m, Tools: delegating(rondo.Delegation{})}).Run(t.Context(), rondo.Request{Text: "go"})
		if err != nil || res.FinalResponse != "all done" {
			t.Fatalf("%q, %v", res.FinalResponse, err)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("three children took %v, want as long as the slowest", took)
		}
		want := "## Task 1: done after 1 rounds\nfirst\n\n## Task 2: done after 1 rounds\nsecond\n\n## Task 3: done after 1 rounds\nthird"
		if got := resultOf(t, res, "d1").Text(); got != want {
			t.Errorf("the parent read\n%s", got)
		}
		fourth := resultOf(t, res, "d2")
		if fourth.Status != message.StatusError || !strings.Contains(fourth.Text(), "4 tasks are too many, at most 3") {
			t.Errorf("four tasks: %s %q", fourth.Status, fourth.Text())
		}
	})
}

func TestCallsOfOneReplyShareTheNumberOfChildren(t *testing.T) {
	m := cast(map[string][]step{
		"go": {asks(`c1 delegate_task {"goal":"a"}`, `c2 delegate_task {"tasks":[{"goal":"b"},{"goal":"c"}]}`,
			`c3 delegate_task {"goal":"d"}`), says("ok")},
		"a": {says("A")}, "b": {says("B")}, "c": {says("C")}, "d": {says("D")},
	})
	res, err := newAgent(t, rondo.Options{Model: m, Tools: delegating(rondo.Delegation{})}).Run(t.Context(), rondo.Request{Text: "go"})
	if err != nil {
		t.Fatal(err)
	}
	var got []message.Status
	for _, id := range []string{"c1", "c2", "c3"} {
		got = append(got, resultOf(t, res, id).Status)
	}
	if want := []message.Status{message.StatusOK, message.StatusOK, message.StatusError}; !slices.Equal(got, want) {
		t.Errorf("statuses %v, want %v", got, want)
	}
}

// Scenario 107 and case 41 of the shared cases.
func TestEachChildHasABudgetOfItsOwn(t *testing.T) {
	m := cast(map[string][]step{
		"go": append(repeated(30, "look", "")[:30],
			asks(`d delegate_task {"tasks":[{"goal":"forty"},{"goal":"forty-nine"},{"goal":"sixty"}]}`), says("done")),
		"forty": repeated(39, "look", "found 40"), "forty-nine": repeated(48, "look", "found 49"), "sixty": repeated(59, "look", "found 60"),
	})
	m.roles["sixty"].steps[50] = says("so far: half of it")
	a := newAgent(t, rondo.Options{
		Model: m, Tools: delegating(rondo.Delegation{}, fixed("look", "x")), Limits: loop.Limits{MaxRounds: 90, RepeatTold: 100, RepeatStop: 200},
	})
	res, err := a.Run(t.Context(), rondo.Request{Text: "go"})
	if err != nil || res.Reason != loop.EndTurn || res.Rounds != 32 {
		t.Fatalf("the parent ended with %s after %d rounds: %v", res.Reason, res.Rounds, err)
	}
	want := "## Task 1: done after 40 rounds\nfound 40\n\n## Task 2: done after 49 rounds\nfound 49\n\n" +
		"## Task 3: partial after 50 rounds: all 50 rounds are used\nso far: half of it"
	if got := resultOf(t, res, "d").Text(); got != want {
		t.Errorf("the parent read\n%s", got)
	}
	if calls := 32 + 40 + 49 + 51; res.APICalls != calls || res.Usage.Input != int64(10*calls) || res.UsageByModel["fake/m"] != res.Usage {
		t.Errorf("%d calls, usage %+v, want %d calls of all agents", res.APICalls, res.Usage, calls)
	}
}

// Scenario 109.
func TestAChildGetsNoToolsThatAreForTheTop(t *testing.T) {
	memory := fixed("memory", "x")
	memory.TopOnly = true
	tools := func(depth int) []*tool.Tool {
		return delegating(rondo.Delegation{MaxDepth: depth}, fixed("look", "x"), rondo.ClarifyTool(), rondo.TodoTool(), memory)
	}
	for depth, want := range map[int][2]string{
		1: {"look todo", ""},
		2: {"look todo delegate_task", "look todo"},
	} {
		m := cast(map[string][]step{
			"go":    {asks(`d delegate_task {"goal":"child"}`), says("done")},
			"child": {asks(`e delegate_task {"goal":"grandchild"}`), says("done")}, "grandchild": {says("done")},
		})
		if _, err := newAgent(t, rondo.Options{Model: m, Tools: tools(depth)}).Run(t.Context(), rondo.Request{Text: "go"}); err != nil {
			t.Fatal(err)
		}
		got := [2]string{strings.Join(m.tools["child"], " "), strings.Join(m.tools["grandchild"], " ")}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("depth %d: tools of child and grandchild (-want +got):\n%s", depth, diff)
		}
	}
}

// Scenario 110.
func TestStoppingTheParentStopsItsChildren(t *testing.T) {
	began := make(chan struct{})
	hang := newTool("hang", true, func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		close(began)
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	})
	m := cast(map[string][]step{
		"go": {asks(`d delegate_task {"tasks":[{"goal":"tool"},{"goal":"model"}]}`), says("never")},
		"tool": {func(ctx context.Context, yield func(model.Delta) bool) (*model.Reply, error) {
			r, err := asks("h hang")(ctx, yield)
			r.Message.Parts = append([]message.Part{message.Text("I found a clue.")}, r.Message.Parts...)
			return r, err
		}},
		"model": {stalls("thinking")},
	})
	st := store.NewMemory()
	a := newAgent(t, rondo.Options{Model: m, Tools: delegating(rondo.Delegation{}, hang), Store: st})
	ctx, cancel := context.WithCancel(t.Context())
	var stopped time.Time
	go func() {
		<-began
		stopped = time.Now()
		cancel()
	}()
	res, err := a.Run(ctx, rondo.Request{Text: "go"})
	if took := time.Since(stopped); took > 500*time.Millisecond {
		t.Errorf("the run ended %v after it was stopped", took)
	}
	if !errors.Is(err, context.Canceled) || res.Reason != loop.UserCancel {
		t.Errorf("ended with %s, %v", res.Reason, err)
	}
	got := resultOf(t, res, "d")
	if got.Status != message.StatusInterrupted || !strings.Contains(got.Text(), "interrupted after 1 rounds") || !strings.Contains(got.Text(), "I found a clue.") {
		t.Errorf("the result is %s %q", got.Status, got.Text())
	}
	all, err := st.List(context.Background(), store.ListOptions{})
	if err != nil || len(all) != 3 {
		t.Fatalf("%d sessions, %v", len(all), err)
	}
	for _, s := range all {
		if s.EndReason != string(loop.UserCancel) {
			t.Errorf("session %s ended with %q", s.ID, s.EndReason)
		}
	}
}

// Scenario 111.
func TestAStalledChildIsReportedAndTheParentGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := cast(map[string][]step{
			"go":    {asks(`d delegate_task {"tasks":[{"goal":"hangs"},{"goal":"works"}]}`), says("went on")},
			"hangs": {stalls("Well,")}, "works": {says("fine")},
		})
		var told []string
		a := newAgent(t, rondo.Options{Model: m, Tools: delegating(rondo.Delegation{})})
		began := time.Now()
		res, err := a.Run(t.Context(), rondo.Request{Text: "go", Listeners: []rondo.Listener{func(e rondo.Event) {
			if e.Type == rondo.EventStatus && strings.Contains(e.Text, "sign of life") {
				told = append(told, fmt.Sprint(len(e.Agent), " ", time.Since(began), " ", e.Text))
			}
		}}})
		if err != nil || res.FinalResponse != "went on" {
			t.Fatalf("%q, %v", res.FinalResponse, err)
		}
		want := []string{"1 7m30s the child agent has given no sign of life for 7m30s; it is stopped in 2m0s if none comes"}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		got := resultOf(t, res, "d")
		if got.Status != message.StatusOK || !strings.Contains(got.Text(), "## Task 1: stalled after 1 rounds: the child agent gave no sign of life, so it was stopped") ||
			!strings.Contains(got.Text(), "## Task 2: done after 1 rounds\nfine") {
			t.Errorf("the result is %s\n%s", got.Status, got.Text())
		}
		if took := time.Since(began); took != 570*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestATotalOfChildrenCanBeSet(t *testing.T) {
	m := cast(map[string][]step{
		"go": {asks(`d1 delegate_task {"tasks":[{"goal":"a"},{"goal":"b"}]}`), asks(`d2 delegate_task {"goal":"a"}`), says("ok")},
		"a":  {says("A")}, "b": {says("B")},
	})
	a := newAgent(t, rondo.Options{Model: m, Tools: delegating(rondo.Delegation{MaxTotal: 2})})
	res, err := a.Run(t.Context(), rondo.Request{Text: "go"})
	if err != nil {
		t.Fatal(err)
	}
	if got := resultOf(t, res, "d2"); got.Status != message.StatusError || !strings.Contains(got.Text(), "may have 2 child agents in all and has had 2") {
		t.Errorf("the third child: %s %q", got.Status, got.Text())
	}
}
