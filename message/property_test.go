package message

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestNormaliseMakesAnyHistoryValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawHistory(t)
		before := deepCopy(in)
		h, changes := Normalise(in)
		out := h.Messages()

		if err := check(out, false); err != nil {
			t.Fatalf("not valid: %v\n%s", err, writeNotes(out))
		}
		if d := cmp.Diff(before, in); d != "" {
			t.Fatalf("input changed:\n%s", d)
		}
		again, more := Normalise(out)
		if len(more) > 0 || !slices.Equal(again.Messages(), out) {
			t.Fatalf("twice is not once: %v", more)
		}
		if check(in, false) == nil && (len(changes) > 0 || !slices.Equal(in, out)) {
			t.Fatalf("a valid history was changed: %v", changes)
		}
		if len(changes) == 0 && !slices.Equal(in, out) {
			t.Fatal("changed without saying so")
		}
		for _, c := range changes {
			if c.Index < 0 || c.Index >= len(in) {
				t.Fatalf("no message %d: %v", c.Index, c)
			}
		}
		kept(t, in, out)
	})
}

func TestNormaliseOpenDiffersOnlyInTheLastRound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawHistory(t)
		whole, _ := Normalise(in)
		h, results, _ := NormaliseOpen(in)
		if err := check(h.Messages(), true); err != nil {
			t.Fatal(err)
		}
		if results != nil && len(h.OpenCalls()) != len(results) {
			t.Fatalf("%d results for %d open calls", len(results), len(h.OpenCalls()))
		}
		for i, call := range h.OpenCalls() {
			m := results[i]
			if m == nil {
				m = NewResult(call, StatusInterrupted, InterruptedResult)
			}
			var err error
			if h, err = h.Append(m); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(whole.Messages(), h.Messages()); d != "" {
			t.Fatalf("with the results put in it differs from Normalise:\n%s", d)
		}
	})
}

// drawHistory draws messages in any order, with few ids, so that they collide,
// and with texts that tell the messages apart.
func drawHistory(t *rapid.T) []*Message {
	var in []*Message
	ids := rapid.SampledFrom([]string{"a", "b", "a_2", "call_0", "", "x\xff"})
	roles := rapid.SampledFrom([]Role{System, User, User, Assistant, Assistant, Assistant, Tool, Tool, Tool, "ghost"})
	for i := range rapid.IntRange(0, 14).Draw(t, "messages") {
		text := Text(rapid.SampledFrom([]string{"m%d", "m%d", "m%d", "", " \n", "m%d\xff"}).Draw(t, "text"))
		text.Text = strings.Replace(text.Text, "%d", fmt.Sprintf("%d.", i), 1)
		m := &Message{Role: roles.Draw(t, "role"), Parts: []Part{text}}
		switch m.Role {
		case Tool:
			m.ToolCallID = ids.Draw(t, "id")
			m.ToolName = rapid.SampledFrom([]string{"", "ls"}).Draw(t, "tool")
		case Assistant:
			for range rapid.IntRange(0, 3).Draw(t, "calls") {
				m.Parts = append(m.Parts, Call(ids.Draw(t, "id"), rapid.SampledFrom([]string{"ls", "cat", ""}).Draw(t, "name"), "{}"))
			}
		}
		if rapid.IntRange(0, 5).Draw(t, "more") == 0 {
			m.Parts = append(m.Parts, drawPart(t))
		}
		in = append(in, m)
	}
	return in
}

// check is an independent reading of what a valid history is.
func check(msgs []*Message, mayBeOpen bool) error {
	var open []string
	ids := map[string]bool{}
	last := Role("")
	for i, m := range msgs {
		at := func(what string) error { return fmt.Errorf("message %d (%s): %s", i, m.Role, what) }
		if m.Role != Tool && len(open) > 0 {
			return at("calls before it are open")
		}
		order := map[Role][]Role{
			System: {"", System}, User: {"", System, Assistant}, Assistant: {User, Tool}, Tool: {Assistant, Tool},
		}
		if before, ok := order[m.Role]; !ok || !slices.Contains(before, last) {
			return at("follows " + string(last))
		}
		if m.Role == Tool {
			if len(open) == 0 || open[0] != m.ToolCallID {
				return at("answers no call that is next")
			}
			open = open[1:]
		}
		for _, c := range m.Calls() {
			if c == nil || c.ID == "" || c.Name == "" || ids[c.ID] {
				return at("call without id or name, or with an id used before")
			}
			ids[c.ID] = true
			open = append(open, c.ID)
		}
		if err := checkContent(m); err != nil {
			return at(err.Error())
		}
		last = m.Role
	}
	if len(open) > 0 && !mayBeOpen {
		return errors.New("open calls at the end")
	}
	return nil
}

func checkContent(m *Message) error {
	content := m.Role == Tool
	for _, p := range m.Parts {
		switch p.Kind {
		case KindText:
			content = content || strings.TrimSpace(p.Text) != ""
		case KindReasoning:
			content = content || p.State != nil
		case KindImage, KindFile:
			content = true
			if *p.Media == (Media{MIME: p.Media.MIME, Name: p.Media.Name}) {
				return errors.New("media without content")
			}
		default:
			content = true
		}
		if (p.Kind == KindReasoning || p.Kind == KindToolCall) && m.Role != Assistant {
			return errors.New("a part of an assistant's")
		}
		if m.Role == System && p.Kind != KindText {
			return errors.New("a system message of more than text")
		}
	}
	if !content {
		return errors.New("nothing in it")
	}
	if data, err := json.Marshal(struct{ A, B, C, D any }{m.ToolCallID, m.ToolName, m.Text(), m.Reasoning()}); err != nil || !utf8.Valid(data) {
		return errors.New("cannot be encoded")
	}
	for _, c := range m.Calls() {
		if !utf8.ValidString(c.ID + c.Name + c.Arguments) {
			return errors.New("invalid UTF-8")
		}
	}
	if !utf8.ValidString(m.Text() + m.Reasoning() + m.ToolCallID + m.ToolName) {
		return errors.New("invalid UTF-8")
	}
	return nil
}

// kept checks that each text of user, system and assistant messages is still
// there, and each result that answers a call of the round that it stands in.
func kept(t *rapid.T, in, out []*Message) {
	var all strings.Builder
	for _, m := range out {
		all.WriteString(m.Text() + "|")
	}
	var calls []string
	for _, m := range in {
		text, _, marked := strings.Cut(m.Text(), ".")
		switch m.Role {
		case User, System:
			calls = slices.Clip(calls)
		case Assistant:
			calls = nil
			for _, c := range m.Calls() {
				calls = append(calls, c.ID)
			}
		case Tool:
			i := slices.Index(calls, m.ToolCallID)
			if i < 0 || m.ToolCallID == "" || slices.Contains(calls, "") {
				continue
			}
			calls = slices.Delete(calls, i, i+1)
		default:
			continue
		}
		if marked && strings.HasPrefix(text, "m") && !strings.Contains(all.String(), text+".") {
			t.Fatalf("lost %q of a %s message:\n%s", text, m.Role, writeNotes(out))
		}
	}
}

func deepCopy(msgs []*Message) []*Message {
	out := slices.Clone(msgs)
	for i, m := range msgs {
		c := *m
		c.Parts = slices.Clone(m.Parts)
		for k := range c.Parts {
			p := &c.Parts[k]
			p.Call, p.Media, p.State = clone(p.Call), clone(p.Media), clone(p.State)
		}
		out[i] = &c
	}
	return out
}

func TestAppendToSharedTailIsSafeForConcurrentUse(t *testing.T) {
	base := History{}
	for _, m := range []*Message{NewUser("a"), NewAssistant(Text("b"))} {
		var err error
		if base, err = base.Append(m); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			h := base
			for k := range 100 {
				m := NewUser(fmt.Sprint(i, k))
				if k%2 == 1 {
					m = NewAssistant(Text(fmt.Sprint(i, k)))
				}
				var err error
				if h, err = h.Append(m); err != nil {
					t.Error(err)
					return
				}
			}
			for k, m := range h.Messages()[base.Len():] {
				if m.Text() != fmt.Sprint(i, k) {
					t.Errorf("line %d has %q at %d", i, m.Text(), k)
					return
				}
			}
		})
	}
	wg.Wait()
	if base.Len() != 2 || base.Last().Text() != "b" {
		t.Errorf("the shared start changed: %d messages, last %q", base.Len(), base.Last().Text())
	}
}
