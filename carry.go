package rondo

import (
	"regexp"
	"strings"
	"sync"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/window"
)

// todoTitle is the heading under which a compression carries the list of things
// to do.
const todoTitle = "Things to do, as the tool todo has them"

// carryTodos is the section that carries a list over a compression; nil where
// nothing is left to do, so that what is finished is not taken up again.
func carryTodos(items []Todo) []window.Section {
	for _, t := range items {
		if t.Status == TodoPending || t.Status == TodoInProgress {
			return []window.Section{{Title: todoTitle, Text: describeTodos(items)}}
		}
	}
	return nil
}

// todoLine matches a step as describeTodos writes it.
var todoLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.+?)\. \[(pending|in_progress|completed|cancelled)\] (.*)$`)
})

// carriedTodos is the list that a compression carried over.
func carriedTodos(msgs []*message.Message) []Todo {
	text := window.Carried(msgs, todoTitle)
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	var items []Todo
	for _, line := range lines[:len(lines)-1] { // the last counts the steps
		switch m := todoLine().FindStringSubmatch(line); {
		case m != nil:
			items = append(items, Todo{ID: m[1], Status: TodoStatus(m[2]), Content: m[3]})
		case len(items) > 0:
			items[len(items)-1].Content += "\n" + line
		}
	}
	return items
}
