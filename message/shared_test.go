package message

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestNormaliseAnswersTheSharedCases holds the histories of all shared cases
// against what they want of messages, results and answers.
func TestNormaliseAnswersTheSharedCases(t *testing.T) {
	for name, data := range sharedCases(t) {
		var c sharedCase
		if json.Unmarshal(data, &c) != nil || len(c.Given.History) == 0 || c.Given.History[0] != '[' {
			continue
		}
		t.Run(name, func(t *testing.T) {
			in, err := ParseHistory(c.Given.History)
			if err != nil {
				t.Fatal(err)
			}
			h, _ := Normalise(in)
			if err := check(h.Messages(), false); err != nil {
				t.Errorf("not valid: %v", err)
			}
			c.hold(t, h.Messages())
		})
	}
}

type sharedCase struct {
	Given struct{ History json.RawMessage }
	Want  struct {
		Messages []struct {
			Role    Role
			Content string
		}
		Results []string `json:"results_in_order"`
		Answers map[string]string
	}
}

func (c *sharedCase) hold(t *testing.T, out []*Message) {
	var results []string
	answers := map[string]string{}
	for _, m := range out {
		if m.Role == Tool {
			results = append(results, m.Text())
			answers[m.ToolCallID] = m.Text()
		}
	}
	if c.Want.Results != nil && !slices.Equal(results, c.Want.Results) {
		t.Errorf("results %q, want %q", results, c.Want.Results)
	}
	for id, want := range c.Want.Answers {
		if got := answers[id]; got == "" || want != "*" && got != want {
			t.Errorf("answer to %s: %q, want %q", id, got, want)
		}
	}
	if c.Want.Messages == nil {
		return
	}
	if len(out) != len(c.Want.Messages) {
		t.Fatalf("%d messages, want %d:\n%s", len(out), len(c.Want.Messages), writeNotes(out))
	}
	for i, want := range c.Want.Messages {
		if out[i].Role != want.Role || out[i].Text() != want.Content {
			t.Errorf("message %d: %s %q, want %s %q", i, out[i].Role, out[i].Text(), want.Role, want.Content)
		}
	}
}
