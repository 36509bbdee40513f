package chat

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/model"
)

// caseFile is a stream with what is right for it.
type caseFile struct {
	Kind, API string
	Given     struct {
		caseGiven
		Variants []caseGiven
		Fill     *struct {
			Token, Text string
			Count       int
		}
		Config struct {
			ThinkTags     bool `json:"think_tags"`
			StartsInThink bool `json:"starts_in_think"`
		}
	}
	Want struct {
		caseWant
		Variants []caseWant
	}
}

type caseGiven struct {
	Name, Stream string
	SplitAt      []int `json:"split_at"`
}

type caseWant struct {
	Name            string
	Text, Reasoning *string
	Calls           *[]caseCall `json:"tool_calls"`
	Finish          model.Finish
	Usage           *struct{ Input, Cached, Output int64 }
	Class           model.Class `json:"error_class"`
	Retryable       *bool
	TextLacks       []string `json:"text_lacks"`
	DeltasLack      []string `json:"text_deltas_lack"`
}

type caseCall struct {
	ID, Name string
	Args     any
}

func TestCases(t *testing.T) {
	for _, file := range shared(t, "cases", "dev", "*.json") {
		var c caseFile
		load(t, file, &c)
		if c.Kind != "stream" && c.Kind != "think" || c.API != string(model.ChatCompletions) {
			continue
		}
		p := testProfile()
		p.ThinkTags, p.StartsInThink = c.Given.Config.ThinkTags, c.Given.Config.StartsInThink
		given, want := c.Given.Variants, c.Want.Variants
		if len(given) == 0 {
			given, want = []caseGiven{c.Given.caseGiven}, []caseWant{c.Want.caseWant}
		}
		for i, g := range given {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".json")+"/"+g.Name, func(t *testing.T) {
				fill := strings.NewReplacer()
				if f := c.Given.Fill; f != nil {
					fill = strings.NewReplacer(f.Token, strings.Repeat(f.Text, f.Count))
				}
				stream := []byte(fill.Replace(g.Stream))
				want[i].check(t, "whole", collect(p, bytes.NewReader(stream)), fill)
				want[i].check(t, "cut", collect(p, splitAt(stream, g.SplitAt)), fill)
				want[i].check(t, "by bytes", decode(p, stream, 1), fill)
				sameInFull(t, p, string(stream))
			})
		}
	}
}

// check compares o with what is right.
func (w *caseWant) check(t *testing.T, how string, o outcome, fill *strings.Replacer) {
	t.Helper()
	if w.Class != "" {
		if got := model.ClassOf(o.err); got != w.Class || w.Retryable != nil && got.Retryable() != *w.Retryable {
			t.Errorf("%s: got error %q, want %q: %v", how, got, w.Class, o.err)
		}
		return
	}
	if o.err != nil {
		t.Fatalf("%s: %v", how, o.err)
	}
	m := o.reply.Message
	if w.Text != nil && (m.Text() != *w.Text || o.joined(model.DeltaText) != *w.Text) {
		t.Errorf("%s: text %q, deltas %q, want %q", how, m.Text(), o.joined(model.DeltaText), *w.Text)
	}
	if w.Reasoning != nil && m.Reasoning() != *w.Reasoning {
		t.Errorf("%s: reasoning %q, want %q", how, m.Reasoning(), *w.Reasoning)
	}
	if w.Finish != "" && o.reply.Finish != w.Finish {
		t.Errorf("%s: finish %q, want %q", how, o.reply.Finish, w.Finish)
	}
	if u := o.reply.Usage; w.Usage != nil && (u.Input != w.Usage.Input || u.CacheRead != w.Usage.Cached || u.Output != w.Usage.Output) {
		t.Errorf("%s: usage %+v, want %+v", how, u, *w.Usage)
	}
	for _, lack := range w.TextLacks {
		if strings.Contains(m.Text(), lack) {
			t.Errorf("%s: the text has %q", how, lack)
		}
	}
	for _, d := range o.deltas {
		if d.Kind == model.DeltaText && slices.ContainsFunc(w.DeltasLack, func(s string) bool { return strings.Contains(d.Text, s) }) {
			t.Errorf("%s: delta %q", how, d.Text)
		}
	}
	w.checkCalls(t, how, o, fill)
}

func (w *caseWant) checkCalls(t *testing.T, how string, o outcome, fill *strings.Replacer) {
	t.Helper()
	if w.Calls == nil {
		return
	}
	calls := o.reply.Message.Calls()
	if len(calls) != len(*w.Calls) {
		t.Fatalf("%s: %d calls, want %d", how, len(calls), len(*w.Calls))
	}
	for i, want := range *w.Calls {
		got := calls[i]
		if got.Name != want.Name || got.ID == "" || want.ID != "*" && got.ID != want.ID {
			t.Errorf("%s: call %d is %s %s, want %s %s", how, i, got.ID, got.Name, want.ID, want.Name)
		}
		var args any
		if json.Unmarshal([]byte(got.Arguments), &args) != nil {
			args = nil
		}
		if wantArgs := filled(want.Args, fill); !reflect.DeepEqual(args, wantArgs) {
			t.Errorf("%s: call %d has arguments %.200s, want %.200v", how, i, got.Arguments, wantArgs)
		}
	}
}

// filled replaces the token for a long text in the strings of v.
func filled(v any, fill *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return fill.Replace(v)
	case map[string]any:
		for k := range v {
			v[k] = filled(v[k], fill)
		}
	}
	return v
}
