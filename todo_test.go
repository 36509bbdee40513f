package rondo_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/tool"
)

func TestTodoKeepsAListOfTheSession(t *testing.T) {
	m := &fakeModel{steps: []step{
		asks(`t1 todo {"todos":[{"content":"look","status":"in_progress"},{"content":"mend"}]}`),
		asks(`t2 todo {"merge":true,"todos":[{"id":"1","status":"completed"},{"id":"x","content":"test"}]}`),
		asks(`t3 todo {}`), asks(`t4 todo {"merge":true,"todos":[{"id":"nowhere","status":"completed"}]}`), says("ok"),
	}}
	st := store.NewMemory()
	a := newAgent(t, rondo.Options{Model: m, Tools: []*tool.Tool{rondo.TodoTool()}, Store: st})
	s := a.Session("")
	var lists []int
	res, err := s.Run(t.Context(), rondo.Request{Text: "go", Listeners: []rondo.Listener{func(e rondo.Event) {
		if e.Type == rondo.EventTodo {
			lists = append(lists, len(e.Todos))
		}
	}}})
	if err != nil {
		t.Fatal(err)
	}
	want := []rondo.Todo{{ID: "1", Content: "look", Status: "completed"}, {ID: "2", Content: "mend", Status: "pending"}, {ID: "x", Content: "test", Status: "pending"}}
	if diff := cmp.Diff(want, s.Todo()); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	if got := resultOf(t, res, "t3").Text(); got != "1. [completed] look\n2. [pending] mend\nx. [pending] test\n1 of 3 steps are closed." {
		t.Errorf("the model reads %q", got)
	}
	if got := resultOf(t, res, "t4"); got.Status != message.StatusError || !strings.Contains(got.Text(), `there is no step "nowhere"`) {
		t.Errorf("a step that is not there: %s %q", got.Status, got.Text())
	}
	if diff := cmp.Diff([]int{2, 3}, lists); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	s.Close()

	again := newAgent(t, rondo.Options{Model: &fakeModel{steps: []step{says("ok")}}, Tools: []*tool.Tool{rondo.TodoTool()}, Store: st}).Session(s.ID())
	defer again.Close()
	if _, err := again.Run(t.Context(), rondo.Request{Text: "and?"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, again.Todo()); diff != "" {
		t.Errorf("list of the resumed session (-want +got):\n%s", diff)
	}
}

func TestTodoRefusesWhatIsTooMuch(t *testing.T) {
	many := make([]string, 257)
	for i := range many {
		many[i] = fmt.Sprintf(`{"content":"step %d"}`, i)
	}
	m := &fakeModel{steps: []step{
		asks(`a todo {"todos":[` + strings.Join(many, ",") + `]}`), asks(`b todo {"todos":[{"content":"` + strings.Repeat("x", 4001) + `"}]}`),
		asks(`c todo {"todos":[` + strings.Join(many[1:], ",") + `]}`), says("ok"),
	}}
	s := newAgent(t, rondo.Options{Model: m, Tools: []*tool.Tool{rondo.TodoTool()}}).Session("")
	defer s.Close()
	res, err := s.Run(t.Context(), rondo.Request{Text: "go"})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]message.Status{"a": message.StatusError, "b": message.StatusError, "c": message.StatusOK} {
		if got := resultOf(t, res, id); got.Status != want {
			t.Errorf("%s: %s %.100q", id, got.Status, got.Text())
		}
	}
	if len(s.Todo()) != 256 {
		t.Errorf("the list has %d steps", len(s.Todo()))
	}
}

// Scenario 51.
func TestClarifyAsksAloneAndOnce(t *testing.T) {
	m := &fakeModel{steps: []step{
		asks("a look", `q clarify {"question":"Which one?","choices":["red","blue"]}`, "b look2"), says("ok"),
	}}
	var order []string
	note := func(name string) *tool.Tool {
		return newTool(name, true, func(context.Context, tool.Call) (tool.Result, error) {
			order = append(order, name)
			return tool.Result{Text: name}, nil
		})
	}
	var asked string
	a := newAgent(t, rondo.Options{
		Model: m, Tools: []*tool.Tool{note("look"), rondo.ClarifyTool(), note("look2")},
		Ask: func(_ context.Context, q rondo.Question) (string, error) {
			order = append(order, q.ID+" "+q.Text+" "+strings.Join(q.Choices, "|"))
			return "red\n", nil
		},
		Listeners: []rondo.Listener{func(e rondo.Event) {
			if e.Type == rondo.EventClarify {
				b, _ := e.MarshalJSON()
				asked += string(b)
			}
		}},
	})
	res, err := a.Run(t.Context(), rondo.Request{Text: "go"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"look", "q Which one? red|blue", "look2"}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if got := resultOf(t, res, "q").Text(); got != "The user answered: red" {
		t.Errorf("the model reads %q", got)
	}
	if strings.Count(asked, `"text":"Which one?","choices":["red","blue"]`) != 1 {
		t.Errorf("events: %s", asked)
	}
}

func TestClarifyFailsWhereNobodyAnswers(t *testing.T) {
	for _, ask := range []func(context.Context, rondo.Question) (string, error){
		nil,
		func(context.Context, rondo.Question) (string, error) { return "", nil },
		func(context.Context, rondo.Question) (string, error) { return "", errors.New("decide yourself") },
	} {
		m := &fakeModel{steps: []step{asks(`q clarify {"question":"Which?"}`), says("ok")}}
		res, err := newAgent(t, rondo.Options{Model: m, Tools: []*tool.Tool{rondo.ClarifyTool()}, Ask: ask}).Run(t.Context(), rondo.Request{Text: "go"})
		if err != nil {
			t.Fatal(err)
		}
		if got := resultOf(t, res, "q"); got.Status != message.StatusError || !strings.Contains(got.Text(), "decide yourself") {
			t.Errorf("the model reads %s %q", got.Status, got.Text())
		}
	}
}
