package window_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/window"
)

// drawTurn draws a request of the user and the rounds that follow it.
func drawTurn(t *rapid.T, n *int) []*message.Message {
	text := rapid.SampledFrom([]string{words(40), words(400), strings.Repeat("直してください。", 30), "ok?"})
	*n++
	user := message.NewUser(fmt.Sprintf("request %d: %s", *n, text.Draw(t, "request")))
	if rapid.Bool().Draw(t, "image") {
		user.Parts = append(user.Parts, message.Image("image/png", "QUJD"))
	}
	msgs := []*message.Message{user}
	for range rapid.IntRange(0, 12).Draw(t, "rounds") {
		msgs = append(msgs, drawRound(t, n)...)
	}
	return msgs
}

// drawRound draws parallel calls and their results.
func drawRound(t *rapid.T, n *int) []*message.Message {
	reply := message.NewAssistant()
	if rapid.Bool().Draw(t, "says") {
		reply.Parts = append(reply.Parts, message.Text("I decide "+words(60)))
	}
	for range rapid.IntRange(1, 4).Draw(t, "calls") {
		*n++
		arguments := fmt.Sprintf(`{"path":"f%d","content":%q}`, *n, words(rapid.SampledFrom([]int{0, 30, 900}).Draw(t, "content")))
		reply.Parts = append(reply.Parts, message.Call(fmt.Sprintf("c%d", *n), "write", arguments))
	}
	msgs := []*message.Message{reply}
	for _, c := range reply.Calls() {
		size := rapid.SampledFrom([]int{10, 300, 3000, 20000}).Draw(t, "result")
		result := message.NewResult(c, rapid.SampledFrom([]message.Status{message.StatusOK, message.StatusError}).Draw(t, "status"), words(size))
		if rapid.IntRange(0, 9).Draw(t, "shot") == 0 {
			result.Parts = append(result.Parts, message.Image("image/png", "QUJD"))
		}
		msgs = append(msgs, result)
	}
	return msgs
}

// Whatever a conversation holds, after any sequence of compressions it is
// valid, ends on the user's last message word for word, and is smaller than
// before; or nothing was changed.
func TestCompressionsKeepTheirPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		room := rapid.SampledFrom([]int{4000, 16000, 64000}).Draw(t, "room")
		k := window.Keeper{Engine: &window.Compressor{ProtectLast: rapid.SampledFrom([]int{0, 2, 50}).Draw(t, "protect")}}
		var msgs []*message.Message
		n := 0
		for range rapid.IntRange(1, 6).Draw(t, "turns") {
			if len(msgs) > 0 {
				msgs = append(msgs, message.NewAssistant(message.Text("done")))
			}
			msgs = append(msgs, drawTurn(t, &n)...)
			k.Said()
			v := view(history(msgs...), room, room/10, drawSummariser(t))
			v.Hard = rapid.Bool().Draw(t, "hard")
			v.Asked = rapid.Bool().Draw(t, "asked")
			v.Spill = func(c *message.ToolCall, _ string) (string, error) { return "spill/" + c.ID, nil }
			o, err := k.Compress(t.Context(), v, noon)
			if err != nil {
				t.Fatal(err)
			}
			msgs = checkPass(t, v, o)
		}
	})
}

func drawSummariser(t *rapid.T) window.Summariser {
	switch rapid.IntRange(0, 4).Draw(t, "summariser") {
	case 0:
		return &writer{fails: errDown}
	case 1:
		return says("")
	case 2:
		return says(words(200_000))
	case 3:
		return &writer{says: func(string) string { return "a summary" }, room: 2500}
	}
	return says("## Goal\na summary\n=== Files ===\nnone")
}

// checkPass checks what a pass brought and returns the history to go on with.
func checkPass(t *rapid.T, v *window.View, o window.Outcome) []*message.Message {
	before, after := v.History.Messages(), o.History.Messages()
	if o.Failure != nil {
		if len(before) != len(after) || before[0] != after[0] {
			t.Fatalf("a pass that failed (%v) changed the history", o.Failure)
		}
		return after
	}
	if _, changes := message.Normalise(after); len(changes) > 0 {
		t.Fatalf("not valid: %v", changes)
	}
	if a, b := requestOf(before), requestOf(after); a != b {
		t.Fatalf("the last request was %q and is %q", a, b)
	}
	if v.Estimate(after...) >= v.Estimate(before...) {
		t.Fatalf("%d tokens became %d", v.Estimate(before...), v.Estimate(after...))
	}
	summaries := 0
	for _, m := range after {
		summaries += strings.Count(m.Text(), "for reference only")
	}
	if summaries > 1 {
		t.Fatalf("%d summaries", summaries)
	}
	return after
}

func requestOf(msgs []*message.Message) string {
	last := ""
	for _, m := range msgs {
		if m.Role == message.User {
			last = fmt.Sprint(m.Text(), len(m.Parts))
		}
	}
	return last
}
