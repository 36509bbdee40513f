package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSharedErrors classifies the errors of the cases.
func TestSharedErrors(t *testing.T) {
	for _, c := range sharedCases(t, "retry") {
		for _, e := range c.Given.Errors {
			t.Run(c.ID+"/"+e.Name, func(t *testing.T) { classifyCase(t, c, e) })
		}
	}
}

func classifyCase(t *testing.T, c sharedCase, e caseError) {
	args := []string{"wire", "classify", "--status", fmt.Sprint(e.Status)}
	for k, v := range e.Headers {
		args = append(args, "--header", k+": "+v)
	}
	if c.Given.Now != "" {
		args = append(args, "--now", c.Given.Now)
	}
	body := string(e.Body) + e.Stream
	var got struct {
		Class   string
		RetryMS *float64 `json:"retry_after_ms"`
		Window  *int     `json:"learned_context_window"`
		Action  string
	}
	runJSON(t, strings.NewReader(body), &got, args...)
	if want, ok := c.Want.Class[e.Name]; ok && got.Class != want {
		t.Errorf("class %s, want %s", got.Class, want)
	}
	if want, ok := c.Want.WaitMS[e.Name]; ok && (want == nil) != (got.RetryMS == nil) || want != nil && *got.RetryMS != *want {
		t.Errorf("wait %v, want %v", got.RetryMS, want)
	}
	if want, ok := c.Want.LearnedWindow[e.Name]; ok && (got.Window == nil || *got.Window != want) {
		t.Errorf("learned window %v, want %d", got.Window, want)
	}
	if got.Action == "" {
		t.Error("no action")
	}
}

// TestSharedHistories repairs and encodes the histories of the cases.
func TestSharedHistories(t *testing.T) {
	for _, c := range sharedCases(t, "history", "responses", "anthropic") {
		input := c.Given.History
		if c.Given.Items != nil {
			input = c.Given.Items
		}
		if c.Given.Request != nil {
			input = c.Given.Request
		}
		if input == nil {
			continue
		}
		t.Run(c.ID+"/repair", func(t *testing.T) { repairCase(t, c, string(input)) })
		for _, target := range targets(t, c) {
			t.Run(c.ID+"/"+target.API, func(t *testing.T) { encodeCase(t, c, target, string(input)) })
		}
	}
}

type caseTarget struct {
	API, Provider, Model string
	Thinking             bool
}

func targets(t *testing.T, c sharedCase) []caseTarget {
	t.Helper()
	var names []string
	var one caseTarget
	switch {
	case json.Unmarshal(c.Given.Target, &names) == nil:
		var all []caseTarget
		for _, n := range names {
			all = append(all, caseTarget{API: n, Model: "m"})
		}
		return all
	case json.Unmarshal(c.Given.Target, &one) == nil:
		if one.Model == "" {
			one.Model = "m"
		}
		return []caseTarget{one}
	}
	return []caseTarget{{API: c.API, Model: "m"}}
}

// repaired is what rondo wire repair prints.
type repaired struct {
	History []struct {
		Role       string
		Content    any
		ToolCallID string                `json:"tool_call_id"`
		ToolCalls  []struct{ ID string } `json:"tool_calls"`
	}
	Changes []struct{ Rule, Detail string }
}

func repairCase(t *testing.T, c sharedCase, input string) {
	var got repaired
	runJSON(t, strings.NewReader(input), &got, "wire", "repair", "-")
	var results []string
	open := []string{}
	seen := map[string]bool{}
	for i, m := range got.History {
		if m.Role == "tool" {
			text, _ := m.Content.(string)
			results = append(results, text)
			if want, ok := c.Want.Answers[m.ToolCallID]; ok && want != "*" && text != want || text == "" {
				t.Errorf("call %s is answered by %q, want %q", m.ToolCallID, text, want)
			}
			if len(open) == 0 || open[0] != m.ToolCallID {
				t.Fatalf("message %d answers %s, open are %v", i, m.ToolCallID, open)
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			t.Fatalf("message %d comes before the results of %v", i, open)
		}
		if i > 0 && got.History[i-1].Role == m.Role {
			t.Errorf("messages %d and %d are both %s", i-1, i, m.Role)
		}
		for _, call := range m.ToolCalls {
			if seen[call.ID] {
				t.Errorf("id %s occurs twice", call.ID)
			}
			seen[call.ID] = true
			open = append(open, call.ID)
		}
	}
	if c.Want.Results != nil && !slices.Equal(results, c.Want.Results) {
		t.Errorf("results %q, want %q", results, c.Want.Results)
	}
	for i, w := range c.Want.Messages {
		if i >= len(got.History) || got.History[i].Role != w.Role || got.History[i].Content != w.Content {
			t.Errorf("message %d is not %v: %v", i, w, got.History)
		}
	}
}

func encodeCase(t *testing.T, c sharedCase, target caseTarget, input string) {
	args := []string{"wire", "encode", "--api", target.API, "--model", target.Model}
	if target.Provider != "" {
		args = append(args, "--provider", target.Provider)
	}
	if target.Thinking {
		args = append(args, "--thinking")
	}
	var body struct {
		Messages []json.RawMessage
		Input    []struct {
			Type string
			ID   *string
		}
		Thinking *struct{ Type string }
	}
	var raw json.RawMessage
	runJSON(t, strings.NewReader(input), &raw, args...)
	if err := json.Unmarshal(raw, &body); err != nil {
		t.Fatal(err)
	}
	if len(body.Messages)+len(body.Input) == 0 {
		t.Fatalf("the request holds no messages: %s", raw)
	}
	for i, want := range c.Want.ItemIDs {
		if i >= len(body.Input) || (want == nil) != (body.Input[i].ID == nil) || want != nil && *body.Input[i].ID != *want {
			t.Errorf("item %d has not id %v: %s", i, want, raw)
		}
	}
	for i, want := range c.Want.ItemTypes {
		if i >= len(body.Input) || body.Input[i].Type != want {
			t.Errorf("item %d is no %s: %s", i, want, raw)
		}
	}
	if slices.Contains(c.Want.Invariants, "no_foreign_thinking") && (strings.Contains(string(raw), `"type":"thinking"`) || body.Thinking != nil && body.Thinking.Type == "enabled") {
		t.Errorf("foreign thinking is sent, or thinking is on: %s", raw)
	}
	if n := strings.Count(string(raw), `"cache_control"`); c.Want.MaxMarks > 0 && (n > c.Want.MaxMarks || n == 0) {
		t.Errorf("%d cache marks, want 1 to %d", n, c.Want.MaxMarks)
	}
	if c.Want.IDPattern != "" {
		checkIDs(t, string(raw), regexp.MustCompile(c.Want.IDPattern))
	}
}

func checkIDs(t *testing.T, raw string, pattern *regexp.Regexp) {
	t.Helper()
	found := regexp.MustCompile(`"(?:id|tool_use_id)":"([^"]*)"`).FindAllStringSubmatch(raw, -1)
	times := map[string]int{}
	for _, m := range found {
		if times[m[1]]++; !pattern.MatchString(m[1]) {
			t.Errorf("id %q does not fit %s", m[1], pattern)
		}
	}
	for id, n := range times {
		if n != 2 {
			t.Errorf("id %q occurs %d times, want a call and its result", id, n)
		}
	}
	if len(found) == 0 {
		t.Errorf("no ids in %s", raw)
	}
}
