package message

import (
	"slices"
	"testing"
)

// Whatever a history from outside looks like, what Normalise makes of it can be
// sent, stays as it is the second time, and encodes and parses to the same.
func FuzzNormalise(f *testing.F) {
	for _, seed := range []string{
		`[]`,
		`[{"role":"user","content":"hi"}]`,
		`[{"role":"user","content":"go"},{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}},{"id":"a","type":"function","function":{"name":"","arguments":{"p":1}}}]},{"role":"tool","tool_call_id":"a","content":"x"},{"role":"user","content":[{"type":"text","text":"why"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]`,
		`[{"role":"assistant","reasoning":{"text":"hm","signature":"s","origin":{"provider":"p","model":"m"}},"content":null},{"role":"tool","content":"orphan"},{"role":"developer","content":"late"},{"role":"alien"}]`,
		`[{"role":"user","content":"a\ud800b"},{"role":"user","content":""},{"role":"assistant","content":"x"},{"role":"assistant","content":"y"}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		msgs, err := ParseHistory(data)
		if err != nil {
			return
		}
		h, _ := Normalise(msgs)
		var again History
		for i, m := range h.Messages() {
			if again, err = again.Append(m); err != nil {
				t.Fatalf("message %d: %v", i, err)
			}
		}
		if open := h.OpenCalls(); len(open) > 0 {
			t.Fatalf("%d calls are open", len(open))
		}
		twice, changes := Normalise(h.Messages())
		if len(changes) > 0 || !slices.Equal(twice.Messages(), h.Messages()) {
			t.Fatalf("the second time it changed %v", changes)
		}
		for i, m := range h.Messages() {
			text := AppendJSON(nil, m)
			back, err := ParseJSON(text)
			if err != nil {
				t.Fatalf("message %d: %v\n%s", i, err, text)
			}
			if other := AppendJSON(nil, back); string(other) != string(text) {
				t.Fatalf("message %d is\n%s\nand comes back as\n%s", i, text, other)
			}
		}
	})
}
