package message

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatIsInjectedIsNoPartOfWhatWasSaid(t *testing.T) {
	said := NewUser("hello")
	m := said.Inject("note")
	if m.Text() != "hello" || m.InjectedText() != "note" || m.Clean().Text() != "hello" || len(m.Parts) != 2 {
		t.Errorf("text %q, injected %q, %d parts", m.Text(), m.InjectedText(), len(m.Parts))
	}
	if len(said.Parts) != 1 || said.Clean() != said {
		t.Error("the message itself was changed")
	}
	if got := string(AppendJSON(nil, m)); got != `{"role":"user","content":"hello"}` {
		t.Errorf("stored as %s", got)
	}
}

func TestTheAnswerBringsBackWhatWasInjected(t *testing.T) {
	call := &ToolCall{ID: "c", Name: "look", Arguments: "{}"}
	asks := NewAssistant(Part{Kind: KindToolCall, Call: call})
	asks.Injected = "one \"\n"
	answer := NewAssistant(Text("done"))
	answer.Injected = "two"
	live, changes := Normalise([]*Message{NewUser("go").Inject("one \"\n"), asks, NewResult(call, StatusOK, "x").Inject("two"), answer})
	if len(changes) > 0 {
		t.Fatal(changes)
	}
	data, err := live.MarshalJSON()
	if err != nil || strings.Count(string(data), "two") != 1 {
		t.Fatalf("%s, %v", data, err)
	}
	msgs, err := ParseHistory(data)
	if err != nil {
		t.Fatal(err)
	}
	stored, _ := Normalise(msgs)
	if stored.msgs[0].InjectedText() != "" {
		t.Error("the stored message is not clean")
	}
	back := Reinject(stored)
	if d := cmp.Diff(live.msgs, back.msgs); d != "" {
		t.Errorf("(-live +back):\n%s", d)
	}
	if stored.msgs[0].InjectedText() != "" {
		t.Error("Reinject changed its argument")
	}
	if d := cmp.Diff(back.msgs, Reinject(back).msgs); d != "" {
		t.Errorf("twice is not the same:\n%s", d)
	}
	if _, err := back.Append(NewUser("more")); err != nil {
		t.Error(err)
	}
}
