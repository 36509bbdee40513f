package responses_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/responses"
)

// wireCase is the part of a case file that is about encoding.
type wireCase struct {
	ID    string `json:"id"`
	API   string `json:"api"`
	Given struct {
		History json.RawMessage `json:"history"`
		Items   json.RawMessage `json:"items"`
		Target  json.RawMessage `json:"target"`
		Usages  []struct {
			API   string          `json:"api"`
			Usage json.RawMessage `json:"usage"`
		} `json:"usages"`
	} `json:"given"`
	Want struct {
		ItemIDs    []*string         `json:"item_ids"`
		Texts      []string          `json:"texts"`
		Types      []string          `json:"sent_item_types"`
		Invariants []string          `json:"invariants"`
		Answers    map[string]string `json:"answers"`
		Normalised []struct {
			Input      int64 `json:"input_total"`
			CacheRead  int64 `json:"cache_read"`
			CacheWrite int64 `json:"cache_write"`
			Output     int64 `json:"output"`
			Reasoning  int64 `json:"reasoning"`
		} `json:"normalised"`
	} `json:"want"`
}

// sentItem is an item of a request as the cases look at it.
type sentItem struct {
	Type    string           `json:"type"`
	Role    string           `json:"role"`
	ID      *string          `json:"id"`
	CallID  string           `json:"call_id"`
	Content any              `json:"content"`
	Output  any              `json:"output"`
	Summary *json.RawMessage `json:"summary"`
}

func TestCasesOfEncoding(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "cases", "dev"), "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	run := 0
	for _, file := range files {
		var c wireCase
		load(t, file, &c)
		if c.API != "responses" && !strings.Contains(string(c.Given.Target), `"responses"`) || c.Given.History == nil && c.Given.Items == nil {
			continue
		}
		run++
		t.Run(c.ID, func(t *testing.T) { c.check(t, c.send(t)) })
	}
	if run == 0 {
		t.Skip("no case is about encoding")
	}
}

func (c *wireCase) send(t *testing.T) []sentItem {
	t.Helper()
	parse, data := responses.ParseItems, c.Given.Items
	if data == nil {
		parse, data = message.ParseHistory, c.Given.History
	}
	msgs, err := parse(data)
	if err != nil {
		t.Fatal(err)
	}
	h, _ := message.Normalise(msgs)
	var target struct{ Provider, Model string }
	_ = json.Unmarshal(c.Given.Target, &target) // a list of protocols names no model
	sent := body(t, &model.Profile{Provider: target.Provider, Model: target.Model}, &model.Request{History: h})
	var v struct {
		Input []sentItem `json:"input"`
	}
	if err := json.Unmarshal(sent, &v); err != nil {
		t.Fatal(err)
	}
	return v.Input
}

func (c *wireCase) check(t *testing.T, items []sentItem) {
	var ids []*string
	var types, texts []string
	answers := map[string]string{}
	for _, it := range items {
		ids, types = append(ids, it.ID), append(types, it.Type)
		switch it.Type {
		case "message":
			texts = append(texts, words(it.Content))
		case "function_call_output":
			answers[it.CallID] = words(it.Output)
		}
	}
	same := func(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
	if c.Want.ItemIDs != nil && !slices.EqualFunc(ids, c.Want.ItemIDs, same) {
		t.Errorf("item ids differ: %d items, want %d", len(ids), len(c.Want.ItemIDs))
	}
	if c.Want.Types != nil && !slices.Equal(types, c.Want.Types) {
		t.Errorf("types %q, want %q", types, c.Want.Types)
	}
	if c.Want.Texts != nil && !slices.Equal(texts, c.Want.Texts) {
		t.Errorf("texts %q, want %q", texts, c.Want.Texts)
	}
	for id, want := range c.Want.Answers {
		if got := answers[id]; got == "" || want != "*" && got != want {
			t.Errorf("answer to %s: %q, want %q", id, got, want)
		}
	}
	checkOrder(t, items)
}

// checkOrder checks what the service demands of any input.
func checkOrder(t *testing.T, items []sentItem) {
	ids := map[string]bool{}
	var open []string
	for i, it := range items {
		if it.ID != nil && ids[*it.ID] {
			t.Errorf("item %d: the id %s was there before", i, *it.ID)
		}
		if it.ID != nil {
			ids[*it.ID] = true
		}
		switch {
		case it.Type == "reasoning":
			if it.Summary == nil {
				t.Errorf("item %d: reasoning without a summary", i)
			}
			if i+1 == len(items) || items[i+1].Role == "user" || strings.HasSuffix(items[i+1].Type, "_output") {
				t.Errorf("item %d: reasoning without what followed it", i)
			}
		case it.Type == "function_call":
			open = append(open, it.CallID)
		case it.Type == "function_call_output":
			if len(open) == 0 || open[0] != it.CallID {
				t.Fatalf("item %d: the output of %s is out of order; open are %q", i, it.CallID, open)
			}
			open = open[1:]
		case it.Role == "user" && len(open) > 0:
			t.Errorf("item %d: the user speaks before %q are answered", i, open)
		}
	}
	if len(open) > 0 {
		t.Errorf("not answered: %q", open)
	}
}

func TestCaseOfUsage(t *testing.T) {
	var c wireCase
	load(t, shared(t, "cases", "dev", "40-budget-cached-tokens.json"), &c)
	for i, u := range c.Given.Usages {
		if u.API != "responses" {
			continue
		}
		d := responses.NewDecoder(profile)
		if err := d.Whole([]byte(`{"status":"completed","output":[],"usage":`+string(u.Usage)+`}`), func(model.Delta) bool { return true }); err != nil {
			t.Fatal(err)
		}
		reply, err := d.End()
		if err != nil {
			t.Fatal(err)
		}
		w := c.Want.Normalised[i]
		if want := (model.Usage{Input: w.Input, CacheRead: w.CacheRead, CacheWrite: w.CacheWrite, Output: w.Output, Reasoning: w.Reasoning}); reply.Usage != want {
			t.Errorf("got %+v, want %+v", reply.Usage, want)
		}
	}
}
