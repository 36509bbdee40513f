package message

import "testing"

func TestMapReplacesOnlyWhatMayStandThere(t *testing.T) {
	call := &ToolCall{ID: "c", Name: "look", Arguments: "{}"}
	h, _ := Normalise([]*Message{NewUser("go"), NewAssistant(Part{Kind: KindToolCall, Call: call}), NewResult(call, StatusOK, "long")})
	got := h.Map(func(m *Message) *Message {
		switch m.Role {
		case User:
			return NewAssistant(Text("no"))
		case Assistant:
			return NewAssistant(Call("other", "look", "{}"))
		}
		return NewResult(call, StatusOK, "short")
	})
	if got.msgs[0] != h.msgs[0] || got.msgs[1] != h.msgs[1] || got.msgs[2].Text() != "short" || h.msgs[2].Text() != "long" {
		t.Errorf("%v became %v", h.msgs, got.msgs)
	}
	if same := h.Map(func(*Message) *Message { return nil }); same.Len() != 3 || same.msgs[2] != h.msgs[2] {
		t.Error("nil replaced a message")
	}
}
