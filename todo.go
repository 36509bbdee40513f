package rondo

import (
	"context"
	_ "embed" // for the text of the tool
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/tool"
)

// TodoStatus says how far a step is.
type TodoStatus string

// The states of a step.
const (
	TodoPending    TodoStatus = "pending"
	TodoInProgress TodoStatus = "in_progress"
	TodoCompleted  TodoStatus = "completed"
	TodoCancelled  TodoStatus = "cancelled"
)

// Todo is a step of a session's list of what is to be done.
type Todo struct {
	// ID is unique in the list.
	ID      string     `json:"id"`
	Content string     `json:"content"`
	Status  TodoStatus `json:"status"`
}

// The bounds of a list: steps, and characters of each.
const (
	maxTodos    = 256
	maxTodoText = 4000
)

// todoName is what the model calls the tool.
const todoName = "todo"

//go:embed todo.md
var todoText string

type todoArgs struct {
	Todos []todoArg `json:"todos,omitzero"`
	Merge bool      `json:"merge,omitzero" jsonschema:"change or add these steps, keep the others"`
}

type todoArg struct {
	ID      string `json:"id,omitzero"`
	Content string `json:"content,omitzero"`
	Status  string `json:"status,omitzero"`
}

// todoSchema is written by hand for the list of states.
const todoSchema = `{"type":"object","properties":{"todos":{"type":"array","items":{"type":"object","properties":` +
	`{"id":{"type":"string"},"content":{"type":"string"},"status":{"type":"string","enum":["pending","in_progress","completed","cancelled"]}}}},` +
	`"merge":{"type":"boolean","description":"change or add these steps, keep the others"}}}`

// TodoTool returns the agent-level tool todo: the model keeps a list of what is
// to be done, which listeners get with each change (EventTodo) and which
// Session.Todo returns. It counts as read-only: it changes nothing but the
// session's own list, which is found again in the calls that made it.
func TodoTool() *tool.Tool {
	return tool.Must(tool.New(tool.Tool{
		Name: todoName, Description: strings.TrimSpace(todoText), Toolset: agentToolset, ReadOnly: true,
		Schema: json.RawMessage(todoSchema),
		Access: func(json.RawMessage) tool.Access { return tool.Access{Writes: []string{todoName}} },
	}, runTodo))
}

// agentToolset is the toolset of the tools that the agent answers itself.
const agentToolset = "agent"

func runTodo(ctx context.Context, _ tool.Call, a todoArgs) (tool.Result, error) {
	turn, ok := TurnOf(ctx)
	if !ok {
		return tool.Result{}, fmt.Errorf("%s works in an agent only", todoName)
	}
	list := &turn.Session().todo
	if a.Todos == nil {
		return tool.Result{Text: describeTodos(list.get())}, nil
	}
	items, err := list.change(a)
	if err != nil {
		return tool.Result{}, err
	}
	turn.Emit(Event{Type: EventTodo, Todos: items})
	return tool.Result{Text: describeTodos(items), Details: items}, nil
}

// Todo returns the list of what is to be done, as the tool todo last left it.
// It may be called at any time.
func (s *Session) Todo() []Todo { return s.todo.get() }

// SetTodo replaces the list, for who brings one from elsewhere, such as a
// snapshot. It must not be called while a run goes on.
func (s *Session) SetTodo(items []Todo) { s.todo.set(items) }

// todoList is the list of a session. Its items are replaced, never changed.
type todoList struct {
	mu    sync.Mutex
	items []Todo
}

func (l *todoList) get() []Todo {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.items
}

func (l *todoList) set(items []Todo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = slices.Clone(items)
}

// change applies a call and returns the new list.
func (l *todoList) change(a todoArgs) ([]Todo, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var items []Todo
	if a.Merge {
		items = slices.Clone(l.items)
	}
	for i, t := range a.Todos {
		if n := utf8.RuneCountInString(t.Content); n > maxTodoText {
			return nil, fmt.Errorf("the list was not changed: step %d has %d characters, at most %d are taken", i+1, n, maxTodoText)
		}
		var err error
		if items, err = put(items, t); err != nil {
			return nil, fmt.Errorf("the list was not changed: step %d: %w", i+1, err)
		}
	}
	if len(items) > maxTodos {
		return nil, fmt.Errorf("the list was not changed: it would have %d steps, at most %d are taken", len(items), maxTodos)
	}
	l.items = items
	return items, nil
}

// put changes the step with t's id or adds a new one.
func put(items []Todo, t todoArg) ([]Todo, error) {
	content, status := strings.TrimSpace(t.Content), TodoStatus(t.Status)
	i := slices.IndexFunc(items, func(have Todo) bool { return t.ID != "" && have.ID == t.ID })
	if i < 0 && content == "" {
		if t.ID == "" {
			return nil, fmt.Errorf("it has no content")
		}
		return nil, fmt.Errorf("it has no content, and there is no step %q", t.ID)
	}
	if i < 0 {
		id := t.ID
		for n := len(items) + 1; id == "" || t.ID == "" && hasTodo(items, id); n++ {
			id = strconv.Itoa(n)
		}
		items, i = append(items, Todo{ID: id, Status: TodoPending}), len(items)
	}
	if content != "" {
		items[i].Content = content
	}
	if status != "" {
		items[i].Status = status
	}
	return items, nil
}

func hasTodo(items []Todo, id string) bool {
	return slices.ContainsFunc(items, func(t Todo) bool { return t.ID == id })
}

// describeTodos is the list as the model reads it.
func describeTodos(items []Todo) string {
	if len(items) == 0 {
		return "The list is empty."
	}
	var b strings.Builder
	done := 0
	for _, t := range items {
		if t.Status == TodoCompleted || t.Status == TodoCancelled {
			done++
		}
		fmt.Fprintf(&b, "%s. [%s] %s\n", t.ID, t.Status, t.Content)
	}
	fmt.Fprintf(&b, "%d of %d steps are closed.", done, len(items))
	return b.String()
}

// recall makes the list anew from the calls in a history that were answered
// well. parse checks the arguments of a call.
func (l *todoList) recall(msgs []*message.Message, parse func(arguments string) (json.RawMessage, error)) {
	good := make(map[string]bool)
	for _, m := range msgs {
		if m.Role == message.Tool && (m.Status == message.StatusOK || m.Status == "") {
			good[m.ToolCallID] = true
		}
	}
	for _, m := range msgs {
		for _, c := range m.Calls() {
			if c.Name != todoName || !good[c.ID] {
				continue
			}
			var a todoArgs
			if raw, err := parse(c.Arguments); err == nil && json.Unmarshal(raw, &a) == nil && a.Todos != nil {
				_, _ = l.change(a) // what was refused then is refused now
			}
		}
	}
}
