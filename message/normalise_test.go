package message

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNormaliseMends(t *testing.T) {
	for name, c := range notedCases(t) {
		t.Run(name, func(t *testing.T) {
			in := readNotes(t, c.in)
			h, changes := Normalise(in)
			got := writeNotes(h.Messages())
			for _, c := range changes {
				got += fmt.Sprintf("! %s %d\n", c.Rule, c.Index)
				if !strings.HasSuffix(c.Detail, ".") {
					t.Errorf("no sentence: %q", c.Detail)
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if len(changes) == 0 && !slices.Equal(in, h.Messages()) {
				t.Error("no change, but other messages")
			}
		})
	}
}

func TestNormaliseDropsBrokenParts(t *testing.T) {
	in := []*Message{
		{Role: User, Parts: []Part{Text("a"), {Kind: KindImage}, Call("x", "ls", "{}"), {Kind: "new"}}},
		{Role: Assistant, Parts: []Part{{Kind: KindToolCall}, {Kind: KindOpaque}, Text("b")}},
		nil,
		{Role: User, Parts: []Part{{Kind: KindFile, Media: &Media{MIME: "a/b"}}}},
	}
	h, changes := Normalise(in)
	want := []*Message{NewUser("a"), NewAssistant(Text("b"))}
	if d := cmp.Diff(want, h.Messages()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	var rules []Rule
	for _, c := range changes {
		rules = append(rules, c.Rule)
	}
	if want := []Rule{RulePart, RulePart, RuleEmpty, RulePart, RuleEmpty}; !slices.Equal(rules, want) {
		t.Errorf("rules %v, want %v", rules, want)
	}
}

func TestNormaliseGivesChangedMessagesNoID(t *testing.T) {
	a, b, c := NewUser("a"), NewUser("b"), NewAssistant(Text("c"))
	a.ID, b.ID, c.ID = "1", "2", "3"
	h, _ := Normalise([]*Message{a, b, c})
	if got := h.Messages(); got[0].ID != "" || got[1] != c {
		t.Errorf("ids %q, %q; want the joined one without, the other as it was", got[0].ID, got[1].ID)
	}
}

func TestNormaliseOpenLeavesTheLastRound(t *testing.T) {
	in := []*Message{
		NewUser("go"), NewAssistant(Call("a", "ls", "{}"), Call("b", "ls", "{}"), Call("c", "ls", "{}")),
		NewResult(&ToolCall{ID: "b"}, StatusOK, "two"),
	}
	h, results, changes := NormaliseOpen(in)
	if !slices.Equal(h.Messages(), in[:2]) || len(changes) != 0 {
		t.Errorf("history of %d, changes %v; want the first two messages unchanged", h.Len(), changes)
	}
	if want := []*Message{nil, in[2], nil}; !slices.Equal(results, want) {
		t.Errorf("results %v, want %v", results, want)
	}
	if n := len(h.OpenCalls()); n != 3 {
		t.Errorf("%d open calls, want 3", n)
	}

	for name, whole := range map[string][]*Message{
		"all answered": {in[0], NewAssistant(Call("b", "ls", "{}")), in[2]},
		"not the last": {in[0], in[1], in[2], NewUser("stop")},
	} {
		h, results, _ := NormaliseOpen(whole)
		want, _ := Normalise(whole)
		if d := cmp.Diff(want.Messages(), h.Messages()); d != "" || results != nil {
			t.Errorf("%s: results %v, history differs from that of Normalise:\n%s", name, results, d)
		}
	}
}

func TestNormaliseMintsTheSameIDsWhenTheHistoryGrows(t *testing.T) {
	round := func(id string) []*Message {
		c := Call(id, "ls", "{}")
		return []*Message{NewAssistant(c), NewResult(c.Call, StatusOK, "x")}
	}
	in := []*Message{NewUser("go")}
	for _, id := range []string{"a", "", "a", "call_1", "a_2", ""} {
		in = append(in, round(id)...)
	}
	all, _ := Normalise(in)
	for n := range in {
		h, _ := Normalise(in[:n])
		for i, m := range h.Messages()[:max(0, n-1)] {
			if d := cmp.Diff(all.Messages()[i], m); d != "" {
				t.Fatalf("of %d messages, number %d:\n%s", n, i, d)
			}
		}
	}
}

// noted is a case of testdata/normalise.txt.
type noted struct{ in, want string }

func notedCases(t *testing.T) map[string]noted {
	t.Helper()
	data, err := os.ReadFile("testdata/normalise.txt")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]noted{}
	for _, block := range strings.Split(string(data), "\n# ")[1:] {
		name, rest, _ := strings.Cut(block, "\n")
		in, want, ok := strings.Cut(strings.TrimSpace(rest), "\n----\n")
		if !ok {
			t.Fatalf("case %q: no ----", name)
		}
		cases[name] = noted{in, want + "\n"}
	}
	return cases
}

var inNotes = regexp.MustCompile(`<[^>]*>|\{r [^}]*\}|[^<{]+`)

func readNotes(t *testing.T, notes string) []*Message {
	t.Helper()
	var msgs []*Message
	for line := range strings.Lines(notes) {
		line = unescape(t, strings.TrimSuffix(line, "\n"))
		head, body, _ := strings.Cut(line, ":")
		fields := strings.SplitN(head, " ", 3)
		m := &Message{Role: Role(fields[0])}
		if m.Role == Tool {
			m.ToolCallID = fields[1]
			m.Status = StatusOK
			if len(fields) > 2 {
				m.Status = Status(fields[2])
			}
		}
		for _, piece := range inNotes.FindAllString(body, -1) {
			m.Parts = append(m.Parts, readPiece(piece)...)
		}
		msgs = append(msgs, m)
	}
	return msgs
}

func readPiece(piece string) []Part {
	if text, ok := strings.CutPrefix(piece, "{r "); ok {
		text, state := strings.CutSuffix(strings.TrimSuffix(text, "}"), "*")
		p := Reasoning(text)
		if state {
			p.State = &State{Kind: "k", Data: "{}"}
		}
		return []Part{p}
	}
	if piece[0] == '<' {
		id, name, _ := strings.Cut(piece[1:len(piece)-1], " ")
		return []Part{Call(id, name, "{}")}
	}
	if text := strings.Trim(piece, " "); text != "" {
		return []Part{Text(text)}
	}
	return nil
}

func writeNotes(msgs []*Message) string {
	var b strings.Builder
	for _, m := range msgs {
		b.WriteString(string(m.Role))
		if m.Role == Tool {
			b.WriteString(" " + m.ToolCallID)
			if m.Status != StatusOK {
				b.WriteString(" " + string(m.Status))
			}
		}
		b.WriteString(":")
		for _, p := range m.Parts {
			switch p.Kind {
			case KindText:
				b.WriteString(" " + strings.Replace(p.Text, InterruptedResult, "*", 1))
			case KindReasoning:
				b.WriteString(" {r " + p.Text + strings.Repeat("*", map[bool]int{true: 1}[p.State != nil]) + "}")
			case KindToolCall:
				b.WriteString(" <" + p.Call.ID + " " + p.Call.Name + ">")
			}
		}
		b.WriteString("\n")
	}
	return strings.NewReplacer("\n\n", `\n\n`, "\uFFFD", `\uFFFD`).Replace(b.String())
}

func unescape(t *testing.T, s string) string {
	t.Helper()
	text, err := strconv.Unquote(`"` + s + `"`)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return text
}
