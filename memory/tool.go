package memory

import (
	"context"
	_ "embed" // for the text of the tool
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rondo-engine/rondo/tool"
)

//go:embed tool.md
var toolText string

// ToolName is what the model calls the tool.
const ToolName = "memory"

// schema is written by hand for the lists of values.
const schema = `{"type":"object","properties":{` +
	`"action":{"type":"string","enum":["add","replace","remove"]},` +
	`"target":{"type":"string","enum":["memory","user"],"description":"memory if not given"},` +
	`"content":{"type":"string","description":"the entry, for add and replace"},` +
	`"old_text":{"type":"string","description":"a part of the entry to replace or remove"}},"required":["action"]}`

type toolArgs struct {
	Action  string `json:"action"`
	Target  string `json:"target,omitzero"`
	Content string `json:"content,omitzero"`
	OldText string `json:"old_text,omitzero"`
}

// Tool returns the agent-level tool memory, which changes s. Child agents do not
// get it.
func (s *Store) Tool() *tool.Tool {
	return tool.Must(tool.New(tool.Tool{
		Name: ToolName, Description: strings.TrimSpace(toolText), Toolset: "agent", TopOnly: true,
		Schema: json.RawMessage(schema),
		Access: func(json.RawMessage) tool.Access { return tool.Access{Writes: []string{ToolName}} },
	}, s.run))
}

func (s *Store) run(_ context.Context, _ tool.Call, a toolArgs) (tool.Result, error) {
	target := Memory
	if a.Target == string(User) {
		target = User
	}
	edited := s.edited(target)
	done, err := s.apply(target, a)
	if err != nil {
		return tool.Result{}, err
	}
	entries, err := s.Entries(target)
	if err != nil {
		return tool.Result{}, err
	}
	s.saw(target, entries)
	text := fmt.Sprintf("%s %s has %d of %d characters.", done, target.File(),
		utf8.RuneCountInString(strings.Join(entries, separator)), s.limits[target])
	if edited {
		text += " Somebody else changed it since you saw it. The entries are now:\n" + list(entries)
	}
	return tool.Result{Text: text}, nil
}

// apply does what a call asks for and says so.
func (s *Store) apply(t Target, a toolArgs) (string, error) {
	switch a.Action {
	case "add":
		added, err := s.Add(t, a.Content)
		if err == nil && !added {
			return "It was remembered already.", nil
		}
		return "Remembered.", err
	case "replace":
		return "Replaced.", s.Replace(t, a.OldText, a.Content)
	}
	return "Removed.", s.Remove(t, a.OldText)
}
