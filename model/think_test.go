package model

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// split feeds pieces to a splitter and joins what comes out of it.
func split(startsInThink bool, pieces ...string) (reasoning, text string, texts []string) {
	s := NewThinkSplitter(startsInThink)
	emit := func(k DeltaKind, t string) {
		if k == DeltaReasoning {
			reasoning += t
			return
		}
		text += t
		texts = append(texts, t)
	}
	for _, p := range pieces {
		s.Split(p, emit)
	}
	s.End(emit)
	return reasoning, text, texts
}

func TestThinkSplitter(t *testing.T) {
	blank := strings.Repeat("\n", maxThinkLead+1)
	for _, c := range []struct {
		name, in, reasoning, text string
		starts                    bool
	}{
		{name: "no tag", in: "Hello", text: "Hello"},
		{name: "nothing"},
		{name: "block and answer", in: "<think>a b</think>\n\nHello \n", reasoning: "a b", text: "Hello \n"},
		{name: "thinking", in: "<thinking>a</thinking>b", reasoning: "a", text: "b"},
		{name: "reasoning", in: "<reasoning>a</reasoning>b", reasoning: "a", text: "b"},
		{name: "thought", in: "<thought>a</thought>b", reasoning: "a", text: "b"},
		{name: "capitals", in: "<Think>a</THINK>b", reasoning: "a", text: "b"},
		{name: "white space before", in: " \n<think>a</think>b", reasoning: "a", text: "b"},
		{name: "white space is text where no tag follows", in: " \n b", text: " \n b"},
		{name: "white space only", in: " \n", text: " \n"},
		{name: "much white space", in: blank + "<think>a</think>", text: blank + "<think>a</think>"},
		{name: "several blocks", in: "<think>a</think>\n<thought>b</thought>c", reasoning: "a\n\nb", text: "c"},
		{name: "empty block", in: "<think>\n</think>a", reasoning: "\n", text: "a"},
		{name: "empty first block", in: "<think></think><think>a</think>b", reasoning: "\n\na", text: "b"},
		{name: "never closed", in: "<think>a b", reasoning: "a b"},
		{name: "never closed, cut within the tag", in: "<think>a</thi", reasoning: "a</thi"},
		{name: "all thinking", in: "<think>a</think>", reasoning: "a"},
		{name: "another tag does not close", in: "<think>a</thought>b</think>c", reasoning: "a</thought>b", text: "c"},
		{name: "less-than signs", in: "<think>1 < 2 </ 3 <</think>x", reasoning: "1 < 2 </ 3 <", text: "x"},
		{name: "quoted closing tag", in: "<think>write `</think>` so</think>x", reasoning: "write `</think>` so", text: "x"},
		{name: "backtick before the end", in: "<think>run `ls`</think>x", reasoning: "run `ls`", text: "x"},
		{name: "backtick before the very end", in: "<think>run `ls`</think>", reasoning: "run `ls`"},
		{name: "later tags", in: "a <think>b</think> c", text: "a <think>b</think> c"},
		{name: "tags in code", in: "`<think>` and </think>", text: "`<think>` and </think>"},
		{name: "tags after a block", in: "<think>a</think>Use `<think>`", reasoning: "a", text: "Use `<think>`"},
		{name: "closing tag alone", in: "</think>a", text: "</think>a"},
		{name: "other tags", in: "<thin>a</thin>", text: "<thin>a</thin>"},
		{name: "longer name", in: "<thinker>a", text: "<thinker>a"},
		{name: "cut within a tag", in: "<thi", text: "<thi"},
		{name: "starts inside", in: "a</think>\nb", starts: true, reasoning: "a", text: "b"},
		{name: "starts inside with a tag", in: "\n<think>a</think>b", starts: true, reasoning: "a", text: "b"},
		{name: "starts inside, never closed", in: " a", starts: true, reasoning: " a"},
		{name: "starts inside, cut", in: "<th", starts: true, reasoning: "<th"},
		{name: "starts inside, any tag closes", in: "a</thought>b", starts: true, reasoning: "a", text: "b"},
		{name: "starts inside and ends at once", in: "</think>b", starts: true, text: "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := func(how string, pieces ...string) {
				reasoning, text, _ := split(c.starts, pieces...)
				if reasoning != c.reasoning || text != c.text {
					t.Errorf("%s: got %q and %q, want %q and %q", how, reasoning, text, c.reasoning, c.text)
				}
			}
			check("whole", c.in)
			check("by characters", strings.Split(c.in, "")...)
			for i := range c.in {
				check("in two", c.in[:i], c.in[i:])
			}
		})
	}
}

func TestThinkSplitterOver(t *testing.T) {
	s := NewThinkSplitter(true)
	s.Over()
	var text string
	s.Split("<think>a", func(k DeltaKind, t string) {
		if k == DeltaText {
			text += t
		}
	})
	if text != "<think>a" {
		t.Errorf("got %q", text)
	}
}

func TestThinkSplitterWholeIsAnyCut(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"<", "/", ">", "think", "thinking", "thought", "<think>", "</think>", "</thought>", "`", " ", "\n", "a",
		"<reasoning>", "é", "<thi", "nk>",
	})
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(piece, 0, 20).Draw(t, "pieces")
		starts := rapid.Bool().Draw(t, "starts")
		r1, t1, _ := split(starts, strings.Join(pieces, ""))
		r2, t2, _ := split(starts, pieces...)
		if r1 != r2 || t1 != t2 {
			t.Fatalf("whole: %q and %q; in pieces: %q and %q", r1, t1, r2, t2)
		}
	})
}

func FuzzThinkSplitter(f *testing.F) {
	f.Add("<think>a`</think>`</think> b", uint(3), false)
	f.Fuzz(func(t *testing.T, in string, at uint, starts bool) {
		i := int(at % uint(len(in)+1))
		r1, t1, _ := split(starts, in)
		r2, t2, _ := split(starts, in[:i], in[i:])
		if r1 != r2 || t1 != t2 {
			t.Errorf("%q at %d: %q and %q; cut: %q and %q", in, i, r1, t1, r2, t2)
		}
	})
}

func BenchmarkThinkSplitterPastTheStart(b *testing.B) {
	s := NewThinkSplitter(false)
	emit := func(DeltaKind, string) {}
	s.Split("<think>a</think>b", emit)
	b.ReportAllocs()
	for b.Loop() {
		s.Split(" more", emit)
	}
}
